// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What the engine keeps for one path monitor. Belongs to the engine's lock.
final class PathRecord {
  let storage: ValueStorage<NetworkPath>
  /// The monitor's when it asked; it may have been paused since.
  let epoch: Epoch
  let configuration: PathConfiguration
  /// What is asked for it: its configuration, but for what concerns delivery alone.
  let question: PathConfiguration
  var machine: MonitorStateMachine
  /// Whether a timer will ask whether it has settled.
  var hasSettlingTimer = false
  /// What was last answered; `nil` once that is decided.
  var answer: NetworkPath?
  /// Whether the path that was decided last is satisfied.
  var isSatisfied = false

  init(_ storage: ValueStorage<NetworkPath>, _ configuration: PathConfiguration, _ epoch: Epoch) {
    self.storage = storage
    self.epoch = epoch
    self.configuration = configuration
    var question = configuration
    question.settling = .zero
    self.question = question
    machine = MonitorStateMachine(settling: configuration.settling)
  }
}
