// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone
public import Foundation

extension Notification {
  /// What a notification of Dialtone's carries; `nil` in others.
  public subscript<Value>(key: ReachabilityNotificationKey<Value>) -> Value? { userInfo?[key.rawValue] as? Value }

  /// The state that a notification of Dialtone's tells of; `nil` in others. Who has it need not ask the monitor again.
  public var reachability: Reachability? { self[.reachability] }

  /// The monitor that a notification of Dialtone's comes from; `nil` in others.
  public var reachabilityMonitor: ReachabilityMonitor? { object as? ReachabilityMonitor }
}
