// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

/// A scripted network's answer for a target: a way, or why there is none.
public struct ScriptedPath: Sendable {
  let state: Reachability

  /// Reachable over `interface`.
  ///
  /// - Parameters:
  ///   - interface: The interface that the packets leave by. Its kind sets flags as in a `Reachability`.
  ///   - gateway: The router that they go to first. Without one, the flag `isDirect` is set, except over a tunnel.
  ///   - source: The address that they come from, those of its family. A pair has its own.
  /// - Returns: The path.
  public static func reachable(
    over interface: NetworkInterface, gateway: IPAddress? = nil, source: IPAddress? = nil
  ) -> ScriptedPath {
    ScriptedPath(
      state: Reachability(
        .reachable, flags: interface.kind == .tunnel ? [] : .isDirect, interface: interface, source: source,
        gateway: gateway))
  }

  /// Reachable once a connection is made, for the reason `dormant`, `noSession` or `radioBlocked`.
  public static func requiresConnection(
    _ reason: Reachability.Reason, over interface: NetworkInterface
  ) -> ScriptedPath {
    ScriptedPath(state: Reachability(.requiresConnection, interface: interface, reason: reason))
  }

  /// Not reachable.
  public static func unreachable(
    _ reason: Reachability.Reason = .noRoute, over interface: NetworkInterface? = nil
  ) -> ScriptedPath {
    ScriptedPath(state: Reachability(.unreachable, interface: interface, reason: reason))
  }

  /// Undetermined: the system denies access to the network's state.
  public static let denied = ScriptedPath(state: .denied)

  /// Reachable over the Wi-Fi interface `wlan0` by the gateway 192.0.2.1.
  public static let wifi = standard("wlan0", 2, .wifi)
  /// Reachable over the wired interface `eth0` by the gateway 192.0.2.1.
  public static let wired = standard("eth0", 3, .wired)
  /// Reachable over the cellular interface `wwan0` by the gateway 192.0.2.1.
  public static let cellular = standard("wwan0", 4, .cellular)

  /// Returns the state of the local network on links of this kind, or of any kind, if this is the only way. As for the
  /// system, it is a wired or Wi-Fi link without a gateway.
  func localNetwork(_ kind: InterfaceKind?) -> Reachability {
    if let found = state.interface?.kind, kind.map({ $0 != found }) ?? false || (found != .wired && found != .wifi) {
      return Reachability(.unreachable, reason: .noInterface)
    }
    return straight
  }

  /// Returns the state of an address, if this is the way to all. A link-local one is a neighbour on a wired or Wi-Fi
  /// link, even if the way to others has a gateway.
  func state(to address: IPAddress) -> Reachability {
    address.isLinkLocal && (state.interface?.kind == .wired || state.interface?.kind == .wifi) ? straight : state
  }

  /// The same without a gateway.
  private var straight: Reachability {
    var state = state
    state.gateway = nil
    if state.isReachable { state.flags.insert(.isDirect) }
    return state
  }

  private static func standard(_ name: String, _ index: UInt32, _ kind: InterfaceKind) -> ScriptedPath {
    .reachable(
      over: NetworkInterface(inlineName: InlineName(name) ?? InlineName(), index: index, kind: kind),
      gateway: IPAddress(ipv4: 0xC000_0201),
      source: IPAddress(ipv4: 0xC000_0202))
  }
}
