// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import TestSupport
import Testing

@testable import Dialtone

/// Several threads make, retarget, pause and resume thousands of monitors. What the engine decides late belongs to the
/// epoch in which it was asked, never to a later pause.
@Suite(.timeLimit(.minutes(5)))
struct PauseStormTests {
  private static let threads = 4

  @Test("4,000 monitors are never known while paused")
  func aStormOfMonitorsIsNeverKnownWhilePaused() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let witness = network.monitor()
    try await witness.waitUntilReachable()
    for round in 0..<2 {
      let monitors = Box<[ReachabilityMonitor]>([])
      try await onThreads(Self.threads) { thread in
        var numbers = SeededNumbers(seed: UInt64(round * Self.threads + thread))
        let own = (0..<500).map { _ in network.monitor(Self.targets.randomElement(using: &numbers) ?? .internet) }
        for monitor in own { Self.disturb(monitor, &numbers) }
        monitors.append(own)
      }
      let all = monitors.value
      // Now each thread disturbs monitors of the others, too.
      try await onThreads(Self.threads) { thread in
        var numbers = SeededNumbers(seed: UInt64(1_000 + round * Self.threads + thread))
        for _ in 0..<500 { Self.disturb(all[Int.random(in: all.indices, using: &numbers)], &numbers) }
      }
      Self.expectNothingKnown(of: all.filter(\.isPaused), "round \(round), before the engine has caught up")
      try await network.settle()
      let paused = all.filter(\.isPaused)
      #expect(!paused.isEmpty && paused.count < all.count)
      Self.expectNothingKnown(of: paused, "round \(round), once the engine has caught up")
      for monitor in all where !monitor.isPaused { try await monitor.waitUntilReachable(timeout: nil) }

      // All of them are paused as soon as they are resumed.
      try await onThreads(Self.threads) { thread in
        for position in stride(from: thread, to: all.count, by: Self.threads) {
          all[position].resume()
          all[position].pause()
        }
      }
      Self.expectNothingKnown(of: all, "round \(round), at once")
      try await network.settle()
      Self.expectNothingKnown(of: all, "round \(round), at the end")
    }
    #expect(witness.current.isReachable)
  }

  @Test("2,000 path monitors are never known while paused")
  func aStormOfPathMonitorsIsNeverKnownWhilePaused() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let witness = PathMonitor(environment: network.environment)
    try await witness.waitUntilSatisfied()
    for _ in 0..<10 {
      let monitors = Box<[PathMonitor]>([])
      try await onThreads(Self.threads) { _ in
        let own = (0..<50).map { _ in PathMonitor(environment: network.environment) }
        for (position, monitor) in own.enumerated() {
          monitor.pause()
          for _ in 0..<position % 3 {
            monitor.resume()
            monitor.pause()
          }
        }
        monitors.append(own)
      }
      let told = Counter()
      let tokens = monitors.value.map { $0.observe { _ in told.add() } }
      #expect(monitors.value.allSatisfy { $0.current ≈ NetworkPath(.undetermined) })
      try await network.settle()
      #expect(monitors.value.allSatisfy { $0.current ≈ NetworkPath(.undetermined) })
      #expect(told.value == 0)
      withExtendedLifetime(tokens) {}
    }
  }

  private static let targets: [ReachabilityTarget] = [
    .internet, .localNetwork, .address(ip("192.0.2.1")), .address(ip("2001:db8::1")), .address(ip("198.51.100.7")),
  ]

  private static func disturb(_ monitor: ReachabilityMonitor, _ numbers: inout SeededNumbers) {
    for _ in 0..<3 {
      switch Int.random(in: 0..<4, using: &numbers) {
      case 0: monitor.target = targets.randomElement(using: &numbers) ?? .internet
      case 1: monitor.resume()
      default: monitor.pause()
      }
    }
  }

  private static func expectNothingKnown(of paused: [ReachabilityMonitor], _ when: Comment) {
    let known = paused.count { $0.current.status != .undetermined }
    #expect(known == 0, when)
    // A new receiver is told nothing. A sample is enough: observers read what `current` reads.
    let told = Counter()
    let tokens = paused.shuffled().prefix(200).map { $0.observe { _ in told.add() } }
    for token in tokens { token.cancel() }
    #expect(told.value == 0, when)
  }
}

extension Box {
  fileprivate func append<Element>(_ elements: [Element]) where Value == [Element] {
    update { $0 += elements }
  }
}
