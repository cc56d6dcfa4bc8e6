// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone
public import Foundation

extension Notification {
  /// A value that a notification of Dialtone carries; `nil` in others.
  public subscript<Value>(key: ReachabilityNotificationKey<Value>) -> Value? { userInfo?[key.rawValue] as? Value }

  /// The state in a notification of Dialtone; `nil` in others. With it, you need not ask the monitor again.
  public var reachability: Reachability? { self[.reachability] }

  /// The monitor that posted a notification of Dialtone; `nil` in others.
  public var reachabilityMonitor: ReachabilityMonitor? { object as? ReachabilityMonitor }
}

extension Notification.Name {
  /// A monitor's state is known, or has changed: see
  /// ``Dialtone/ReachabilityMonitor/postNotifications(of:to:named:whenDetermined:)``.
  public static let reachabilityDidChange = Notification.Name("DialtoneReachabilityDidChange")

  /// A monitor's state has been determined; posted once for each of its targets, before the ``reachabilityDidChange``
  /// with that state.
  public static let reachabilityWasDetermined = Notification.Name("DialtoneReachabilityWasDetermined")
}

/// A key in the `userInfo` of Dialtone's notifications, with the type of its value.
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
  /// The state in the notification.
  public static let reachability = ReachabilityNotificationKey("DialtoneReachability")
}

extension ReachabilityNotificationKey where Value == ReachabilityFlags {
  /// The flags of that state.
  public static let flags = ReachabilityNotificationKey("DialtoneReachabilityFlags")
}

extension ReachabilityNotificationKey where Value == NSNumber {
  /// The bits of those flags, as in `SCNetworkReachabilityFlags`: the number that RKReachabilityObserver and
  /// SCNetworkReachabilityKit had in `userInfo`.
  public static let flagsNumber = ReachabilityNotificationKey("DialtoneReachabilityFlagsNumber")
}
