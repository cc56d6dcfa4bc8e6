// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// Promise 2: two deliveries in a row to one receiver are never equal. Source and destination alone cause none.
@Suite(.timeLimit(.minutes(5)))
struct Promise2ChangeTests {
  private static let gateway = ip("192.0.2.1")
  private static let base = ScriptedPath.reachable(over: interface("wlan0"), gateway: gateway)

  /// Paths that differ from the base in one thing that counts.
  private static let changes: [(what: String, path: ScriptedPath)] = [
    ("status", .requiresConnection(.dormant, over: interface("wlan0"))),
    ("reason", .unreachable(.noCarrier)),
    ("flags", .reachable(over: interface("wlan0", 2, .cellular), gateway: gateway)),
    ("the interface's name", .reachable(over: interface("wlan1"), gateway: gateway)),
    ("the interface's index", .reachable(over: interface("wlan0", 7), gateway: gateway)),
    ("the interface's kind", .reachable(over: interface("wlan0", 2, .wired), gateway: gateway)),
    ("gateway", .reachable(over: interface("wlan0"), gateway: ip("192.0.2.254"))),
  ]

  @Test(arguments: Receiver.allCases, 0..<7)
  func deliversWhatCounts(receiver: Receiver, position: Int) async throws {
    let (what, path) = Self.changes[position]
    let network = scriptedNetwork()
    network.set(Self.base)
    let log = Log<Reachability>()
    let reception = await receiver.follow(network.monitor()) { log.append($0) }
    try await log.wait("the first state") { $0.isReachable }
    network.set(path)
    try await eventually("a change of \(what) is delivered") { log.count == 2 }
    #expect(log.hasNoRepetition)
    reception.cancel()
  }

  @Test func deliversAChangeOfReasonAlone() async throws {
    let network = scriptedNetwork()
    let log = Log<Reachability>()
    let token = network.monitor().observe { log.append($0) }
    try await log.wait("no route") { $0.isUnreachable(.noRoute) }
    network.set(.unreachable(.prohibited))
    try await log.wait("prohibited") { $0.isUnreachable(.prohibited) }
    #expect(log.count == 2)
    token.cancel()
  }

  @Test(arguments: Receiver.allCases)
  func sourceAloneMakesNoDelivery(receiver: Receiver) async throws {
    func path(_ source: String) -> ScriptedPath {
      .reachable(over: interface("wlan0"), gateway: Self.gateway, source: ip(source))
    }
    let network = scriptedNetwork()
    network.set(path("192.0.2.7"))
    let monitor = network.monitor()
    let log = Log<Reachability>()
    let reception = await receiver.follow(monitor) { log.append($0) }
    try await log.wait("the first state") { $0.source == ip("192.0.2.7") }
    network.set(path("192.0.2.8"))
    try await eventually("the source is read along") { monitor.current.source == ip("192.0.2.8") }
    try await network.settle()
    network.set(.unreachable())
    try await log.wait("unreachable") { !$0.isReachable }
    #expect(log.count == 2)
    reception.cancel()
  }

  @Test(arguments: Receiver.allCases)
  func destinationAloneMakesNoDelivery(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.addresses([ip("192.0.2.10")]), forName: "moves.example")
    let monitor = network.monitor(try .host("moves.example"))
    let log = Log<Reachability>()
    let reception = await receiver.follow(monitor) { log.append($0) }
    try await log.wait("the first state") { $0.destination == ip("192.0.2.10") }
    network.set(.addresses([ip("192.0.2.20")]), forName: "moves.example")
    network.clock.advance(by: .seconds(300))
    try await eventually("the destination is read along") { monitor.current.destination == ip("192.0.2.20") }
    try await network.settle()
    network.set(.unreachable())
    try await log.wait("unreachable") { !$0.isReachable }
    #expect(log.count == 2)
    reception.cancel()
  }

  @Test(arguments: Receiver.allCases)
  func theSameAgainMakesNoDelivery(receiver: Receiver) async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    let log = Log<Reachability>()
    let monitor = network.monitor()
    // The state is known before the receiver begins: its first state must not be delivered twice either.
    _ = try await monitor.waitUntilKnown()
    let reception = await receiver.follow(monitor) { log.append($0) }
    try await log.wait("the first state") { $0.isReachable }
    for _ in 0..<20 {
      network.set(.wifi)
      try await network.settle()
    }
    network.set(.cellular)
    try await log.wait("the change") { $0.isVia("wwan0") }
    #expect(log.count == 2)
    reception.cancel()
  }

  @Test(arguments: Receiver.exact)
  func neverRepeatsInAStorm(receiver: Receiver) async throws {
    var random = SystemRandomNumberGenerator()
    let seed = UInt64.random(in: 0 ... .max, using: &random)
    var numbers = SeededNumbers(seed: seed)
    let network = scriptedNetwork()
    let log = Log<Reachability>()
    let reception = await receiver.follow(network.monitor()) { log.append($0) }
    let paths: [ScriptedPath] = [.wifi, .wifi, .wired, .cellular, .unreachable(), .denied]
    for _ in 0..<1_000 {
      network.set(paths[Int.random(in: 0..<paths.count, using: &numbers)])
      if Int.random(in: 0..<4, using: &numbers) == 0 { await Task.yield() }
      if Int.random(in: 0..<50, using: &numbers) == 0 { try await network.settle() }
    }
    network.set(.numbered(99))
    try await log.wait("the last state") { $0.number == 99 }
    #expect(log.hasNoRepetition, "seed \(seed)")
    reception.cancel()
  }
}
