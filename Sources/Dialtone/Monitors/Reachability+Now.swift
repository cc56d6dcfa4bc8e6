// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension Reachability {
  /// What is true of `target` at this moment, asked on the calling thread.
  ///
  /// It never waits for the network. An address, the Internet and the local network are asked of the kernel: with one
  /// message where a monitor of the environment is watching; else everything has to be opened for this one question. No
  /// name is looked up: a host is answered by the addresses that a monitor has found for it, and else is `undetermined` for
  /// the reason `name-not-resolved`; so is an IPv4 address that only the network's NAT64 might lead to. To have a name
  /// looked up, use ``blockingLookup(of:configuration:timeout:environment:)``, or a monitor.
  ///
  /// ```swift
  /// let state = Reachability.now(.address(IPAddress("192.0.2.1")!))
  /// ```
  ///
  /// - Parameters:
  ///   - target: What shall be reachable.
  ///   - configuration: Interface, mark and family; nothing settles here.
  ///   - environment: Where the knowledge comes from; the system, but for tests.
  /// - Returns: The state; `undetermined` for the reason `denied` where the system does not say.
  public static func now(
    _ target: ReachabilityTarget = .internet, configuration: ReachabilityConfiguration = .init(),
    environment: ReachabilityEnvironment = .system
  ) -> Reachability {
    environment.provider.engine().answer(target, configuration)
  }

  /// Blocks the calling thread until the state of `target` is known, a name looked up included.
  ///
  /// For programs without concurrency, such as scripts; it cannot be called where it would block a task. It must not be called in a
  /// handler that a thread of Dialtone's runs, nor on a main thread that somebody looks at: use a monitor there.
  ///
  /// - Parameters:
  ///   - target: What shall be reachable: mostly a host.
  ///   - configuration: Interface, mark and family; nothing settles here.
  ///   - timeout: How long to block at most. Zero and less do not block.
  ///   - environment: Where the knowledge comes from; the system, but for tests.
  /// - Returns: The first state that is known; it may be `undetermined` for a reason.
  /// - Throws: ``ReachabilityError`` with the code `timedOut`.
  @available(*, noasync, message: "it blocks the thread; use 'try await monitor.waitUntilDetermined(timeout:)'")
  public static func blockingLookup(
    of target: ReachabilityTarget, configuration: ReachabilityConfiguration = .init(), timeout: Duration,
    environment: ReachabilityEnvironment = .system
  ) throws(ReachabilityError) -> Reachability {
    let monitor = ReachabilityMonitor(target, configuration: configuration, environment: environment)
    return try monitor.updates.feed.block(timeout: timeout, goal: "\(target) was not known")
  }
}
