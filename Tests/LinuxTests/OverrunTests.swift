// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Scenarios 31 to 33 of Scenarios.md: more is announced than is read.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct OverrunTests {
  /// Watches enough IPv4 addresses that the kernel's filter passes every IPv4 route.
  private func openFilter(_ monitors: LabMonitors) async throws -> [Recording] {
    var recordings: [Recording] = []
    for number in UInt32(1)...20 {
      recordings.append(try await monitors.record(.address(IPAddress(ipv4: 0xC612_0000 + number))))  // 198.18.0.1 …
    }
    return recordings
  }

  @Test("31: 20,000 routes while nothing is read, then the default deleted: one overrun, one resynchronisation")
  func overrun() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let probe = NetworkProbe()
    let monitors = try LabMonitors(lab, source: probe.makeSource)
    let start = ContinuousClock.now
    let internet = try await monitors.record()
    let others = try await openFilter(monitors)
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    #expect(probe.counts.resynchronisations == 0)

    probe.stall()
    try lab.addRoutes(from: "100.64.0.0/32", count: 20_000, dev: "v0")
    try lab.deleteRoute("default")
    // Shortly after one reading of the tables, the next would be put off.
    try await eventually(within: .patience, "tables may be read anew") { start.duration(to: .now) > .milliseconds(150) }
    probe.resume()

    let lost = try lab.unreachable(.noRoute)
    try await monitors.expect(internet, v0, lost)
    for other in others { try await monitors.expect(other, v0, lost) }
    #expect(probe.counts.resynchronisations == 1)
    // Later events arrive, and the tables are not read anew for them.
    try lab.addRoute("default", via: "10.0.0.2", dev: "v0")
    try await monitors.expect(internet, v0, lost, v0)
    try lab.down("v0")
    let isDown = try lab.unreachable(.linkDown, "v0")
    try await internet.wait("the link is down") { $0 ≈ isDown }
    #expect(probe.counts.resynchronisations == 1)
  }

  /// While nothing is read, replaces v0 by x0, and overruns the socket. Returns once events are read again.
  private func replaceLink(_ monitors: LabMonitors, _ probe: NetworkProbe) async throws {
    let lab = monitors.lab
    let drains = probe.counts.drains
    probe.stall()
    try lab.addRoutes(from: "100.64.0.0/32", count: 20_000, dev: "w0")
    try lab.deleteLink("v0")
    try lab.addVeth("x0", "x1")
    try lab.up("x0", "x1")
    try lab.addAddress("10.2.0.1/24", "x0")
    try lab.addRoute("default", via: "10.2.0.2", dev: "x0")
    try await lab.waitUntilOperating("x0", true)
    probe.resume()
    // The tests' other waiter is not woken by events.
    monitors.environment.provider.runningEngine?.wake()
    try await eventually(within: .patience, "events are read") { probe.counts.drains > drains }
  }

  @Test("31: links and addresses that came and went during the overrun are known after it")
  func overrunOfLinks() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.makeW()
    let probe = NetworkProbe()
    let monitors = try LabMonitors(lab, source: probe.makeSource)
    let internet = try await monitors.record()
    let others = try await openFilter(monitors)
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    try await replaceLink(monitors, probe)
    try await monitors.expect(internet, v0, lab.reachable("x0", via: "10.2.0.2"))
    #expect(others.count == 20)
  }

  /// What asks while the tables are in doubt.
  enum Asker: CaseIterable {
    case nobody, now, settled
  }

  @Test("31: nothing is told until the tables are read anew", arguments: Asker.allCases)
  func nothingIsToldInDoubt(_ asker: Asker) async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    try lab.makeW()
    let probe = NetworkProbe()
    // It is always too soon to read them.
    let clock = SteppedClock(isStill: true)
    let monitors = try clock.monitors(lab, source: probe.makeSource)
    let internet = try await monitors.record()
    let path = try await monitors.recordPath()
    let others = try await openFilter(monitors)
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    try await replaceLink(monitors, probe)
    let x0 = try lab.reachable("x0", via: "10.2.0.2")
    switch asker {
    case .nobody: clock.advance(by: .milliseconds(100), monitors.environment)
    case .now:
      #expect(try lab.run { Reachability.now(environment: monitors.environment) } ≈ x0)
    case .settled:
      let drains = probe.counts.drains
      let settled = Task {
        await monitors.environment.provider.runningEngine?.settled()
        return internet.monitor.current
      }
      try await eventually(within: .patience, "it waits") { probe.counts.drains > drains }
      clock.advance(by: .milliseconds(100), monitors.environment)
      #expect(await settled.value ≈ x0)
    }
    try await monitors.expect(internet, v0, x0)
    try await monitors.expect(path, "satisfied 4: v0 4, w0", "satisfied 4: x0 4, w0")
    #expect(others.count == 20)
  }

  @Test("32: EPOLLERR beside EPOLLIN is not fatal: events are read before and after")
  func errorConditionIsRead() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.run {
      let network = LinuxNetwork()
      let descriptor = try #require(network.descriptors.first)
      try lab.addRoutes(from: "100.64.0.0/32", count: 20_000, dev: "v0")
      let overrun = try events(on: descriptor)
      #expect(overrun == EPOLLIN.rawValue | EPOLLERR.rawValue)
      var change = NetworkChange()
      network.drain(into: &change)
      // Either read anew at once, or scheduled for the time at which that is allowed again.
      #expect(change.touchesEverything || network.nextPoll != nil)
      #expect(try events(on: descriptor) == 0)
      try lab.deleteRoute("default")
      #expect(try events(on: descriptor) == EPOLLIN.rawValue)
      change = NetworkChange()
      network.drain(into: &change)
      #expect(!change.isEmpty)
    }
  }

  /// The events that epoll reports for a descriptor now.
  private func events(on descriptor: CInt) throws -> UInt32 {
    let poll = epoll_create1(0)
    defer { _ = close(poll) }
    var event = unsafe epoll_event()
    unsafe event.events = EPOLLIN.rawValue
    // The kernel copies the event during the call, and writes at most one into the other.
    try #require(unsafe epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) == 0)
    var found = unsafe epoll_event()
    return unsafe epoll_wait(poll, &found, 1, 0) == 1 ? unsafe found.events : 0
  }

  @Test("33: tables that were read anew after another overrun are not read again for the first")
  func readsOnceForTwoOverruns() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let clock = SteppedClock(isStill: true)
    try lab.run {
      let network = LinuxNetwork(try EventPoll(), time: clock.source)
      var change = NetworkChange()
      try lab.addRoutes(from: "100.64.0.0/32", count: 20_000, dev: "v0")
      network.drain(into: &change)
      // The tables were read when the network was made, so it is too soon to read them anew.
      #expect(try #require(network.nextPoll) > clock.now && network.schedule.rereadCount == 0)
      try lab.deleteRoutes(from: "100.64.0.0/32", count: 20_000, dev: "v0")
      clock.advance(by: .milliseconds(100))
      network.drain(into: &change)
      #expect(network.schedule.deadline == .max && network.schedule.rereadCount == 1)
    }
  }

  @Test("33: overruns for two seconds: the tables are read anew ten times a second at most, and are right in the end")
  func overrunsForSeconds() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let probe = NetworkProbe()
    let monitors = try LabMonitors(lab, source: probe.makeSource)
    let internet = try await monitors.record()
    let others = try await openFilter(monitors)
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    let start = ContinuousClock.now
    var overruns = 0
    while overruns < 2 || start.duration(to: .now) < .seconds(2) {
      let drains = probe.counts.drains
      probe.stall()
      try lab.addRoutes(from: "100.64.0.0/32", count: 5000, dev: "v0")
      probe.resume()
      try await eventually(within: .patience, "events are read") { probe.counts.drains > drains }
      try lab.deleteRoutes(from: "100.64.0.0/32", count: 5000, dev: "v0")
      overruns += 1
    }
    let elapsed = start.duration(to: .now)
    let limit = Int(elapsed / LabWaiter.chosen.readingSpacing) + 2
    // A busy machine makes few. More than allowed must never happen.
    #expect((1...limit).contains(probe.counts.resynchronisations))
    try await monitors.expect(internet, v0)
    try lab.down("v0")
    try await monitors.expect(internet, v0, lab.unreachable(.linkDown, "v0"))
    #expect(others.count == 20)
  }
}
#endif
