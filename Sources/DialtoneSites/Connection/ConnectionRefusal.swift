// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
package import Dialtone
internal import NIOCore

/// Who refused a connection, and how: the ICMP message (RFC 792, RFC 4443) that ended the attempt.
package struct ConnectionRefusal: Equatable {
  /// Who sent the message.
  package var offender: IPAddress
  /// Whether that is this machine, whose kernel says so if nobody answers on the link.
  package var isOwn: Bool
  package var type: UInt8
  package var code: UInt8

  /// Who says what, for a person. `gateway` is where the packets went first; `nil` if they went straight to the host.
  func words(gateway: IPAddress?) -> String {
    if isOwn, isHostUnreachable {
      return gateway.map { "the gateway \($0) does not answer" } ?? "the host does not answer on the link"
    }
    return "\(isOwn ? "this machine" : "\(offender)") says: \(message)"
  }

  func sender(gateway: IPAddress?) -> SiteError.Sender {
    if !isOwn { return .elsewhere }
    return isHostUnreachable ? gateway == nil ? .silentHost : .silentGateway : .thisMachine
  }

  package var isIPv6: Bool { offender.family == .ipv6 }

  /// What the kernel says of a neighbour that does not answer (RFC 1122, 3.2.2.1; RFC 4861, 7.2.2).
  package var isHostUnreachable: Bool { isIPv6 ? (type, code) == (1, 3) : (type, code) == (3, 1) }

  private static let unreachable: [UInt8: String] = [
    0: "network unreachable", 1: "host unreachable", 2: "protocol unreachable", 3: "port unreachable",
    4: "the packet is too large", 5: "source route failed", 6: "network unknown", 7: "host unknown", 8: "host isolated",
    9: "network prohibited", 10: "host prohibited", 11: "network unreachable for this type of service",
    12: "host unreachable for this type of service", 13: "prohibited", 14: "precedence violation",
    15: "precedence too low",
  ]

  private static let unreachable6: [UInt8: String] = [
    0: "no route", 1: "prohibited", 2: "beyond the scope of the source address", 3: "address unreachable",
    4: "port unreachable", 5: "source address prohibited", 6: "route rejected",
  ]

  /// The message in the words of RFC 792, RFC 1812 and RFC 4443.
  var message: String {
    let words: String? =
      switch (isIPv6, type) {
      case (false, 3): Self.unreachable[code]
      case (true, 1): Self.unreachable6[code]
      case (false, 11), (true, 3): "the packet's lifetime ended on the way"
      case (false, 12), (true, 4): "the packet is malformed"
      default: nil
      }
    return words ?? "ICMP type \(type), code \(code)"
  }
}

/// A second descriptor of a socket that is being connected, from which to read who refused. NIO closes its own before
/// it reports the failure.
///
/// Belongs to the event loop. It is released once the attempt has succeeded or failed: until then the socket stays
/// open.
final class RefusalReader {
  private let socket: OwnedDescriptor
  private let family: CInt

  /// `nil` if the system has no descriptor for it: then nobody is named.
  init?(_ socket: NIOBSDSocket.Handle, _ family: IPAddress.Family) {
    let copy = csystem_duplicate(socket)
    if copy < 0 { return nil }
    self.socket = OwnedDescriptor(copy)
    self.family = family == .ipv6 ? AF_INET6 : AF_INET
    // If this is refused, the queue stays empty.
    _ = csystem_queue_errors(copy, self.family, 1)
  }

  deinit {
    // On an established connection, an ICMP message would end what TCP survives (RFC 5461).
    _ = csystem_queue_errors(socket.rawValue, family, 0)
  }

  /// Who refused, if that is known.
  func refusal() -> ConnectionRefusal? { ConnectionRefusal(takenFrom: socket.rawValue) }
}

extension ConnectionRefusal {
  /// Takes the oldest refusal from the error queue of a socket; `nil` if there is none.
  package init?(takenFrom socket: CInt) {
    var refusal = csystem_refusal()
    // The function fills in the structure, and keeps no pointer to it.
    guard unsafe csystem_take_refusal(socket, &refusal) == 1 else { return nil }
    let offender: IPAddress
    do throws(ReachabilityError) {
      // The length is that of the structure.
      offender = try unsafe IPAddress(socketAddress: &refusal.offender, length: MemoryLayout<sockaddr_storage>.size)
    } catch {
      // Of no family: the kernel does not know who it was.
      return nil
    }
    // The function reads the address during the call.
    let isOwn = unsafe csystem_is_own_address(&refusal.offender) == 1
    self.init(offender: offender, isOwn: isOwn, type: refusal.type, code: refusal.code)
  }
}
#endif
