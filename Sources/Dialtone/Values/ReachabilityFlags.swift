// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What is known of the way to a target, bit for bit like Apple's `SCNetworkReachabilityFlags`.
///
/// See <doc:HowReachabilityIsDecided> for when each is set on Linux.
public struct ReachabilityFlags: OptionSet, Hashable, Sendable, BitwiseCopyable {
  /// The bits of `SCNetworkReachabilityFlags` (SystemConfiguration/SCNetworkReachability.h).
  public let rawValue: UInt32

  /// Flags of exactly these bits; unknown bits are kept.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The way leads over a transient connection: PPP, a tunnel or a cellular link.
  public static let transientConnection = ReachabilityFlags(rawValue: 1 << 0)
  /// A packet can be sent towards the target, though ``connectionRequired`` may still have to be met first.
  public static let reachable = ReachabilityFlags(rawValue: 1 << 1)
  /// A connection has to be made first: a modem without a session, a dormant link, a blocked radio.
  public static let connectionRequired = ReachabilityFlags(rawValue: 1 << 2)
  /// Traffic for the target may bring the connection up: a dormant link. Apple's other name for it is
  /// `connectionAutomatic`.
  public static let connectionOnTraffic = ReachabilityFlags(rawValue: 1 << 3)
  /// Somebody has to act before the connection can be made: a radio blocked by rfkill.
  public static let interventionRequired = ReachabilityFlags(rawValue: 1 << 4)
  /// The connection is made on demand by a higher API. Never set on Linux.
  public static let connectionOnDemand = ReachabilityFlags(rawValue: 1 << 5)
  /// The target is an address of this machine.
  public static let isLocalAddress = ReachabilityFlags(rawValue: 1 << 16)
  /// Packets go straight to the target, through no gateway.
  public static let isDirect = ReachabilityFlags(rawValue: 1 << 17)
  /// The way leads over a cellular link.
  public static let isWWAN = ReachabilityFlags(rawValue: 1 << 18)
}

/// The rules by which reachability libraries read Apple's flags, each under a name of its own.
///
/// They are pure functions of the bits, for any thread and without a system call. Unknown bits do not count.
extension ReachabilityFlags {
  /// Whether the target can be reached over a cellular link with no connection to be made first (DTReachability's
  /// `isWWAN`).
  ///
  /// A modem without a session has the flag ``isWWAN``, and this is false.
  public var isCellular: Bool { isReachableWithoutConnection && contains(.isWWAN) }

  /// Whether the target can be reached over a cellular link alone, without anybody having to act (KSReachability's
  /// `WWANOnly`). The system would choose any other link first.
  ///
  /// A connection that traffic or a demand makes counts: see ``isReachableWithoutIntervention``.
  public var isCellularOnly: Bool { isReachableWithoutIntervention && contains(.isWWAN) }

  /// Whether the target can be reached with no connection to be made first (DTReachability's `isReachable`).
  ///
  /// This is the strictest of the rules. ``Reachability/isReachable`` is the same.
  public var isReachableWithoutConnection: Bool { contains(.reachable) && !contains(.connectionRequired) }

  /// Whether the target can be reached without anybody having to act: at once, or over a connection that traffic or a
  /// demand makes (KSReachability's `reachable`).
  public var isReachableWithoutIntervention: Bool {
    guard contains(.reachable) else { return false }
    return !contains(.connectionRequired)
      || (!contains(.interventionRequired) && !isDisjoint(with: [.connectionOnTraffic, .connectionOnDemand]))
  }

  /// Whether a connection has to be made first, and traffic or a demand makes it (RKReachabilityObserver's
  /// `isConnectionOnDemand`).
  public var isConnectionOnDemand: Bool {
    contains(.connectionRequired) && !isDisjoint(with: [.connectionOnTraffic, .connectionOnDemand])
  }

  /// Whether a connection has to be made first, and somebody has to act for it (RKReachabilityObserver's
  /// `isInterventionRequired`).
  public var isInterventionRequired: Bool { isSuperset(of: [.connectionRequired, .interventionRequired]) }
}

extension ReachabilityFlags {
  /// What flags say about whether a transfer may cost money: no way, a cellular one, or another.
  ///
  /// ``ReachabilityFlags/connectivity(to:)`` tells only these three apart. ``Reachability/interface`` has the kind of
  /// interface: wired, Wi-Fi or a tunnel.
  public enum Connectivity: Hashable, Sendable, BitwiseCopyable, CaseIterable {
    /// No packet gets to the target now.
    case unreachable
    /// Over an interface that is not cellular: what the Objective-C libraries called Wi-Fi.
    case nonCellular
    /// Over a cellular interface: what they called WWAN.
    case cellular
  }

  /// What the flags of a target mean, by the decision of Apple's Reachability sample, which RKReachabilityObserver and
  /// SCNetworkReachabilityKit share.
  ///
  /// It is a pure function. Unknown bits do not count.
  ///
  /// - A local network (``ReachabilityTarget/isLocalNetwork``) is reached directly or not at all, and never over a
  ///   cellular interface.
  /// - Anything else that is `reachable` over a cellular interface is ``Connectivity/cellular``, even if the
  ///   connection has to be made first.
  /// - Without a cellular interface it is ``Connectivity/nonCellular`` if no connection has to be made, or if traffic
  ///   or a demand makes it and nobody has to act; otherwise it is ``Connectivity/unreachable``.
  ///
  /// - Parameter target: What the flags are about. Only whether it is a local network counts.
  /// - Returns: Whether the target is reached, and over what.
  public func connectivity(to target: ReachabilityTarget = .internet) -> Connectivity {
    if target.isLocalNetwork { return isSuperset(of: [.reachable, .isDirect]) ? .nonCellular : .unreachable }
    if isSuperset(of: [.reachable, .isWWAN]) { return .cellular }
    return isReachableWithoutIntervention ? .nonCellular : .unreachable
  }
}
