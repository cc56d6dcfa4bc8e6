// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// An interface as it is now, for a list of interfaces.
package struct InterfaceStatus: Sendable {
  /// An address of an interface, with the length of its prefix in bits.
  package struct Address: Sendable {
    package let address: IPAddress
    package let prefixLength: Int
  }

  package let interface: NetworkInterface
  /// Further names of the interface (`altname` of ip-link(8)).
  package let alternativeNames: [String]
  package let isUp: Bool
  package let isOperating: Bool
  /// Why it does not carry packets; `nil` if it does.
  package let reason: Reachability.Reason?
  package let addresses: [Address]
}

#if os(Linux)
extension LinuxNetwork {
  func interfaces() -> [InterfaceStatus] {
    let decision = decision
    return tables.links.all.map { link in
      InterfaceStatus(
        interface: tables.links.interface(link), alternativeNames: link.alternativeNames.map(\.text), isUp: link.isUp,
        isOperating: tables.links.isOperating(link),
        reason: decision.reason(ofIdle: link),
        addresses: tables.addresses.addresses(of: link.index).map {
          InterfaceStatus.Address(address: $0.ipAddress, prefixLength: Int($0.prefixLength))
        })
    }
  }
}

/// Returns the interfaces in the order of their indices, read anew each time.
///
/// - Throws: ``ReachabilityError`` if the system refuses to say.
package func currentInterfaces() throws(ReachabilityError) -> [InterfaceStatus] {
  let network = LinuxNetwork()
  if network.isDenied {
    let remark = network.schedule.denial == .denied ? ": netlink is refused" : ""
    throw ReachabilityError(.denied, "\(network.schedule.denial)\(remark)")
  }
  return network.interfaces()
}

/// Returns the further names of one interface (`altname` of ip-link(8)), as the kernel tells them now; none if it does
/// not say. It asks for that link alone. The kernel may answer only after a change of links that is under way.
package func alternativeNames(ofInterface index: UInt32) -> [String] {
  var names: [String] = []
  do throws(NetlinkError) {
    var client = try NetlinkClient(.route)
    var request = NetlinkRequestBuilder()
    request.appendGetLink(index: index)
    try client.exchange(&request) { _, answer, bytes in
      if case .message(let message) = answer, let link = LinkMessage(message, in: bytes) {
        names = link.alternativeNames
      }
    }
  } catch {
    // If the system says nothing of interfaces, no path names one either.
  }
  return names
}

/// Tells a loop that is not the engine's that ``currentInterfaces()`` may say something new: a link has changed, or the
/// switch of a radio. Belongs to one thread.
package final class InterfaceAnnouncements {
  private let socket: NetlinkSocket
  private let buffer = NetlinkBuffer(byteCount: 32 << 10)
  // Where radios may not be asked about, their links still go down with them.
  private let switches = RadioSwitches()

  /// Subscribes to the links of this thread's network namespace. Each change after that is announced. Returns `nil` if
  /// the system refuses it.
  package init?() {
    do throws(NetlinkError) {
      socket = try NetlinkSocket(.route)
      try socket.join(.link)
    } catch {
      return nil
    }
  }

  /// What becomes readable with an announcement.
  package var descriptors: [CInt] { [socket.descriptor] + (switches.map { [$0.descriptor] } ?? []) }

  /// Takes all announcements that have come. What they say is not told: an overrun is treated as one, too.
  package func drain() {
    _ = switches?.read()
    do throws(NetlinkError) {
      while try socket.receive(into: buffer) != .empty {}
    } catch {
      // Without announcements there is nothing to take; a waiting caller looks once its own time has come.
    }
  }
}
#endif
