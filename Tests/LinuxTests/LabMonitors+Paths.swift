// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import NetworkLab
import Synchronization
import TestSupport
import Testing

extension LabMonitors {
  /// Without the name servers of the machine that runs the tests. The one on this machine supports DNS if there is a
  /// path.
  static func forPaths(_ lab: NetworkLab, waiter: LabWaiter = .chosen) throws -> LabMonitors {
    try LabMonitors(
      lab, waiter: waiter, source: { LinuxNetwork($0, time: $1, nameConfigurationRoot: "/nonexistent") })
  }

  func pathMonitor(_ configure: (inout PathConfiguration) -> Void = { _ in }) -> PathMonitor {
    var configuration = PathConfiguration()
    configure(&configuration)
    return PathMonitor(configuration: configuration, environment: environment)
  }

  /// A path monitor, with a record of everything that it delivers from the first known path on.
  func recordPath(_ configure: (inout PathConfiguration) -> Void = { _ in }) async throws -> PathRecording {
    try await lab.waitForCarriers()
    let recording = PathRecording(pathMonitor(configure))
    try await eventually(within: .patience, "the path is known") { !recording.paths.isEmpty }
    return recording
  }

  /// Waits for the last of the outlines, then for everything announced so far. Expects that exactly `expected` was
  /// delivered.
  func expect(
    _ recording: PathRecording, _ expected: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    do {
      try await eventually(within: .patience, "the last one is delivered") {
        recording.outlines.last == expected.last
      }
    } catch {
      // The expectation below reports it, with everything that was delivered.
    }
    try await settle()
    #expect(recording.outlines == expected, sourceLocation: sourceLocation)
  }
}

extension NetworkLab {
  /// A lab in which links have only the addresses that a test adds: the kernel adds its link-local ones at a time of
  /// its own.
  static func withoutOwnAddresses() throws -> NetworkLab {
    let lab = try NetworkLab()
    // IN6_ADDR_GEN_MODE_NONE (linux/if_link.h)
    try lab.sysctl("ipv6/conf/default/addr_gen_mode", 1)
    return lab
  }
}

/// What was delivered to a plain handler, in order.
final class PathRecording: Sendable {
  private final class Log: Sendable {
    let paths = Mutex<[NetworkPath]>([])
  }

  let monitor: PathMonitor
  private let observation: ReachabilityObservation
  private let log: Log

  init(_ monitor: PathMonitor) {
    let log = Log()
    self.monitor = monitor
    self.log = log
    observation = monitor.observe { path in log.paths.withLock { $0.append(path) } }
  }

  var paths: [NetworkPath] { log.paths.withLock { $0 } }
  var last: NetworkPath? { paths.last }
  var outlines: [String] { paths.map(\.outline) }

  /// Waits until the last path delivered meets the condition.
  func wait(_ what: String, until condition: @Sendable (NetworkPath) -> Bool) async throws {
    do {
      try await eventually(within: .patience, what) { last.map(condition) ?? false }
    } catch {
      throw LabError("\(error); delivered: \(outlines)")
    }
  }
}

extension NetworkPath {
  /// What a test compares: the status or the reason, the families, then each interface with the families over which it
  /// leads to the Internet, as in "satisfied 4: v0 4, w0 46, x0".
  var outline: String {
    let state = reason?.identifier ?? "\(status)"
    let interfaces = interfaces.map { interface in
      [interface.name, Self.families(interface.supportsIPv4, interface.supportsIPv6)].filter { !$0.isEmpty }
        .joined(separator: " ")
    }
    let families = Self.families(supportsIPv4, supportsIPv6)
    return [state, families].filter { !$0.isEmpty }.joined(separator: " ") + ": "
      + interfaces.joined(separator: ", ")
  }

  private static func families(_ ipv4: Bool, _ ipv6: Bool) -> String { (ipv4 ? "4" : "") + (ipv6 ? "6" : "") }
}
#endif
