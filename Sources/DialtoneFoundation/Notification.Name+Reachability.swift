// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Notification.Name {
  /// A monitor's state is known, or has changed: see ``Dialtone/ReachabilityMonitor/postNotifications(to:named:whenDetermined:)``.
  public static let reachabilityDidChange = Notification.Name("DialtoneReachabilityDidChange")

  /// A monitor's state has been determined; posted once for each of its targets, before the ``reachabilityDidChange`` with that state.
  public static let reachabilityWasDetermined = Notification.Name("DialtoneReachabilityWasDetermined")
}
