// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// Each state with the one before it.
@Suite(.timeLimit(.minutes(5)))
struct ReachabilityChangesTests {
  @Test func aChangeHasTheFormerStateAndHowLongItLasted() async throws {
    let network = ScriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    var changes = monitor.changes.makeAsyncIterator()
    let first = try #require(await changes.next())
    #expect(first.state.isReachable && first.former == nil && first.lasted == nil)
    network.clock.advance(by: .seconds(192))
    network.set(.unreachable())
    let second = try #require(await changes.next())
    #expect(second.state.status == .unreachable && second.former == first.state && second.lasted == .seconds(192))
    network.clock.advance(by: .milliseconds(1_500))
    network.set(.wired)
    let third = try #require(await changes.next())
    #expect(third.state.isReachable && third.former == second.state && third.lasted == .milliseconds(1_500))
  }

  @Test func twoIteratorsHaveTheirOwnFormerStates() async throws {
    let network = ScriptedNetwork()
    network.set(.wifi)
    let monitor = network.monitor()
    var first = monitor.changes.makeAsyncIterator()
    _ = await first.next()
    network.set(.wired)
    #expect(await first.next()?.former?.interface?.kind == .wifi)
    var second = monitor.changes.makeAsyncIterator()
    #expect(await second.next()?.former == nil)
  }

  @Test func aClockThatWasSetBackTellsNoTime() {
    let now = UTCTimestamp.now
    let former = Reachability(.reachable, timestamp: now)
    let back = Reachability(.unreachable, timestamp: now.advanced(by: .seconds(-1)))
    #expect(ReachabilityChange(to: back, from: former).lasted == nil)
    #expect(ReachabilityChange(to: former, from: Reachability(.undetermined)).lasted == nil)
    #expect(ReachabilityChange(to: former, from: back).lasted == .seconds(1))
  }

  @Test func isSaidInWords() {
    let start = UTCTimestamp(durationSince1970: .seconds(1_000))
    let lost = Reachability(.unreachable, timestamp: start)
    let back = Reachability(.reachable, timestamp: start.advanced(by: .microseconds(3_004_012)))
    #expect("\(ReachabilityChange(to: back, from: lost))" == "reachable, after 3.004 seconds unreachable")
    let words = "unreachable: no route to the destination"
    #expect("\(ReachabilityChange(to: lost, from: back))" == words + ", after reachable")
    #expect("\(ReachabilityChange(to: lost))" == words)
  }

  @Test func endsWithItsTask() async {
    let monitor = ScriptedNetwork().monitor()
    let task = Task {
      for await _ in monitor.changes { Issue.record("nothing is known") }
    }
    task.cancel()
    await task.value
  }
}
