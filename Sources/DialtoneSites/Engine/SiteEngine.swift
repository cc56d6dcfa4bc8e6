// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import Dispatch
internal import NIOCore
internal import NIOPosix

/// What all checks of an environment share: event loops, the bound on checks, lookups and paths.
///
/// It lives as long as a check holds it, or a monitor that has begun one and is not paused. After a check it lives a
/// second more, so that checks one after the other start no new threads. Then its threads end.
final class SiteEngine: Sendable {
  private struct Lingering {
    var lastUse = NIODeadline.uptimeNanoseconds(0)
    var isScheduled = false
  }

  private static let lingerTime = TimeAmount.seconds(1)

  private let permits: ConnectionPermits
  let resolver: Resolver
  let monitors: SharedMonitors
  let trust: TrustStore
  let reachability: ReachabilityEnvironment
  /// Held, so that the paths' engine is not started and ended with each check.
  let network: NetworkEngine
  private let group: any EventLoopGroup
  private let ownGroup: MultiThreadedEventLoopGroup?
  private let lingering = Lock(Lingering())

  /// - Throws: If the system has no descriptors or threads for the event loops. The next check may find some.
  init(_ provider: SiteEngineProvider) throws(SiteError) {
    _ = Exchange.handlerTypes
    if let group = provider.group {
      self.group = group
      ownGroup = nil
    } else {
      let own = try Self.makeGroup()
      group = own
      ownGroup = own
    }
    permits = ConnectionPermits(provider.maximumChecks)
    resolver = Resolver(provider.reachability.provider, provider.names)
    monitors = SharedMonitors(provider.reachability)
    trust = provider.trust
    reachability = provider.reachability
    network = provider.reachability.provider.engine()
  }

  deinit {
    // Every check has ended, so nothing is left to go wrong; the threads end in the background.
    ownGroup?.shutdownGracefully(queue: .global()) { _ in }
  }

  private static func makeGroup() throws(SiteError) -> MultiThreadedEventLoopGroup {
    let count = SiteResources.loopCount
    #if os(Linux)  // NIO has kqueue(2) elsewhere, which no child inherits
    let highest = try SiteResources.prove()
    let former = EventPoll.pollDescriptors(upTo: highest)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: count)
    // NIO makes its own without EPOLL_CLOEXEC, and cannot be told otherwise. Programs that this process starts would
    // hold them, and with them what they watch. This is as good, except for a program that another thread starts just
    // in between. The numbers are the lowest that were free, and so not above those that were proved.
    for descriptor in EventPoll.pollDescriptors(upTo: highest).subtracting(former) {
      _ = csystem_close_on_exec(descriptor)
    }
    return group
    #else
    return MultiThreadedEventLoopGroup(numberOfThreads: count)
    #endif
  }

  /// Checks a site. If as many checks are under way as the environment allows, it first waits for its turn.
  func check(_ url: SiteURL, _ configuration: SiteCheckConfiguration) async throws -> CheckOutcome {
    let proxy = try configuration.proxyServer(for: url)
    try Task.checkCancellation()
    try await permits.acquire()
    defer {
      permits.release()
      linger()
    }
    // The caller's own, if it is one of these: then no other thread is woken.
    let loop = group.any()
    let start = loop.now
    let outcome = try await run(url, configuration, proxy, loop, since: start)
    guard outcome.details.wantsOtherVersion else { return outcome }
    // A site of HTTP/2 alone, or one that wants HTTP/1.1 after all. It is one check, within one time.
    var other = configuration
    other.offersHTTP2.toggle()
    other.received = outcome.details.received
    return try await run(url, other, proxy, loop, since: start)
  }

  private func run(
    _ url: SiteURL, _ configuration: SiteCheckConfiguration, _ proxy: ProxyServer?, _ loop: any EventLoop,
    since start: NIODeadline
  ) async throws -> CheckOutcome {
    let handle = CheckHandle(loop)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        handle.start { CheckRun(url, configuration, proxy, self, loop, start) { continuation.resume(with: $0) } }
      }
    } onCancel: {
      handle.cancel()
    }
  }

  /// Keeps the engine for a second from now.
  private func linger() {
    let now = group.any().now
    let isFirst = lingering.withLock { lingering in
      lingering.lastUse = now
      defer { lingering.isScheduled = true }
      return !lingering.isScheduled
    }
    if isFirst { scheduleEnd(in: Self.lingerTime) }
  }

  /// The task holds the engine until then.
  private func scheduleEnd(in delay: TimeAmount) {
    let loop = group.any()
    loop.scheduleTask(in: delay) {
      let now = loop.now
      let rest = self.lingering.withLock { lingering -> TimeAmount? in
        let rest = lingering.lastUse + Self.lingerTime - now
        if rest > .nanoseconds(0) { return rest }
        lingering.isScheduled = false
        return nil
      }
      if let rest { self.scheduleEnd(in: rest) }
    }
  }
}
