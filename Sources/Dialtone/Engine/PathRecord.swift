// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What the engine keeps for one path monitor. Belongs to the engine's lock.
final class PathRecord {
  let storage: ValueStorage<NetworkPath>
  let configuration: PathConfiguration
  var machine: MonitorStateMachine
  /// Whether a timer will ask whether it has settled.
  var hasSettlingTimer = false
  /// What was last answered; `nil` once that is told.
  var answer: NetworkPath?

  init(_ storage: ValueStorage<NetworkPath>, _ configuration: PathConfiguration) {
    self.storage = storage
    self.configuration = configuration
    machine = MonitorStateMachine(settling: configuration.settling)
  }
}
