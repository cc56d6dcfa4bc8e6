// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)

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
