// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import TestSupport
import Testing

@testable import DialtoneCLI

struct HookQueueTests {
  private let up = Reachability(status: .reachable, flags: .reachable)
  private let down = Reachability(status: .unreachable, reason: .noRoute)
  private let noCarrier = Reachability(status: .unreachable, reason: .noCarrier)

  private func receive(_ state: Reachability, of target: Int = 0, _ queue: inout HookQueue<Reachability>) {
    queue.receive(Report(target: target, state: state), holds: state.holds { $0.isReachable })
  }

  @Test func runsOneAtATimeForTheNewestState() {
    var queue = HookQueue<Reachability>(trigger: .change)
    receive(up, &queue)
    #expect(queue.next()?.state == up)
    receive(down, &queue)
    #expect(queue.next() == nil, "one is under way")
    receive(noCarrier, &queue)
    queue.ended()
    #expect(queue.next()?.state == noCarrier)
    queue.ended()
    #expect(queue.next() == nil)
  }

  @Test func doesNotRunForAStateThatWasTold() {
    var queue = HookQueue<Reachability>(trigger: .change)
    receive(up, &queue)
    #expect(queue.next() != nil)
    receive(down, &queue)
    receive(up, &queue)
    queue.ended()
    #expect(queue.next() == nil)
  }

  @Test func keepsTheOrderInWhichTargetsBeganToWait() {
    var queue = HookQueue<Reachability>(trigger: .change)
    receive(up, of: 2, &queue)
    receive(up, of: 0, &queue)
    receive(down, of: 2, &queue)
    var order: [Int] = []
    while let report = queue.next() {
      order.append(report.target)
      queue.ended()
    }
    #expect(order == [2, 0])
  }

  @Test func runsForWhatBecomesReachableAlone() {
    var queue = HookQueue<Reachability>(trigger: .reachable)
    receive(down, &queue)
    #expect(queue.next() == nil)
    receive(up, &queue)
    #expect(queue.next()?.state == up)
    queue.ended()
    // Another way is no such change.
    let other = NetworkInterface(name: "w0", index: 7, kind: .wired)
    receive(Reachability(status: .reachable, flags: .reachable, interface: other), &queue)
    #expect(queue.next() == nil)
    receive(down, &queue)
    receive(up, &queue)
    #expect(queue.next()?.state == up)
  }

  @Test func dropsARunThatIsNoLongerTrue() {
    var queue = HookQueue<Reachability>(trigger: .unreachable)
    receive(down, &queue)
    receive(up, &queue)
    #expect(queue.next() == nil)
    receive(noCarrier, &queue)
    #expect(queue.next()?.state == noCarrier)
  }

  @Test func anUndeterminedStateIsNeither() {
    let denied = Reachability(status: .undetermined, reason: .denied)
    for trigger in [HookTrigger.reachable, .unreachable] {
      var queue = HookQueue<Reachability>(trigger: trigger)
      receive(denied, &queue)
      #expect(queue.next() == nil)
    }
  }

  /// However states and ends of runs mix, each target's last run is told its last state, and none is told one twice.
  @Test(arguments: 0..<50)
  func endsWithTheLastState(seed: UInt64) {
    var random = SeededNumbers(seed: seed)
    var queue = HookQueue<Reachability>(trigger: .change)
    var last: [Int: Reachability] = [:]
    var told: [Int: Reachability] = [:]
    var isRunning = false
    func run() {
      guard let report = queue.next() else { return }
      #expect(!isRunning)
      #expect(told[report.target] != report.state)
      told[report.target] = report.state
      isRunning = true
    }
    for _ in 0..<200 {
      let target = Int.random(in: 0..<3, using: &random)
      if Bool.random(using: &random), isRunning {
        queue.ended()
        isRunning = false
      } else {
        let state = [up, down, noCarrier].randomElement(using: &random) ?? up
        last[target] = state
        receive(state, of: target, &queue)
      }
      run()
    }
    repeat {
      if isRunning { queue.ended() }
      isRunning = false
      run()
    } while isRunning
    #expect(told == last)
  }
}
