// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import Testing

/// What the machine that runs the tests permits.
enum LiveKernel {
  /// Whether a netlink socket can be opened and asked. Some sandboxes refuse it.
  static let answers = isAnswered {
    $0.appendLinkBarrier()
  } as: {
    $0 != .lost(.missing)
  }

  /// Whether 127.0.0.1 has a route. In a namespace with its loopback link down it has none.
  static let routesLoopback = isAnswered {
    $0.appendRouteQuery(destination: ipv4(127, 0, 0, 1), fibMatch: false)
  } as: {
    if case .message = $0 { true } else { false }
  }

  private static func isAnswered(
    _ request: (inout NetlinkRequestBuilder) -> Void, as expected: (NetlinkAnswer) -> Bool
  ) -> Bool {
    do throws(NetlinkError) {
      var client = try NetlinkClient()
      var requests = NetlinkRequestBuilder()
      request(&requests)
      var isAnswered = false
      try client.exchange(&requests) { _, answer, _ in isAnswered = expected(answer) }
      return isAnswered
    } catch {
      return false
    }
  }

  /// The port that the kernel gave a socket, by which others address it.
  static func port(of descriptor: Int32) -> UInt32 {
    var address = sockaddr_nl()
    var length = socklen_t(MemoryLayout<sockaddr_nl>.size)
    // SAFETY: the pointers are to a whole sockaddr_nl and its size, used only during the call.
    _ = unsafe withUnsafeMutablePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
    }
    return address.nl_pid
  }

  /// Sends bytes to another netlink socket, like a process that forges messages. Needs CAP_NET_ADMIN.
  static func send(_ bytes: [UInt8], from descriptor: Int32, toPort port: UInt32) -> Bool {
    var address = sockaddr_nl()
    address.nl_family = sa_family_t(AF_NETLINK)
    address.nl_pid = port
    // SAFETY: the pointers are to a whole sockaddr_nl and to the array's bytes, used only during the call.
    let sent = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bytes.withUnsafeBytes {
          unsafe sendto(descriptor, $0.baseAddress, $0.count, 0, address, socklen_t(MemoryLayout<sockaddr_nl>.size))
        }
      }
    }
    return sent == bytes.count
  }

  /// The flags of a descriptor, from the line "flags:" of its fdinfo (proc(5)), octal.
  static func openFlags(of descriptor: Int32) -> Int32? {
    // SAFETY: the strings and the buffer are used only during the calls, and the file is closed once.
    guard let file = unsafe fopen("/proc/self/fdinfo/\(descriptor)", "r") else { return nil }
    defer { unsafe _ = fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    while unsafe fgets(&line, Int32(line.count), file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      guard text.hasPrefix("flags:") else { continue }
      return Int32(text.dropFirst(6).filter { $0.isNumber }, radix: 8)
    }
    return nil
  }

  /// Whether a process may write to another's netlink socket here.
  static let mayForge: Bool = {
    do throws(NetlinkError) {
      let first = try NetlinkSocket(.route)
      let second = try NetlinkSocket(.route)
      return send([0], from: second.descriptor, toPort: port(of: first.descriptor))
    } catch {
      return false
    }
  }()
}

extension NetlinkSocket {
  /// Sends the requests of a builder.
  func send(_ requests: NetlinkRequestBuilder) throws(NetlinkError) {
    // SAFETY: bytes have no padding between them.
    try send(unsafe requests.bytes.span.bytes)
  }
}
#endif
