// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// How the states that the engine decides for one monitor reach its receivers. A state is stored at once, and told at
/// once or after settling. If the monitor has begun another epoch meanwhile, it is neither stored nor told.
final class Publication<State: Sendable> {
  /// What the engine has to do afterwards.
  struct Effect: Equatable {
    /// Receivers may have something new.
    var isTold = false
    /// When to call ``settle(now:)``; `nil` if a call is already due, or none is needed.
    var settleAt: Int64?
  }

  let cell: StateCell<State>
  let epoch: Epoch
  private var machine: MonitorStateMachine
  /// Whether a timer will call `settle`.
  private(set) var isSettling = false

  init(_ cell: StateCell<State>, _ epoch: Epoch, settling: Duration) {
    self.cell = cell
    self.epoch = epoch
    machine = MonitorStateMachine(settling: settling)
  }
}

extension Publication where State: TimedState {
  /// Publishes a state that was decided at `now` by events that were read at `realtime`. A change carries that time.
  func publish(_ decided: State, realtime: Int64, now: Int64) -> Effect {
    var effect = Effect()
    cell.write { registry, snapshot in
      // The command of the present epoch is on its way to the engine.
      if registry.epoch != epoch { return false }
      let action = machine.decided(decided, after: snapshot.state, now: now)
      switch action {
      case .ignore: return false
      case .store:
        effect.isTold = true
        snapshot.detailNumber &+= 1
      case .deliver:
        effect.isTold = true
        snapshot.isHeldBack = false
      case .holdBack(let until):
        // Told, since a receiver that has had no state yet need not wait.
        effect.isTold = true
        effect.settleAt = isSettling ? nil : until
        isSettling = true
        snapshot.isHeldBack = true
      }
      let keepsTime = action == .store && decided.isSameState(as: snapshot.state)
      let time = keepsTime ? snapshot.state.realtime : realtime
      registry.revision += 1
      snapshot.replaceState(by: decided)
      snapshot.state.realtime = time
      return true
    }
    return effect
  }

  /// The time of an effect has come.
  func settle(now: Int64) -> Effect {
    isSettling = false
    switch machine.settle(now: now) {
    case .deliver:
      cell.release(epoch)
      return Effect(isTold: true)
    case .holdBack(let until):
      isSettling = true
      return Effect(settleAt: until)
    case .ignore, .store: return Effect()
    }
  }
}
