// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if !canImport(Darwin)

/// What is known of the way to a target, as in SystemConfiguration/SCNetworkReachability.h.
public struct SCNetworkReachabilityFlags: OptionSet, Hashable, Sendable {
  /// The bits.
  public let rawValue: UInt32

  /// Flags of exactly these bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The way leads over a transient connection: PPP, a tunnel or a cellular link.
  public static let transientConnection = SCNetworkReachabilityFlags(rawValue: 1 << 0)
  /// A packet can be sent towards the target, though ``connectionRequired`` may still have to be met first.
  public static let reachable = SCNetworkReachabilityFlags(rawValue: 1 << 1)
  /// A connection has to be made first.
  public static let connectionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 2)
  /// Traffic for the target may bring the connection up.
  public static let connectionOnTraffic = SCNetworkReachabilityFlags(rawValue: 1 << 3)
  /// Apple's other name for ``connectionOnTraffic``.
  public static let connectionAutomatic = connectionOnTraffic
  /// Somebody has to act before the connection can be made.
  public static let interventionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 4)
  /// The connection is made on demand by a higher API. Never set on Linux.
  public static let connectionOnDemand = SCNetworkReachabilityFlags(rawValue: 1 << 5)
  /// The target is an address of this machine.
  public static let isLocalAddress = SCNetworkReachabilityFlags(rawValue: 1 << 16)
  /// Packets go straight to the target, through no gateway.
  public static let isDirect = SCNetworkReachabilityFlags(rawValue: 1 << 17)
  /// The way leads over a cellular link.
  public static let isWWAN = SCNetworkReachabilityFlags(rawValue: 1 << 18)
}

/// The older name of the flags.
public typealias SCNetworkConnectionFlags = SCNetworkReachabilityFlags

// The older names of SCNetwork.h. The importer gives constants of C enumerations without a name as `Int`.

/// ``SCNetworkReachabilityFlags/transientConnection``
public var kSCNetworkFlagsTransientConnection: Int { 1 << 0 }
/// ``SCNetworkReachabilityFlags/reachable``
public var kSCNetworkFlagsReachable: Int { 1 << 1 }
/// ``SCNetworkReachabilityFlags/connectionRequired``
public var kSCNetworkFlagsConnectionRequired: Int { 1 << 2 }
/// ``SCNetworkReachabilityFlags/connectionAutomatic``
public var kSCNetworkFlagsConnectionAutomatic: Int { 1 << 3 }
/// ``SCNetworkReachabilityFlags/interventionRequired``
public var kSCNetworkFlagsInterventionRequired: Int { 1 << 4 }
/// ``SCNetworkReachabilityFlags/isLocalAddress``
public var kSCNetworkFlagsIsLocalAddress: Int { 1 << 16 }
/// ``SCNetworkReachabilityFlags/isDirect``
public var kSCNetworkFlagsIsDirect: Int { 1 << 17 }
#endif
