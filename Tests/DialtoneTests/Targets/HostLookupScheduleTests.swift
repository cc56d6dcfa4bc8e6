// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import TestSupport
import Testing

@testable import Dialtone

/// When names are looked up.
@Suite(.timeLimit(.minutes(5)))
struct HostLookupScheduleTests {
  private static let first = NameLookupResult.addresses([ip("192.0.2.10")])
  private static let second = NameLookupResult.addresses([ip("192.0.2.20")])

  /// A lab with a monitor that knows the addresses of its name.
  private static func known(
    _ name: String, _ answer: NameLookupResult = first
  ) async throws -> (lab: NameLab, monitor: ReachabilityMonitor) {
    let lab = NameLab()
    lab.set(.wifi)
    lab.answer(name, answer)
    let monitor = try lab.monitor(name)
    _ = try await monitor.waitUntilKnown()
    #expect(lab.started(name) == 1)
    return (lab, monitor)
  }

  @Test func looksANameUpOnceWhileNothingChanges() async throws {
    let name = "once.example"
    let (lab, monitor) = try await Self.known(name)
    lab.advance(by: .seconds(299))
    try await lab.settle()
    #expect(lab.started(name) == 1)
    withExtendedLifetime(monitor) {}
  }

  @Test func oneNameIsLookedUpOnceHoweverItIsWritten() async throws {
    let name = "xn--bcher-kva.example"
    let (lab, monitor) = try await Self.known(name)
    for other in ["bücher.example", "BÜCHER.example", "XN--Bcher-Kva.example."] {
      #expect(try await lab.monitor(other).waitUntilKnown().isReachable)
    }
    #expect(lab.started(name) == 1)
    withExtendedLifetime(monitor) {}
  }

  @Test func looksANameUpAgainAfterFiveMinutes() async throws {
    let name = "five-minutes.example"
    let (lab, monitor) = try await Self.known(name)
    lab.answer(name, Self.second)
    lab.advance(by: .seconds(300))
    try await eventually("the new address") { monitor.current.destination == ip("192.0.2.20") }
    #expect(lab.started(name) == 2)
    lab.advance(by: .seconds(300))
    try await eventually("looked up again") { lab.started(name) == 3 }
  }

  @Test func looksANameUpAgainWhenThePathChanges() async throws {
    let name = "path-change.example"
    let (lab, monitor) = try await Self.known(name)
    lab.advance(by: .seconds(2))
    lab.answer(name, Self.second)
    lab.set(.wired)
    try await eventually("the new address") { monitor.current.destination == ip("192.0.2.20") }
    #expect(monitor.current.isVia("eth0"))
    #expect(lab.started(name) == 2)
  }

  @Test func doesNotLookANameUpAgainIfOnlyTheRestOfTheNetworkChanges() async throws {
    let name = "noise.example"
    let (lab, monitor) = try await Self.known(name)
    for number in 1...5 {
      lab.advance(by: .seconds(2))
      // Everything is asked again. The path over which names are looked up stays the same.
      lab.network.set(.wired, for: ip("198.51.100.\(number)"))
      try await lab.settle()
    }
    #expect(lab.started(name) == 1)
    withExtendedLifetime(monitor) {}
  }

  @Test func looksANameUpAtMostOnceASecond() async throws {
    let name = "spaced.example"
    let (lab, monitor) = try await Self.known(name)
    for number in 1...20 {
      lab.set(.numbered(number))
      try await lab.settle()
    }
    #expect(lab.started(name) == 1)
    // The change that came too soon is remembered.
    lab.advance(by: .milliseconds(999))
    try await lab.settle()
    #expect(lab.started(name) == 1)
    lab.advance(by: .milliseconds(1))
    try await eventually("looked up again") { lab.started(name) == 2 }
    lab.advance(by: .seconds(10))
    try await lab.settle()
    #expect(lab.started(name) == 2)
    withExtendedLifetime(monitor) {}
  }

  @Test func triesAgainEverLaterAfterFailures() async throws {
    let name = "fails.example"
    let (lab, monitor) = try await Self.known(name, .failed)
    for (step, delay) in [2, 4, 8, 16].enumerated() {
      lab.advance(by: .milliseconds(delay * 1_000 - 1))
      try await lab.settle()
      #expect(lab.started(name) == step + 1)
      lab.advance(by: .milliseconds(1))
      try await eventually("try \(step + 2)") { lab.started(name) == step + 2 && lab.running(name) == 0 }
      // The answer has been stored: the next delay begins here.
      try await lab.settle()
    }
    lab.answer(name, Self.first)
    lab.advance(by: .seconds(32))
    try await eventually("answered") { monitor.current.isReachable }
  }

  @Test func looksOneNameUpOnceAtATime() async throws {
    let name = "one-at-a-time.example"
    let lab = NameLab()
    lab.set(.wifi)
    lab.hang(name)
    let monitors = try (0..<10).map { _ in try lab.monitor(name) }
    try await eventually("it hangs") { lab.running(name) == 1 }
    for number in 1...5 {
      lab.advance(by: .seconds(400))
      lab.set(.numbered(number))
      try await lab.settle()
    }
    #expect(lab.started(name) == 1)
    // If something changes meanwhile, the name is looked up once more after the first answer.
    lab.answer(name, Self.first)
    for monitor in monitors { try await eventually("answered") { monitor.current.isReachable } }
    try await eventually("asked once more") { lab.started(name) == 2 }
    try await lab.settle()
    #expect(lab.started(name) == 2)
  }

  @Test func anOverdueAnswerIsToldAndThenTheAnswer() async throws {
    let name = "overdue.example"
    let lab = NameLab()
    lab.set(.wifi)
    lab.hang(name)
    let monitor = try lab.monitor(name)
    let log = Log<Reachability>()
    let token = monitor.observe { log.append($0) }
    try await eventually("it hangs") { lab.running(name) == 1 }
    lab.advance(by: .milliseconds(999))
    try await lab.settle()
    #expect(log.count == 0)
    lab.advance(by: .milliseconds(1))
    try await log.wait("overdue") { $0.isUndetermined(.nameNotResolved) }
    lab.answer(name, Self.first)
    try await log.wait("answered") { $0.isReachable }
    #expect(log.count == 2)
    token.cancel()
  }

  @Test func earlierAddressesStayWhileTheNameFails() async throws {
    let name = "earlier.example"
    let (lab, monitor) = try await Self.known(name)
    lab.answer(name, .failed)
    lab.advance(by: .seconds(300))
    try await eventually("it has failed") { lab.started(name) == 2 && lab.running(name) == 0 }
    try await lab.settle()
    #expect(monitor.current.isReachable)
    #expect(monitor.current.destination == ip("192.0.2.10"))
    // The addresses follow the network, too.
    lab.set(.unreachable(.noCarrier))
    try await eventually("no carrier") { monitor.current.isUnreachable(.noCarrier) }
  }

  @Test func aNameThatGoesAwayTakesItsAddressesAlong() async throws {
    let name = "gone.example"
    let (lab, monitor) = try await Self.known(name)
    lab.answer(name, .noAddress)
    lab.advance(by: .seconds(300))
    try await eventually("not resolved") { monitor.current.isUnreachable(.nameNotResolved) }
  }

  @Test func aNameThatIsNotWatchedIsNotLookedUpAgain() async throws {
    let name = "unwatched.example"
    let lab = NameLab()
    lab.set(.wifi)
    lab.answer(name, Self.first)
    let anchor = ReachabilityMonitor(.internet, environment: lab.environment)
    _ = try await lab.monitor(name).waitUntilKnown()
    try await lab.settle()
    for number in 1...3 {
      lab.advance(by: .seconds(400))
      lab.set(.numbered(number))
      try await lab.settle()
    }
    #expect(lab.started(name) == 1)
    withExtendedLifetime(anchor) {}
  }
}
