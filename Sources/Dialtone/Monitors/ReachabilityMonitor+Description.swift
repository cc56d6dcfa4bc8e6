// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension ReachabilityMonitor: CustomStringConvertible {
  /// Target, state and flags, for debugging.
  ///
  /// For instance "ReachabilityMonitor(example.com, reachable via Wi-Fi (wlan0), -R -------)". An address that stands
  /// for the local network says so: "169.254.0.0, local network". Reading it never waits for the network.
  public var description: String {
    let (target, state) = targetAndState
    let remark =
      switch target.storage {
      case .address, .pair: target.isLocalNetwork ? "local network, " : ""
      case .internet, .localNetwork, .host: ""
      }
    return "ReachabilityMonitor(\(target), \(remark)\(state), \(state.flags))"
  }

  /// Whether the target is reached, and over a cellular interface or another; `nil` as long as that is not known.
  ///
  /// See ``Reachability/connectivity(to:)``. Reading it never waits for the network.
  public var connectivity: ReachabilityFlags.Connectivity? {
    let (target, state) = targetAndState
    return state.connectivity(to: target)
  }

  /// The target and a state of it, also where the target is changed meanwhile.
  private var targetAndState: (target: ReachabilityTarget, state: Reachability) {
    while true {
      let before = assignment
      let state = cell.current
      // A state that was read within one epoch is of that epoch's target.
      if assignment.epoch == before.epoch { return (before.target, state) }
    }
  }
}
