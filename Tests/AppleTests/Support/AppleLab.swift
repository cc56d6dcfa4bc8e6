// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import DialtoneSystemConfiguration
import Foundation
import NetworkLab
import Synchronization
import TestSupport
import Testing

/// An environment whose engine lives in a network namespace, for code that names no environment.
final class AppleLab: Sendable {
  let lab: NetworkLab
  let environment: ReachabilityEnvironment
  let names: Names
  /// Keeps the engine from ending between two monitors.
  private let anchor: ReachabilityMonitor

  /// What names come to.
  final class Names: Sendable {
    private let results = Lock<[String: (result: NameLookupResult, latch: Latch?)]>([:])
    private let count = Atomic(0)

    /// How many lookups there were.
    var lookups: Int { count.load(ordering: .acquiring) }

    /// Lookups wait for the latch.
    func set(_ result: NameLookupResult, for name: String, after latch: Latch? = nil) {
      results.withLock { $0[name] = (result, latch) }
    }

    func lookUp(_ name: String) -> NameLookupResult {
      count.add(1, ordering: .acquiringAndReleasing)
      guard let (result, latch) = results.withLock({ $0[name] }) else { return .noAddress }
      latch?.wait()
      return result
    }
  }

  /// - Parameters:
  ///   - lab: The namespace.
  ///   - root: The folder that contains `etc/resolv.conf`; without one, the server on this machine counts.
  /// - Throws: If the engine's first thread cannot be started there.
  init(_ lab: NetworkLab, nameConfigurationRoot root: String = "/nonexistent") throws {
    let names = Names()
    let provider = EngineProvider(
      lookup: { name, _ in names.lookUp(name) },
      makeSource: { LinuxNetwork($0, time: $1, nameConfigurationRoot: root) })
    let environment = ReachabilityEnvironment(provider)
    self.lab = lab
    self.names = names
    self.environment = environment
    anchor = try Self.anchor(environment, in: lab)
  }

  /// Starts the engine in the namespace: its threads belong to the one of the thread that makes the first monitor, and
  /// its sockets to the one of its threads, or of the thread that asks first. So this asks before anybody else does.
  static func anchor(_ environment: ReachabilityEnvironment, in lab: NetworkLab) throws -> ReachabilityMonitor {
    try lab.run {
      let monitor = ReachabilityMonitor(.localNetwork, environment: environment)
      _ = Reachability.now(.localNetwork, environment: environment)
      return monitor
    }
  }

  /// B of Scenarios.md: v0 with 10.0.0.1/24 and a default route.
  static func b(metric: UInt32? = nil) throws -> AppleLab {
    let lab = try NetworkLab()
    try lab.makeB(metric: metric)
    return try AppleLab(lab)
  }

  /// Runs code that makes monitors and targets without naming an environment.
  func within<Value>(_ body: () throws -> Value) rethrows -> Value {
    try ReachabilityEnvironment.$assumed.withValue(environment, operation: body)
  }
}

/// A folder with an `etc/resolv.conf` of the test's own.
final class ResolverFolder: Sendable {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "dialtone-\(UUID())")

  /// The folder, as `nameConfigurationRoot`.
  var root: String { folder.path }

  // Its server is the only one.
  init(server: String) throws {
    try FileManager.default.createDirectory(at: folder.appending(path: "etc"), withIntermediateDirectories: true)
    try set(server: server)
  }

  deinit {
    do { try FileManager.default.removeItem(at: folder) } catch { Issue.record(error) }
  }

  func set(server: String) throws {
    try Data("nameserver \(server)\n".utf8).write(to: folder.appending(path: "etc/resolv.conf"))
  }
}

/// What came, in order.
final class Log<Element: Sendable>: Sendable {
  private let elements = Lock<[Element]>([])

  func append(_ element: Element) { elements.withLock { $0.append(element) } }

  var all: [Element] { elements.withLock { $0 } }
  var count: Int { all.count }
  var last: Element? { all.last }

  /// Waits until the last one meets the condition.
  func wait(_ what: String, until condition: @Sendable (Element) -> Bool) async throws {
    do {
      try await eventually(what) { last.map(condition) ?? false }
    } catch {
      throw DidNotHappen("\(error); came: \(all)")
    }
  }
}

/// Reads an address that is one. (Both `Dialtone` and Apple's interface have a type of that name.)
func address(_ text: String) throws -> Dialtone.IPAddress {
  guard let address = Dialtone.IPAddress(text) else { throw DidNotHappen("\(text) is an address") }
  return address
}

extension DispatchQueue {
  /// Returns once everything that is on the queue has run.
  func drain() async {
    await withCheckedContinuation { continuation in async { continuation.resume() } }
  }
}
#endif
