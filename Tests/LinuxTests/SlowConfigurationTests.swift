// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import NetworkLab
import Synchronization
import TestSupport
import Testing

/// Files of the configuration of name resolution that are slow to read, as on a network file system that does not
/// answer.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct SlowConfigurationTests {
  /// Holds up each reader until it is opened.
  private final class Gate: Sendable {
    private let gate = eventfd(0, CInt(EFD_CLOEXEC | EFD_SEMAPHORE))
    private let isAwaited = Atomic(false)

    deinit { _ = close(gate) }

    var isReached: Bool { isAwaited.load(ordering: .sequentiallyConsistent) }

    /// Opens it for more readers than can come.
    func open() { _ = eventfd_write(gate, 1_000_000) }

    @Sendable func read() -> [IPAddress] {
      isAwaited.store(true, ordering: .sequentiallyConsistent)
      var count: eventfd_t = 0
      _ = unsafe eventfd_read(gate, &count)  // Blocks until `open`, and writes the one number.
      return [IPAddress(ipv4: 0x7F00_0001)]
    }
  }

  @Test("while the name servers are being read, nothing else waits; a path is known once they are")
  func nothingWaitsForSlowConfiguration() async throws {
    let lab = try NetworkLab.withoutOwnAddresses()
    try lab.makeB()
    let gate = Gate()
    defer { gate.open() }
    let monitors = try LabMonitors(
      lab,
      source: {
        LinuxNetwork($0, time: $1, nameConfigurationRoot: "/nonexistent", readNameServers: gate.read)
      })
    let path = PathRecording(monitors.pathMonitor())
    try await eventually(within: .patience, "the servers are being read") { gate.isReached }
    let internet = try await monitors.record()
    let v0 = try lab.reachable("v0", via: "10.0.0.2")
    try lab.deleteRoute("default")
    try await monitors.expect(internet, v0, lab.unreachable(.noRoute))
    // A synchronous question does not wait, either.
    #expect(Reachability.now(.address(try address("10.0.0.9")), environment: monitors.environment).isReachable)
    #expect(path.paths.isEmpty)
    gate.open()
    try await eventually(within: .patience, "the path is known") { !path.paths.isEmpty }
    try await monitors.settle()
    #expect(path.outlines == ["no-route: v0"])
  }
}
#endif
