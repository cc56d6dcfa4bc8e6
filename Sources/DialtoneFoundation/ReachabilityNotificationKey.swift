// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone
public import Foundation

/// What a notification of Dialtone's carries in its `userInfo`, with the type of it.
///
/// ```swift
/// let flags = notification[.flags]  // a ReachabilityFlags?
/// ```
///
/// More keys may come.
public struct ReachabilityNotificationKey<Value: Sendable>: Hashable, Sendable {
  /// The key in `userInfo`, for code that reads the dictionary itself.
  public let rawValue: String

  private init(_ rawValue: String) { self.rawValue = rawValue }
}

extension ReachabilityNotificationKey where Value == Reachability {
  /// The state that the notification tells of.
  public static let reachability = ReachabilityNotificationKey("DialtoneReachability")
}

extension ReachabilityNotificationKey where Value == ReachabilityFlags {
  /// The flags of that state.
  public static let flags = ReachabilityNotificationKey("DialtoneReachabilityFlags")
}

extension ReachabilityNotificationKey where Value == NSNumber {
  /// The bits of those flags, as `SCNetworkReachabilityFlags` has them: the number that RKReachabilityObserver and
  /// SCNetworkReachabilityKit had in `userInfo`.
  public static let flagsNumber = ReachabilityNotificationKey("DialtoneReachabilityFlagsNumber")
}
