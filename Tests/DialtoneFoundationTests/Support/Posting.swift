// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneFoundation
import Dispatch
import Foundation

/// The ways to post notifications.
enum Posting: String, CaseIterable, Sendable {
  case ownThread, queue, concurrentQueue, mainActor

  /// Has `monitor` post to `center`.
  func begin(
    _ monitor: ReachabilityMonitor, to center: NotificationCenter,
    named name: Notification.Name = .reachabilityDidChange,
    whenDetermined determinedName: Notification.Name = .reachabilityWasDetermined
  ) -> ReachabilityObservation {
    switch self {
    case .ownThread:
      monitor.postNotifications(to: center, named: name, whenDetermined: determinedName)
    case .queue:
      monitor.postNotifications(
        to: center, named: name, whenDetermined: determinedName, on: DispatchQueue(label: "foundation-tests.serial"))
    case .concurrentQueue:
      // The quality of service differs from that of tasks: otherwise listeners that block would take the tasks'
      // threads.
      monitor.postNotifications(
        to: center, named: name, whenDetermined: determinedName,
        on: DispatchQueue(label: "foundation-tests.concurrent", qos: .utility, attributes: .concurrent))
    case .mainActor:
      monitor.postNotificationsOnMainActor(to: center, named: name, whenDetermined: determinedName)
    }
  }
}
