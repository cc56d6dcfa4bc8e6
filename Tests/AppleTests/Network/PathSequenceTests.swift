// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import DialtoneNetwork
import NetworkLab
import TestSupport
import Testing

/// Iterating over an `NWPathMonitor`.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct PathSequenceTests {
  @Test("the known path comes first, then each change, without a start")
  func iterates() async throws {
    let lab = try AppleLab.b()
    var paths = lab.within { NWPathMonitor() }.makeAsyncIterator()
    // The carrier may come a moment after the address.
    var path = await paths.next()
    while path?.status == .unsatisfied { path = await paths.next() }
    #expect(path?.status == .satisfied)
    try lab.lab.down("v0")
    #expect(await paths.next()?.status == .unsatisfied)
    try lab.lab.makeW(metric: 1)
    path = await paths.next()
    while path?.status == .unsatisfied { path = await paths.next() }
    #expect(path?.availableInterfaces.map(\.name) == ["w0"])
  }

  @Test("the cancellation of the monitor ends the iteration, also of one that begins later")
  func endsWithTheMonitor() async throws {
    let lab = try AppleLab.b()
    let monitor = lab.within { NWPathMonitor() }
    let log = Log<NWPath>()
    let task = Task { for await path in monitor { log.append(path) } }
    try await log.wait("a path") { $0.status == .satisfied }
    monitor.cancel()
    await task.value
    for await path in monitor { Issue.record("came after the end: \(path)") }
    #expect(monitor.queue == nil)
  }

  @Test("the cancellation of the task ends the iteration, and the monitor is released")
  func endsWithTheTask() async throws {
    let lab = try AppleLab.b()
    weak let held: NWPathMonitor?
    let log = Log<NWPath>()
    do {
      let monitor = lab.within { NWPathMonitor() }
      held = monitor
      let task = Task { for await path in monitor { log.append(path) } }
      try await log.wait("a path") { $0.status == .satisfied }
      task.cancel()
      await task.value
    }
    try await eventually("it is released") { held == nil }
  }

  @Test("a started monitor can be iterated, too, by several")
  func sharesAStartedMonitor() async throws {
    let lab = try AppleLab.b()
    let monitor = lab.within { NWPathMonitor() }
    let handled = Log<NWPath>()
    monitor.pathUpdateHandler = { handled.append($0) }
    monitor.start(queue: .init(label: "paths"))
    var (one, other) = (monitor.makeAsyncIterator(), monitor.makeAsyncIterator())
    #expect(await one.next()?.status == .satisfied)
    #expect(await other.next()?.status == .satisfied)
    try await handled.wait("a path") { $0.status == .satisfied }
    monitor.cancel()
    #expect(await one.next() == nil)
    #expect(await other.next() == nil)
  }
}
#endif
