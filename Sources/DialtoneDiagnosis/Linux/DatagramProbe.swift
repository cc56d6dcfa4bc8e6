// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneSites

/// What datagrams tell, on ports on which nothing listens: the answer is an ICMP message, or none. Runs on a thread of
/// its own.
enum DatagramProbe {
  /// The discard port (RFC 863): who listens there answers nothing.
  static let discardPort: UInt16 = 9
  /// The first port of traceroute(8), on which nothing listens.
  private static let tracePort: UInt16 = 33_434

  /// Has the kernel ask for a neighbour. Returns the socket, on which the neighbour's answer may come; `nil` if this
  /// program may send it nothing, so that its silence says nothing.
  static func wake(_ neighbour: IPAddress, link: UInt32) -> ProbeSocket? {
    let socket = ProbeSocket(neighbour, port: discardPort, isStream: false, interface: link)
    return socket.start != 0 || socket.send([0]) == EPERM ? nil : socket
  }

  /// Whether the neighbour that was sent something has refused or accepted it, and so is there.
  static func hasAnswered(_ socket: ProbeSocket, _ neighbour: IPAddress) -> Bool {
    let errno = socket.takeError()
    if let refusal = socket.takeRefusal() { return !refusal.isOwn && refusal.offender.bits == neighbour.bits }
    return socket.flow?.isStream == true && (errno == ECONNREFUSED || errno == 0 && socket.isConnected)
  }

  /// Whether this machine itself forbids a datagram to an address: EPERM is netfilter's verdict on what it sends.
  static func isForbidden(_ address: IPAddress, port: UInt16, interface: UInt32?) -> Bool {
    let socket = ProbeSocket(address, port: port, isStream: false, interface: interface)
    return socket.start == 0 && socket.send([]) == EPERM
  }

  /// Tries whether datagrams as large as the link's MTU are answered as small ones are.
  static func largePackets(
    to address: IPAddress, mtu: UInt32, interface: UInt32?, _ patience: Patience
  ) -> LargePacketsFinding {
    let headers = address.family == .ipv6 ? 48 : 28
    let size = Int(min(mtu, 9_000))
    var outcome: LargePacketsFinding.Outcome?
    if size > headers + 100, let large = socket(address, interface), let small = socket(address, interface) {
      outcome = compare(large, size - headers, small, patience)
    }
    return LargePacketsFinding(address.family, outcome, byteCount: size)
  }

  private static func socket(_ address: IPAddress, _ interface: UInt32?) -> ProbeSocket? {
    let socket = ProbeSocket(address, port: tracePort, isStream: false, interface: interface)
    if socket.start != 0 { return nil }
    _ = csystem_forbid_fragments(socket.descriptor, socket.address.family == .ipv6 ? AF_INET6 : AF_INET)
    return socket
  }

  /// Sends a large datagram, and a small one right behind it, up to three times. Who answers limits how often (icmp(7),
  /// icmp_ratelimit), and answers the first: so if only the small one is answered, the large one did not arrive. Once
  /// may be chance. `nil` if that is not known.
  private static func compare(
    _ large: ProbeSocket, _ byteCount: Int, _ small: ProbeSocket, _ patience: Patience
  ) -> LargePacketsFinding.Outcome? {
    var lost = 0
    for _ in 0..<3 {
      if patience.isOver { break }
      let errno = large.send([UInt8](repeating: 0, count: byteCount))
      // The kernel knows already that it is too large (EMSGSIZE).
      if errno != 0, errno != ECONNREFUSED { return .refused }
      _ = small.send([0])
      var isSmallAnswered = false
      let deadline = patience.moment(in: 400)
      while true {
        let sockets = [large, small].map { ($0.descriptor, wantsWriting: false) }
        guard let events = patience.wait(sockets, until: deadline) else { return nil }
        if events.isEmpty { break }
        if let statement = refusal(large) {
          return statement.sender.bits == large.address.bits && statement.meaning == .portUnreachable
            ? .answered : .refused
        }
        if refusal(small) != nil { isSmallAnswered = true }
      }
      if isSmallAnswered { lost += 1 }
    }
    return lost > 1 ? .vanished : nil
  }

  private static func refusal(_ socket: ProbeSocket) -> NetworkStatement? {
    _ = socket.takeError()
    return socket.takeRefusal()?.statement
  }
}
#endif
