// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import Dispatch
import NetworkLab
import Synchronization
import TestSupport
import Testing

/// Scenarios 37 to 39 of Scenarios.md: the network changes while it is read.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct DumpTests {
  /// Repeats something until it is stopped, on a thread that does not belong to the tests' pool.
  private final class Churn: Sendable {
    private let isDone = Atomic(false)
    private let count = Atomic(0)
    private let group = DispatchGroup()

    /// How often it was done.
    var rounds: Int { count.load(ordering: .sequentiallyConsistent) }

    init(_ body: @escaping @Sendable (Int) throws -> Void) {
      DispatchQueue.global().async(group: group) {
        while !self.isDone.load(ordering: .sequentiallyConsistent) {
          do {
            try body(self.rounds)
          } catch {
            Issue.record(error)
            return
          }
          self.count.add(1, ordering: .sequentiallyConsistent)
        }
      }
    }

    func stop() {
      isDone.store(true, ordering: .sequentiallyConsistent)
      group.wait()
    }
  }

  @Test("37: the default is deleted while the tables are read: it does not come back")
  func defaultDeletedDuringDump() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addVeths("n", count: 200)
    let probe = NetworkProbe()
    let monitors = try LabMonitors(lab, source: probe.makeSource)
    let internet = try await monitors.record()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    let lost = try lab.unreachable(.noRoute)
    #expect(internet.states ≈ [v0])
    for _ in 0..<(isSanitized ? 8 : 15) {
      internet.forget()
      // The first turn begins with an event that changes nothing, the others begin with the dumps.
      probe.rereadTables(4)
      try lab.setMTU("v1", 1400)
      try lab.deleteRoute("default")
      try await monitors.expect(internet, v0, lost)
      internet.forget()
      probe.rereadTables(4)
      try lab.setMTU("v1", 1500)
      try lab.addRoute("default", via: "10.0.0.2", dev: "v0")
      try await monitors.expect(internet, lost, v0)
    }
  }

  @Test("38: addresses change while they are read: attempts are bounded, and what does not change is kept")
  func addressesChangeDuringDump() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.addVeths("n", count: 100)
    for number in 1...250 { try lab.addAddress("10.9.\(number / 200).\(number % 200 + 1)/16", "n\(number % 100)") }
    let v0 = try address("10.0.0.1")
    let churn = Churn { round in
      try lab.addAddress("10.8.0.\(round % 200 + 1)/16", "n0")
      try lab.deleteAddress("10.8.0.\(round % 200 + 1)/16", "n0")
    }
    defer { churn.stop() }
    try await eventually(within: .patience, "addresses come and go") { churn.rounds > 0 }
    let before = churn.rounds
    let start = ContinuousClock.now
    let attempts = try lab.run {
      var attempts: [Int] = []
      // Repeats until the kernel has noticed that the table changed while it was read. Otherwise nothing is tested.
      while attempts.count < 100 || churn.rounds < before + 100
        || !attempts.contains(where: { $0 > 1 }) && start.duration(to: .now) < .patience
      {
        var client = try NetlinkClient(.route)
        attempts.append(try client.dump(.getAddress) { _, _ in }.attempts)
        let listed = LinuxNetwork().interfaces().first { $0.interface.name == "v0" }
        #expect(listed?.addresses.contains { $0.address == v0 } == true)
      }
      return attempts
    }
    #expect(attempts.allSatisfy { (1...8).contains($0) })
    #expect(attempts.contains { $0 > 1 })
  }

  @Test("39: a target withdrawn while it is asked about, then another: each its own answer")
  func targetWithdrawn() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW()
    try lab.addRoute("203.0.113.0/24", via: "10.1.0.2", dev: "w0")
    let monitors = try LabMonitors(lab)
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    let w0 = try lab.reachable("w0", via: "10.1.0.2")
    for number in UInt32(1)...100 {
      // Withdrawn at once, whether the query was sent or not.
      _ = monitors.monitor(.address(IPAddress(ipv4: 0xC633_6400 + number)))
      let other = try await monitors.record(.address(IPAddress(ipv4: 0xCB00_7100 + number)))  // 203.0.113.0/24
      #expect(other.states ≈ [w0])
      #expect(other.last?.destination == IPAddress(ipv4: 0xCB00_7100 + number))
      let third = try await monitors.record(.address(IPAddress(ipv4: 0xC633_6400 + number)))  // 198.51.100.0/24
      #expect(third.states ≈ [v0])
    }
  }

  @Test("39: an answer that was not read is not taken for the next one's")
  func staleAnswer() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW()
    try lab.addRoute("203.0.113.0/24", via: "10.1.0.2", dev: "w0")
    try lab.run {
      let network = LinuxNetwork()
      // First many at once, with answers in several receives; then one alone.
      let many = try (1...100).map { RouteQuery(.address(try address("198.51.100.\($0)"))) }
      for _ in 0..<50 {
        var count = 0
        network.answer(many) { position, state in
          count += 1
          #expect(state.interface?.name == "v0")
          #expect(state.destination == many[position].address)
        }
        #expect(count == 100)
        #expect(answer(network, RouteQuery(.address(try address("203.0.113.1"))))?.interface?.name == "w0")
      }
    }
  }

  private func answer(_ network: LinuxNetwork, _ query: RouteQuery) -> Reachability? {
    var result: Reachability?
    network.answer([query]) { _, state in result = state }
    return result
  }
}
#endif
