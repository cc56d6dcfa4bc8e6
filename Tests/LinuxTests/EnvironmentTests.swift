// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Scenarios 41, 44 and 48 of Scenarios.md (40 is in ``ForeignMessageTests``, 42 and 43 in ``DenialTests``): the
/// surroundings of a monitor.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)), .threadsApart)
struct EnvironmentTests {
  @Test("41: two monitors of one engine, and a second engine: all are told")
  func twoMonitors() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let monitors = try LabMonitors(lab)
    let others = try LabMonitors(lab)
    let (one, two) = (try await monitors.record(), try await monitors.record())
    let ofOther = try await others.record()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    let down = try lab.unreachable(.linkDown, "v0")
    try lab.down("v0")
    for recording in [one, two] { try await monitors.expect(recording, v0, down) }
    try await others.expect(ofOther, v0, down)
  }

  @Test("41: another process that listens is told, too", .enabled(if: NetworkLab.hasIPRoute2, "needs the command ip"))
  func twoProcesses() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let paths = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"]
    // The path is only read, during the call.
    let path = try #require(paths.first { unsafe access($0, X_OK) == 0 })
    let other = try lab.spawn(path, ["monitor", "route"])
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    let w0 = try lab.reachable("v0", via: "10.0.0.3")
    // It begins to listen some time after it starts: the default changes to and fro until it prints something.
    var said: String?
    var expected = [v0]
    while said == nil, expected.count < 200 {
      let isBack = expected.count % 2 == 0
      try lab.route(.replace, "default", via: isBack ? "10.0.0.2" : "10.0.0.3", dev: "v0")
      expected.append(isBack ? v0 : w0)
      try await internet.wait("step \(expected.count)") { $0 ≈ (isBack ? v0 : w0) }
      // The kernel's own routes are announced, too. An error means that no line came in this time. Then the outer loop
      // goes on; without a line it ends after 200 steps, which is judged below.
      while let line = try? await other.output.line(within: .milliseconds(50)) {
        if line.contains("default via 10.0.0.") { said = line }
      }
    }
    #expect(said != nil)
    try await monitors.settle()
    #expect(internet.states ≈ expected)
  }

  @Test("44: engines stop while blocked, their descriptors' numbers are used again at once: no leak, no cross-read")
  func stopWhileBlocked() async throws {
    await #expect(processExitsWith: .success) {
      let lab = try NetworkLab()
      try lab.makeB()
      let limits = Leftovers.Limits(threads: 19, residentMemory: 1 << 20)
      let left = try await Leftovers(within: limits) {
        for _ in 0..<20 { try await EnvironmentTests.startAndStop(lab) }
      }
      #expect(left.isWithin(limits), "\(left)")
    }
  }

  /// Releases an engine while it blocks in its wait for events. Pipes take the numbers of its descriptors.
  private static func startAndStop(_ lab: NetworkLab) async throws {
    let probe = NetworkProbe()
    var monitors: LabMonitors? = try LabMonitors(lab, source: probe.makeSource)
    var recording: Recording? = try await monitors?.record()
    #expect(recording?.last?.isReachable == true)
    let numbers = Set(probe.counts.descriptors)
    recording = nil
    monitors = nil
    var pipes: [[CInt]] = []
    // Each number is taken as soon as it is free.
    try await eventually(within: .patience, "the numbers are used again") {
      var ends: [CInt] = [-1, -1]
      try #require(unsafe pipe(&ends) == 0)  // Writes both.
      pipes.append(ends)
      var byte = UInt8(truncatingIfNeeded: pipes.count)
      try #require(unsafe write(ends[1], &byte, 1) == 1)
      return pipes.joined().filter(numbers.contains).count == numbers.count || pipes.count > 200
    }
    #expect(pipes.joined().contains(where: numbers.contains))
    // Nothing has been read from them. (Without a writer an empty pipe is at its end, instead of blocking.)
    for (index, ends) in pipes.enumerated() {
      var byte: UInt8 = 0
      _ = close(ends[1])
      defer { _ = close(ends[0]) }
      #expect(unsafe read(ends[0], &byte, 1) == 1)
      #expect(byte == UInt8(truncatingIfNeeded: index + 1))
    }
  }

  @Test("48: without NetworkManager and D-Bus, with an empty /run, every change is told")
  func withoutServices() async throws {
    let lab = try NetworkLab(ownMounts: true)
    let empty = try TemporaryFolder()
    defer { withExtendedLifetime(empty) {} }
    try lab.bindMount(empty.path, over: "/run")
    try lab.makeB()
    let isThere = try lab.run { unsafe access("/run/dbus/system_bus_socket", F_OK) == 0 }
    #expect(!isThere)
    let monitors = try LabMonitors(lab)
    let internet = try await monitors.record()
    let local = try await monitors.record(.localNetwork) { $0.interface = "v0" }
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    try await monitors.expect(local, lab.reachable("v0", flags: .isDirect))
    try lab.down("v0")
    try await monitors.expect(internet, v0, lab.unreachable(.linkDown, "v0"))
  }
}
#endif
