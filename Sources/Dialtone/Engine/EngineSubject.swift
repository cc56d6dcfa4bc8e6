// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What an engine watches for a monitor, and the cell that its states go to.
enum EngineSubject: Sendable {
  case target(TargetQuestion, StateCell<Reachability>)
  indirect case path(PathConfiguration, StateCell<NetworkPath>)

  /// The cell's identity: a monitor has one cell, no matter what it watches.
  var identifier: ObjectIdentifier {
    switch self {
    case .target(_, let cell): ObjectIdentifier(cell)
    case .path(_, let cell): ObjectIdentifier(cell)
    }
  }

  var epoch: Epoch {
    switch self {
    case .target(_, let cell): cell.epoch
    case .path(_, let cell): cell.epoch
    }
  }

  /// Begins a new epoch: nothing is known until its first state is stored.
  func beginEpoch(ofNewSubject: Bool = false) {
    switch self {
    case .target(_, let cell): cell.beginEpoch(.unknown, ofNewSubject: ofNewSubject)
    case .path(_, let cell): cell.beginEpoch(.unknown, ofNewSubject: ofNewSubject)
    }
  }

  /// Stores that nothing can be known for this reason, if the epoch is the present one.
  func deny(_ epoch: Epoch, for reason: Reachability.Reason, realtime: Int64) {
    switch self {
    case .target(_, let cell): cell.deny(epoch, for: reason, realtime: realtime)
    case .path(_, let cell): cell.deny(epoch, for: reason, realtime: realtime)
    }
  }

  /// Lets receivers have a state that was held back, if the epoch is the present one.
  func release(_ epoch: Epoch) {
    switch self {
    case .target(_, let cell): cell.release(epoch)
    case .path(_, let cell): cell.release(epoch)
    }
  }

  /// Has every receiver look for a newer state; see ``StateCell/wakeReceivers(_:)``.
  func wakeReceivers(_ queue: DeliveryQueue) {
    switch self {
    case .target(_, let cell): cell.wakeReceivers(queue)
    case .path(_, let cell): cell.wakeReceivers(queue)
    }
  }
}

extension StateCell where State: TimedState {
  fileprivate func deny(_ epoch: Epoch, for reason: Reachability.Reason, realtime: Int64) {
    var state = State.denied(for: reason)
    state.realtime = realtime
    if !current.isSameState(as: state) { _ = publish(state, of: epoch) }
  }
}

/// A target and how it is looked at: an object, which a monitor and what the engine keeps for it share.
final class TargetQuestion: Sendable {
  let target: ReachabilityTarget
  let configuration: ReachabilityConfiguration

  init(_ target: ReachabilityTarget, _ configuration: ReachabilityConfiguration) {
    self.target = target
    self.configuration = configuration
  }
}

/// What other threads ask of the engine. One of its own threads performs it, in order.
enum EngineCommand: Sendable {
  /// Watch the subject, and publish its states as states of the epoch. Both are the monitor's at the moment of the
  /// command; a pause or another subject may begin the next epoch before it is performed.
  case watch(EngineSubject, Epoch)
  /// Stop watching what the subject's cell belongs to.
  case unwatch(EngineSubject)
  case schedule(DeliveryTimer)
  case forgetTimer
  case lookupEnded(NameQuestion, serial: UInt64, NameLookupResult)
}
