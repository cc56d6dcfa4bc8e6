// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension ReachabilityFlags {
  /// What flags mean to somebody who asks whether a transfer may cost money: no way, a cellular one, or another.
  ///
  /// These three are all that the decision of ``ReachabilityFlags/connectivity(to:)`` tells apart. Which kind of interface
  /// a way leads over, wired or Wi-Fi or a tunnel, is in ``Reachability/interface``.
  public enum Connectivity: Hashable, Sendable, BitwiseCopyable, CaseIterable {
    /// No packet gets to the target, as things are.
    case unreachable
    /// Over an interface that is not cellular: what the Objective-C libraries called Wi-Fi.
    case nonCellular
    /// Over a cellular interface: what they called WWAN.
    case cellular
  }

  /// What the flags of a target mean, by the decision of Apple's Reachability sample, which RKReachabilityObserver and
  /// SCNetworkReachabilityKit share.
  ///
  /// A pure function; bits that are not known do not count.
  ///
  /// - A local network (``ReachabilityTarget/isLocalNetwork``) is reached directly or not at all, and never over a
  ///   cellular interface.
  /// - Anything else that is `reachable` over a cellular interface is ``Connectivity/cellular``, even where the
  ///   connection has to be made first.
  /// - Without a cellular interface it is ``Connectivity/nonCellular`` where no connection has to be made, or where traffic
  ///   or a demand makes it and nobody has to act; else it is ``Connectivity/unreachable``.
  ///
  /// - Parameter target: What the flags are about. Only whether it is a local network counts.
  /// - Returns: Whether the target is reached, and over what.
  public func connectivity(to target: ReachabilityTarget = .internet) -> Connectivity {
    if target.isLocalNetwork { return isSuperset(of: [.reachable, .isDirect]) ? .nonCellular : .unreachable }
    if isSuperset(of: [.reachable, .isWWAN]) { return .cellular }
    return isReachableWithoutIntervention ? .nonCellular : .unreachable
  }
}
