// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The subjects of fuzzing. `DIALTONE_FUZZ` names one; `Scripts/fuzz` sets it.
enum Subject: String, CaseIterable {
  /// Netlink messages: no byte outside the datagram is read.
  case wire
  /// Targets, host names, addresses, URLs, flags and resolv.conf.
  case text
  /// Heads and chunked bodies of HTTP, redirect targets.
  case http
  /// Certificates and the names in them.
  case certificate
  /// Packets that any neighbour sends, and what is made of them.
  case packet
  /// Answers of name servers.
  case dns
  /// What the kernel hands on of ICMP messages and of a connection.
  case icmp

  func run(_ bytes: [UInt8]) {
    switch self {
    case .wire: fuzzWire(bytes)
    case .text: fuzzText(bytes)
    case .http: fuzzHTTP(bytes)
    case .certificate: fuzzCertificate(bytes)
    case .packet: fuzzPacket(bytes)
    case .dns: fuzzDNS(bytes)
    case .icmp: fuzzICMP(bytes)
    }
  }

  /// The one that is asked for.
  static let chosen: Subject = {
    let name = environment("DIALTONE_FUZZ") ?? ""
    guard let subject = Subject(rawValue: name) else {
      fatalError("DIALTONE_FUZZ has to be one of: \(Subject.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return subject
  }()
}

/// What libFuzzer calls with each input (https://llvm.org/docs/LibFuzzer.html).
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  // libFuzzer gives `count` bytes, which live as long as this call; none may have no address.
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  Subject.chosen.run(bytes)
  return 0
}

/// Ends the process if something that has to hold does not: libFuzzer then keeps the input.
func require(_ holds: Bool, _ what: @autoclosure () -> String) {
  if !holds { fatalError(what()) }
}
