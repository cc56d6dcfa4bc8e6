// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneNIO
import Foundation
import NetworkLab
import Synchronization
import TestSupport
import NIOPosix
import Testing

/// Whatever happens to the network, no connection is closed that works. An untouched twin, between the same addresses
/// and asked at the same time, shows whether it does.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(60)), .fewAtATime)
struct RandomChangesTests {
  /// `DIALTONE_CHANGES=1000 swift test --filter RandomChangesTests` plays as many.
  private static let count = ProcessInfo.processInfo.environment["DIALTONE_CHANGES"].flatMap(Int.init) ?? 12
  private static let grace = ConnectionPolicy().grace

  private struct Change {
    let name: String
    let make: @Sendable (ConnectionLab) throws -> Void
    let undo: @Sendable (ConnectionLab) throws -> Void
  }

  private static let changes = [
    Change(name: "address gone") {
      try $0.client.deleteAddress("10.0.0.1/24", "u0")
    } undo: {
      try $0.client.addAddress("10.0.0.1/24", "u0")
      try $0.client.addRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    },
    Change(name: "route gone") {
      try $0.client.deleteRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    } undo: {
      try $0.client.addRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    },
    Change(name: "carrier gone") {
      try $0.server.down("s0")
    } undo: {
      try $0.server.up("s0")
    },
    Change(name: "unreachable route") {
      try $0.client.addRoute("192.0.2.80/32", kind: .unreachable)
    } undo: {
      try $0.client.deleteRoute("192.0.2.80/32", kind: .unreachable)
    },
    Change(name: "default moved") {
      try $0.client.addRoute("default", via: "10.0.1.2", dev: "u1", metric: 10)
    } undo: {
      try $0.client.deleteRoute("default", via: "10.0.1.2", dev: "u1", metric: 10)
    },
    Change(name: "default moved, the router drops the old source") {
      try $0.server.sysctl("ipv4/conf/s1/rp_filter", 1)
      try $0.client.addRoute("default", via: "10.0.1.2", dev: "u1", metric: 10)
    } undo: {
      try $0.client.deleteRoute("default", via: "10.0.1.2", dev: "u1", metric: 10)
      try $0.server.sysctl("ipv4/conf/s1/rp_filter", 0)
    },
    Change(name: "a rule for the old source without a route") {
      try $0.client.addRoute("0.0.0.0/0", table: 77, kind: .unreachable)
      try $0.client.addRule(priority: 50, .lookup(77), from: "10.0.0.1/32")
    } undo: {
      try $0.client.deleteRule(priority: 50)
      try $0.client.deleteRoute("0.0.0.0/0", table: 77, kind: .unreachable)
    },
    Change(name: "another address") {
      try $0.client.addAddress("10.0.0.9/24", "u0")
    } undo: {
      try $0.client.deleteAddress("10.0.0.9/24", "u0")
    },
    Change(name: "another metric") {
      try $0.client.addRoute("default", via: "10.0.0.2", dev: "u0", metric: 20)
    } undo: {
      try $0.client.deleteRoute("default", via: "10.0.0.2", dev: "u0", metric: 20)
    },
    Change(name: "links come and go") {
      try $0.client.addVeth("x", "y")
      try $0.client.up("x", "y")
      try $0.client.addAddress("10.9.0.1/24", "x")
    } undo: {
      try $0.client.deleteLink("x")
    },
  ]

  @Test func nothingIsClosedThatWorks() async throws {
    let lab = try await ConnectionLab()
    let registry = lab.registry()
    var numbers = SeededNumbers(seed: 25)
    var closed = 0
    var kept = 0
    var ours = try await connect(lab, registry)
    var twin = try await connect(lab, nil)
    for number in 1...Self.count {
      try await ours.echo("an answer before change \(number)")
      try await twin.echo("an answer before change \(number)")
      let change = Self.changes[Int.random(in: Self.changes.indices, using: &numbers)]
      let activity = [ConnectionActivity.idle, .repeatable, .busy][Int.random(in: 0..<3, using: &numbers)]
      ours.set(activity)
      let before = twin.received.withLock { $0 }
      try change.make(lab)
      let start = ContinuousClock.now
      twin.send()
      if activity != .idle { ours.send() }
      // Until the grace has passed, or everything is well.
      while ContinuousClock.now - start < Self.grace + .seconds(1), ours.isOpen {
        let condition = try await ours.condition()
        if twin.received.withLock({ $0 }) > before, condition == .fine, ContinuousClock.now - start > .milliseconds(100)
        {
          break
        }
        try await Task.sleep(for: .milliseconds(10))
      }
      let works = twin.received.withLock { $0 } > before
      if ours.isOpen {
        kept += 1
      } else {
        closed += 1
        // It may have answered late; it was given the whole grace from the change on.
        #expect(!works, "change \(number), \(change.name), \(activity): closed, and it worked: \(ours.lost as Any)")
      }
      try change.undo(lab)
      if !ours.isOpen { ours = try await connect(lab, registry) }
      try await twin.close()
      twin = try await connect(lab, nil)
    }
    print("random changes: \(Self.count); closed \(closed), kept \(kept)")
    try await lab.stop()
  }

  /// The path may be some moments away from working.
  private func connect(_ lab: ConnectionLab, _ registry: ConnectionRegistry?) async throws -> LabConnectionEnd {
    let gate = PathGate(environment: lab.environment)
    try await gate.waitForPath(to: .address(IPAddress(ipv4: 0xC000_0250)), timeout: .seconds(30))
    let start = ContinuousClock.now
    while true {
      do {
        return try await lab.connect(registry)
      } catch let error as NIOConnectionError {
        if ContinuousClock.now - start > .seconds(30) { throw error }
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }
}
#endif
