// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone
public import Foundation

extension Notification {
  /// The state in a notification of Dialtone; `nil` in others. With it, you need not ask the monitor again.
  public var reachability: Reachability? { userInfo?[ReachabilityNotificationKey.reachability] as? Reachability }
}

extension Notification.Name {
  /// A monitor's state is known, or has changed: see
  /// ``Dialtone/ReachabilityMonitor/postNotifications(of:to:named:whenDetermined:on:)``.
  public static let reachabilityDidChange = Notification.Name("DialtoneReachabilityDidChange")

  /// A monitor's state has been determined; posted once for each of its targets, before the ``reachabilityDidChange``
  /// with that state.
  public static let reachabilityWasDetermined = Notification.Name("DialtoneReachabilityWasDetermined")
}

/// The keys in the `userInfo` of Dialtone's notifications. More may come.
///
/// ```swift
/// let flags = notification.userInfo?[ReachabilityNotificationKey.flags] as? ReachabilityFlags
/// ```
public enum ReachabilityNotificationKey: Sendable {
  /// The state, a `Reachability`; `Notification.reachability` is it.
  public static let reachability = "DialtoneReachability"

  /// The flags of that state, `ReachabilityFlags`.
  public static let flags = "DialtoneReachabilityFlags"

  /// The bits of those flags, as in `SCNetworkReachabilityFlags`: the `NSNumber` that RKReachabilityObserver and
  /// SCNetworkReachabilityKit had in `userInfo`.
  public static let flagsNumber = "DialtoneReachabilityFlagsNumber"
}
