// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneSites

/// Asks over http for a name that cannot exist, at an address that nobody has: only a network that wants a login
/// answers. Belongs to one thread.
struct PortalProbe {
  /// Addresses for documentation alone (RFC 5737; RFC 9637).
  private static let addresses = ["198.51.100.254", "3fff::fffe"].compactMap { IPAddress($0) }
  /// How long it may take, in milliseconds: a portal is near.
  private static let longest: Int64 = 800

  private let inquiry: DiagnosisInquiry
  private let patience: Patience

  init(_ inquiry: DiagnosisInquiry, _ patience: Patience) {
    self.inquiry = inquiry
    self.patience = patience
  }

  func finding(_ witness: KernelWitness) -> PortalFinding {
    let host = "dialtone-\(String(UInt64.random(in: 0...UInt64.max), radix: 36)).invalid"
    let request = Array("GET / HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n".utf8)
    var sockets = Self.addresses.compactMap { address -> ProbeSocket? in
      let way = witness.evidence(address, inquiry.path(port: 80))
      guard inquiry.families.contains(address.family), way.state.gateway != nil, way.state.isReachable else {
        return nil
      }
      let interface = inquiry.configuration.interface == nil ? nil : way.link?.index
      return ProbeSocket(address, port: 80, isStream: true, interface: interface)
    }.filter { $0.start == EINPROGRESS }
    var asked: [ProbeSocket] = []
    let end = patience.moment(in: Self.longest)
    while !(sockets.isEmpty && asked.isEmpty), TimeSource.system.now() < end {
      let list =
        sockets.map { ($0.descriptor, wantsWriting: true) } + asked.map { ($0.descriptor, wantsWriting: false) }
      let events = patience.wait(list, until: end)
      if events.contains(where: { $0.position < 0 }) { break }
      let ready = Set(events.map { list[$0.position].0 })
      for socket in asked where ready.contains(socket.descriptor) {
        if let status = socket.receive().flatMap(Self.status) { return PortalFinding(status: status) }
      }
      asked.removeAll { ready.contains($0.descriptor) }
      asked += sockets.filter { ready.contains($0.descriptor) && $0.takeError() == 0 && $0.send(request) == 0 }
      sockets.removeAll { ready.contains($0.descriptor) }
    }
    return PortalFinding(status: nil)
  }

  /// The status of an answer of HTTP/1 (RFC 9112, 4); `nil` if it is none.
  private static func status(_ bytes: [UInt8]) -> Int? {
    guard bytes.starts(with: Array("HTTP/1.".utf8)), bytes.count >= 12, bytes[8] == 0x20 else { return nil }
    return Int(String(decoding: bytes[9..<12], as: UTF8.self))
  }
}
#endif
