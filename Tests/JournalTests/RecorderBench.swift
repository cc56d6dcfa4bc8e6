// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

@testable import DialtoneJournal

/// The rules of a recorder, and what they have written.
struct RecorderBench {
  private(set) var machine: RecorderStateMachine
  private(set) var events: [JournalEvent]

  init(
    _ targets: [String] = ["a"], previous: [String: OpenOutage] = [:], previousEnd: Moment? = nil,
    at now: Moment = moment(0)
  ) {
    let recorder = JournalEvent.Recorder(version: "1", boot: "b", targets: targets)
    machine = RecorderStateMachine(recorder, previous: previous, previousEnd: previousEnd, at: now)
    events = [machine.start]
  }

  /// Returns the names of the events that it has written, and what else is to be done for which target.
  @discardableResult
  mutating func handle(_ input: RecorderStateMachine.Input, _ at: Moment) -> [String] {
    machine.handle(input, at: at).map { action in
      switch action {
      case .write(let event):
        events.append(event)
        return event.name
      case .explain(let target): return "explain \(target)"
      case .glance(let target): return "glance \(target)"
      case .learn(let target): return "learn \(target)"
      }
    }
  }

  /// A state of a target, of which is not said since when it is in it.
  @discardableResult
  mutating func set(_ target: Int, _ state: RecorderStateMachine.TargetState, _ at: Moment) -> [String] {
    handle(.state(target, state, since: nil), at)
  }

  var outages: [Outage] { OutageLog.outages(events) }

  /// The ends of outages, in their order.
  var ends: [(outage: OpenOutage, how: String, isWaking: Bool)] {
    events.compactMap { event in
      if case .end(let outage, let how, let isWaking) = event.kind { (outage, how, isWaking) } else { nil }
    }
  }
}

extension RecorderStateMachine.TargetState {
  static let isUp = Self.up(words: "up")

  static func isDown(_ reason: String? = "no-carrier", layer: OutageLayer? = nil) -> Self {
    .down(reason: reason, words: "down", layer: layer)
  }
}

/// A moment this many microseconds after `moment(0)`.
func exactly(_ microseconds: Int64, slept: Int64 = 0, step: Int64 = 0) -> Moment {
  let start = moment(0)
  return Moment(wall: start.wall + microseconds + step, clock: start.clock + microseconds, slept: slept)
}
