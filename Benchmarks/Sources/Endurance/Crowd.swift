// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CBenchmark
import Dialtone
import DialtoneSites
import Dispatch
import Synchronization

final class Counter: Sendable {
  private let count = Atomic(0)

  var value: Int { count.load(ordering: .relaxed) }

  func add() { count.add(1, ordering: .relaxed) }
}

/// Monitors and receivers that come and go.
final class Crowd {
  private enum Member {
    case closure(ReachabilityMonitor, ReachabilityObservation)
    case task(Task<Void, Never>)
    case paused(ReachabilityMonitor)
    case path(PathMonitor, ReachabilityObservation)
    case site(SiteMonitor, ReachabilityObservation)
  }

  /// Above 16 addresses, the kernel's filter passes all routes.
  private static let limit = 40

  private var members: [Member] = []
  private let queue = DispatchQueue(label: "endurance")
  private let told = Counter()
  private let site: SiteURL
  /// How many there were in all.
  private(set) var count = 0

  init() throws {
    // A server of this process, on a thread of its own.
    let port = bench_serve_on_thread()
    if port <= 0 { throw Failure("cannot serve") }
    site = try SiteURL("http://127.0.0.1:\(port)/")
  }

  func removeAll() {
    for case .task(let task) in members { task.cancel() }
    members = []
  }

  /// Adds one, removes one, or asks something.
  func step(_ numbers: inout Numbers) async throws {
    let target = Self.target(&numbers)
    if members.count >= Self.limit || (!members.isEmpty && Int.random(in: 0..<3, using: &numbers) == 0) {
      if case .task(let task) = members.remove(at: Int.random(in: 0..<members.count, using: &numbers)) { task.cancel() }
      return
    }
    count += 1
    let told = told
    switch Int.random(in: 0..<8, using: &numbers) {
    case 0..<2:
      let monitor = ReachabilityMonitor(target)
      members.append(.closure(monitor, monitor.observe { _ in told.add() }))
    case 2:
      let monitor = ReachabilityMonitor(target)
      members.append(.closure(monitor, monitor.observe(on: queue) { _ in told.add() }))
    case 3..<5:
      let updates = ReachabilityMonitor(target).updates
      members.append(.task(Task { for await _ in updates { told.add() } }))
    case 5:
      let monitor = ReachabilityMonitor(target)
      monitor.pause()
      if Bool.random(using: &numbers) { monitor.resume() }
      members.append(.paused(monitor))
    case 6:
      let monitor = PathMonitor()
      members.append(.path(monitor, monitor.observe { _ in told.add() }))
    default:
      let monitor = try SiteMonitor(site)
      members.append(.site(monitor, monitor.observe { _ in told.add() }))
    }
    _ = Reachability.now(target)
  }

  private static func target(_ numbers: inout Numbers) -> ReachabilityTarget {
    switch Int.random(in: 0..<6, using: &numbers) {
    case 0: .internet
    case 1: .localNetwork
    default: .address(IPAddress(ipv4: 0xC000_0200 + UInt32.random(in: 1...60, using: &numbers)))
    }
  }
}
