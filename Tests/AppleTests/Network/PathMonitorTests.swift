// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import DialtoneNetwork
import Dispatch
import NetworkLab
import Synchronization
import TestSupport
import Testing

/// `NWPathMonitor` over real links and routes, by what Apple's documentation says of it.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct PathMonitorTests {
  private let queue = DispatchQueue(label: "paths")

  /// A started monitor and what it delivered.
  private func start(_ monitor: NWPathMonitor) -> Log<NWPath> {
    let log = Log<NWPath>()
    monitor.pathUpdateHandler = { log.append($0) }
    monitor.start(queue: queue)
    return log
  }

  @Test("before the start it is unsatisfied, without interfaces and queue")
  func isUnsatisfiedBeforeTheStart() throws {
    let monitor = try AppleLab.b().within { NWPathMonitor() }
    let path = monitor.currentPath
    #expect(path.status == .unsatisfied && path.unsatisfiedReason == .notAvailable)
    #expect(path.availableInterfaces.isEmpty && path.gateways.isEmpty)
    #expect(!path.supportsIPv4 && !path.supportsIPv6 && !path.supportsDNS && !path.isExpensive && !path.isConstrained)
    #expect(monitor.queue == nil)
  }

  @Test("the first path comes on the queue at once, with everything the kernel says")
  func theFirstPathComesOnTheQueue() async throws {
    let lab = try AppleLab.b()
    // The kernel says some time after the link is up that it operates (Documentation/networking/operstates.rst).
    let before = start(lab.within { NWPathMonitor() })
    try await before.wait("the link operates") { $0.status == .satisfied && $0.supportsDNS }
    let monitor = lab.within { NWPathMonitor() }
    let key = DispatchSpecificKey<Int>()
    queue.setSpecific(key: key, value: 7)
    let log = Log<(NWPath, Int?)>()
    monitor.pathUpdateHandler = { log.append(($0, DispatchQueue.getSpecific(key: key))) }
    monitor.start(queue: queue)
    #expect(monitor.queue === queue)
    try await log.wait("a path") { _ in true }
    let (path, number) = try #require(log.last)
    #expect(number == 7)
    #expect(path.status == .satisfied && path.supportsIPv4 && !path.supportsIPv6 && path.supportsDNS)
    #expect(path.availableInterfaces.map(\.name) == ["v0"])
    #expect(path.availableInterfaces.first?.index == Int(try lab.lab.index(of: "v0")))
    #expect(path.usesInterfaceType(.wiredEthernet) && !path.usesInterfaceType(.wifi))
    #expect(path.gateways == [.hostPort(host: "10.0.0.2", port: 0)])
    #expect(path.localEndpoint == nil && path.remoteEndpoint == nil)
    #expect(monitor.currentPath == path)
    monitor.cancel()
  }

  /// A packet that is bound to an interface passes over a route that rejects others (RT6_LOOKUP_F_IFACE,
  /// net/ipv6/route.c). connect(2) of a socket that is bound to none fails.
  @Test("no gateway is of a family that the path does not have")
  func namesNoGatewayOfAnotherFamily() async throws {
    let lab = try AppleLab.b()
    try lab.lab.addAddress("2001:db8::1/64", "v0")
    try lab.lab.addRoute("default", via: "2001:db8::2", dev: "v0", metric: 100, onLink: true)
    let log = start(lab.within { NWPathMonitor() })
    let router = NWEndpoint.hostPort(host: "10.0.0.2", port: 0)
    try await log.wait("both families") {
      $0.supportsIPv4 && $0.supportsIPv6 && $0.gateways == [router, .hostPort(host: "2001:db8::2", port: 0)]
    }
    try lab.lab.addRoute("default", metric: 50, kind: .unreachable, family: .v6)
    try await log.wait("one of them") { $0.supportsIPv4 && !$0.supportsIPv6 && $0.gateways == [router] }
  }

  @Test("a name server over a prohibited interface is none")
  func aNameServerBeyondTheRestrictionIsNone() async throws {
    let folder = try ResolverFolder(server: "192.0.2.53")
    let network = try NetworkLab()
    try network.makeB()
    let lab = try AppleLab(network, nameConfigurationRoot: folder.root)
    let all = start(lab.within { NWPathMonitor() })
    try await all.wait("dns by the wire") { $0.status == .satisfied && $0.supportsDNS }
    let others = start(lab.within { NWPathMonitor(prohibitedInterfaceTypes: [.wiredEthernet]) })
    try await others.wait("nothing") { $0.status == .unsatisfied && !$0.supportsDNS }
    let wired = start(lab.within { NWPathMonitor(requiredInterfaceType: .wiredEthernet) })
    try await wired.wait("dns by the wire that is asked for") { $0.status == .satisfied && $0.supportsDNS }
    #expect(!others.all.contains { $0.supportsDNS })
    withExtendedLifetime(folder) {}
  }

  /// Unsatisfied for another reason, which `NWPath` does not tell.
  @Test("two paths in a row are never equal")
  func aChangeThatDoesNotShowIsNotTold() async throws {
    let lab = try AppleLab.b()
    let monitor = lab.within { NWPathMonitor() }
    let log = start(monitor)
    let iterated = Log<NWPath>()
    let reasons = Log<Reachability.Reason?>()
    let iteration = Task { for await path in monitor { iterated.append(path) } }
    let observation = PathMonitor(environment: lab.environment).observe { reasons.append($0.reason) }
    try await log.wait("satisfied") { $0.status == .satisfied }
    try await iterated.wait("satisfied") { $0.status == .satisfied }
    try lab.lab.down("v0")
    try await log.wait("unsatisfied") { $0.status == .unsatisfied }
    try await iterated.wait("unsatisfied") { $0.status == .unsatisfied }
    let first = reasons.last
    try lab.lab.deleteLink("v0")
    try await reasons.wait("another reason") { $0 != first }
    try lab.lab.makeW(metric: 50)
    for log in [log, iterated] {
      try await log.wait("satisfied again") { $0.status == .satisfied }
      #expect(zip(log.all, log.all.dropFirst()).allSatisfy { $0 != $1 }, "\(log.all)")
    }
    monitor.cancel()
    await iteration.value
    observation.cancel()
  }

  @Test("it follows a link that is lost, gained, and another that is preferred")
  func followsTheLinks() async throws {
    let lab = try AppleLab.b(metric: 100)
    let log = start(lab.within { NWPathMonitor() })
    try await log.wait("v0") { $0.availableInterfaces.map(\.name) == ["v0"] }
    try lab.lab.down("v0")
    try await log.wait("nothing") { $0.status == .unsatisfied && $0.availableInterfaces.isEmpty }
    try lab.lab.up("v0")
    try lab.lab.addRoute("default", via: "10.0.0.2", dev: "v0", metric: 100)
    try await log.wait("v0 again") { $0.status == .satisfied }
    try lab.lab.makeW(metric: 50)
    try await log.wait("w0 before v0") { $0.availableInterfaces.map(\.name) == ["w0", "v0"] }
    try lab.lab.deleteRoute("default", dev: "w0", metric: 50)
    try await log.wait("v0 alone") { $0.availableInterfaces.map(\.name) == ["v0"] }
  }

  @Test("DNS that appears later is told")
  func tellsDNSThatAppearsLater() async throws {
    // No route leads there: IPv6 is not configured.
    let resolver = try ResolverFolder(server: "2001:db8::53")
    let lab = try NetworkLab()
    try lab.makeB()
    let environment = try AppleLab(lab, nameConfigurationRoot: resolver.root)
    let log = start(environment.within { NWPathMonitor() })
    try await log.wait("a path without DNS") { $0.status == .satisfied && !$0.supportsDNS }
    try resolver.set(server: "10.0.0.53")
    try await log.wait("DNS") { $0.status == .satisfied && $0.supportsDNS }
    withExtendedLifetime(resolver) {}
  }

  @Test("required and prohibited types count")
  func restrictsTheTypes() async throws {
    let lab = try AppleLab.b()
    let wired = start(lab.within { NWPathMonitor(requiredInterfaceType: .wiredEthernet) })
    let wifi = start(lab.within { NWPathMonitor(requiredInterfaceType: .wifi) })
    let prohibited = start(lab.within { NWPathMonitor(prohibitedInterfaceTypes: [.wifi, .wiredEthernet]) })
    let rest = start(lab.within { NWPathMonitor(prohibitedInterfaceTypes: [.cellular]) })
    let channel = start(lab.within { NWPathMonitor.ethernetChannel })
    for log in [wired, rest, channel] { try await log.wait("satisfied") { $0.status == .satisfied } }
    for log in [wifi, prohibited] { try await log.wait("unsatisfied") { $0.status == .unsatisfied } }
  }

  @Test("after the cancellation nothing comes, and it cannot be started again")
  func endsWithTheCancellation() async throws {
    let lab = try AppleLab.b()
    let monitor = lab.within { NWPathMonitor() }
    let log = start(monitor)
    try await log.wait("a path") { $0.status == .satisfied }
    // On its queue, so that no call is about to begin.
    await withCheckedContinuation { continuation in
      queue.async {
        monitor.cancel()
        continuation.resume()
      }
    }
    #expect(monitor.pathUpdateHandler == nil)
    let before = log.count
    try lab.lab.down("v0")
    let other = Log<NWPath>()
    monitor.pathUpdateHandler = { other.append($0) }
    monitor.start(queue: DispatchQueue(label: "another"))
    let witness = start(lab.within { NWPathMonitor() })
    try await witness.wait("the witness sees the change") { $0.status == .unsatisfied }
    await queue.drain()
    #expect(log.count == before && other.count == 0)
    #expect(monitor.currentPath.status == .satisfied, "it stays as it was")
    #expect(monitor.queue === queue)
  }

  @Test("a second start is ignored")
  func ignoresASecondStart() async throws {
    let lab = try AppleLab.b()
    let monitor = lab.within { NWPathMonitor() }
    let log = start(monitor)
    // It runs nothing.
    let another = DispatchQueue(label: "another")
    another.suspend()
    defer { another.resume() }
    monitor.start(queue: another)
    #expect(monitor.queue === queue)
    try await log.wait("a path") { $0.status == .satisfied }
    await queue.drain()
    #expect(log.count == 1)
    try lab.lab.down("v0")
    try await log.wait("no path") { $0.status == .unsatisfied }
    monitor.cancel()
  }

  @Test("a started monitor lives until it is cancelled, then everything is released")
  func livesUntilItIsCancelled() async throws {
    final class Payload: Sendable {}
    let lab = try AppleLab.b()
    let log = Log<NWPath>()
    weak let held: NWPathMonitor?
    weak let payload: Payload?
    do {
      let monitor = lab.within { NWPathMonitor() }
      let value = Payload()
      (held, payload) = (monitor, value)
      monitor.pathUpdateHandler = { path in withExtendedLifetime(value) { log.append(path) } }
      monitor.start(queue: queue)
    }
    try await log.wait("a path") { $0.status == .satisfied }
    try lab.lab.down("v0")
    try await log.wait("a change, although nobody holds the monitor") { $0.status == .unsatisfied }
    held?.cancel()
    try await eventually("it is released") { held == nil && payload == nil }
  }

  @Test("a monitor that was never started is released")
  func isReleasedWithoutAStart() throws {
    weak let held: NWPathMonitor?
    do {
      let monitor = try AppleLab.b().within { NWPathMonitor() }
      monitor.pathUpdateHandler = { _ in }
      held = monitor
    }
    #expect(held == nil)
  }

  @Test("on a concurrent queue there is one call at a time")
  func callsOneAtATime() async throws {
    let lab = try AppleLab.b()
    let monitor = lab.within { NWPathMonitor() }
    let (running, most) = (Box(0), Box(0))
    let log = Log<NWPath>()
    monitor.pathUpdateHandler = { path in
      running.update { $0 += 1 }
      let now = running.value
      most.update { $0 = max($0, now) }
      log.append(path)
      running.update { $0 -= 1 }
    }
    monitor.start(queue: DispatchQueue(label: "many", attributes: .concurrent))
    for _ in 0..<20 {
      try lab.lab.down("v0")
      try lab.lab.up("v0")
    }
    try lab.lab.addRoute("default", via: "10.0.0.2", dev: "v0")
    try await log.wait("the last path") { $0.status == .satisfied }
    #expect(most.value == 1)
    monitor.cancel()
  }

  @Test("the handler can cancel its own monitor")
  func theHandlerCanCancel() async throws {
    let lab = try AppleLab.b()
    let monitor = lab.within { NWPathMonitor() }
    let log = Log<NWPath>()
    monitor.pathUpdateHandler = { [weak monitor] path in
      log.append(path)
      monitor?.cancel()
    }
    monitor.start(queue: queue)
    try await log.wait("a path") { _ in true }
    try lab.lab.down("v0")
    let witness = start(lab.within { NWPathMonitor() })
    try await witness.wait("the witness sees the change") { $0.status == .unsatisfied }
    await queue.drain()
    #expect(log.count == 1)
  }
}
#endif
