// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension EngineState {
  /// What a turn leaves to do outside the lock.
  struct Outcome {
    /// What is mostly empty: apart, so that a turn does not handle three empty arrays.
    final class Rest {
      fileprivate(set) var targets: [StateCell<Reachability>] = []
      fileprivate(set) var paths: [StateCell<NetworkPath>] = []
      /// Timers whose time has come.
      fileprivate(set) var fired: [DeliveryTimer] = []
    }

    /// The cell whose receivers may find something new. Further ones are in the rest.
    private(set) var firstTarget: StateCell<Reachability>?
    private(set) var rest: Rest?
    /// Whether events may be left, and another turn is due at once.
    var isUnfinished = false

    mutating func add(_ cell: StateCell<Reachability>) {
      if firstTarget == nil { firstTarget = cell } else { makeRest().targets.append(cell) }
    }

    mutating func add(_ cell: StateCell<NetworkPath>) { makeRest().paths.append(cell) }

    mutating func add(_ timer: DeliveryTimer) { makeRest().fired.append(timer) }

    private mutating func makeRest() -> Rest {
      let rest = rest ?? Rest()
      self.rest = rest
      return rest
    }
  }
}
