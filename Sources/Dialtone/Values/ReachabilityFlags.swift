// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What is known of the way to a target, bit for bit as Apple's `SCNetworkReachabilityFlags`.
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
  /// Traffic for the target may bring the connection up: a dormant link.
  public static let connectionOnTraffic = ReachabilityFlags(rawValue: 1 << 3)
  /// The other name that Apple's API has for ``connectionOnTraffic``, `kSCNetworkReachabilityFlagsConnectionAutomatic`.
  public static let connectionAutomatic = connectionOnTraffic
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
