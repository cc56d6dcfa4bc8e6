// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The rules by which reachability libraries read Apple's flags, each under a name of its own.
///
/// They are pure functions of the bits: any thread, no system call. Bits that are not known do not count.
extension ReachabilityFlags {
  /// Whether the target can be reached over a cellular link with no connection to be made first (DTReachability's
  /// `isWWAN`).
  ///
  /// A modem without a session has the flag ``isWWAN``, and this is false.
  public var isCellular: Bool { isReachableWithoutConnection && contains(.isWWAN) }

  /// Whether the target can be reached without anybody doing something for it, over a cellular link and nothing else, for
  /// the system would choose anything else before it (KSReachability's `WWANOnly`).
  ///
  /// A connection that traffic or a demand makes by itself counts: see ``isReachableWithoutIntervention``.
  public var isCellularOnly: Bool { isReachableWithoutIntervention && contains(.isWWAN) }

  /// Whether the target can be reached with no connection to be made first (DTReachability's `isReachable`).
  ///
  /// The strictest of the rules. ``Reachability/isReachable`` is the same.
  public var isReachableWithoutConnection: Bool { contains(.reachable) && !contains(.connectionRequired) }

  /// Whether the target can be reached without anybody doing something for it: at once, or over a connection that
  /// traffic or a demand makes by itself (KSReachability's `reachable`).
  public var isReachableWithoutIntervention: Bool {
    guard contains(.reachable) else { return false }
    return !contains(.connectionRequired)
      || (!contains(.interventionRequired) && !isDisjoint(with: [.connectionOnTraffic, .connectionOnDemand]))
  }

  /// Whether a connection has to be made first (RKReachabilityObserver's `isConnectionRequired`).
  public var isConnectionRequired: Bool { contains(.connectionRequired) }

  /// Whether a connection has to be made first, and traffic or a demand makes it (RKReachabilityObserver's
  /// `isConnectionOnDemand`).
  public var isConnectionOnDemand: Bool {
    contains(.connectionRequired) && !isDisjoint(with: [.connectionOnTraffic, .connectionOnDemand])
  }

  /// Whether a connection has to be made first, and somebody has to act for it (RKReachabilityObserver's
  /// `isInterventionRequired`).
  public var isInterventionRequired: Bool { isSuperset(of: [.connectionRequired, .interventionRequired]) }
}
