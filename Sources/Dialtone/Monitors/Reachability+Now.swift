// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension Reachability {
  /// Returns the state of `target` at this moment, asked on the calling thread. As long as there is a monitor, its
  /// network namespace counts, even if the thread is in another one.
  ///
  /// ```swift
  /// let state = Reachability.now(.address(IPAddress("192.0.2.1")!))
  /// ```
  ///
  /// It never waits for the network. It asks the kernel about an address, the Internet and the local network. That
  /// takes one message while a monitor of the environment is watching; otherwise everything is opened for this one
  /// question.
  ///
  /// It looks up no name. A host has the addresses that a monitor has found for it; without such a monitor it is
  /// `undetermined` for the reason `name-not-resolved`. The same holds for an IPv4 address that only the network's
  /// NAT64 might lead to. To look up a name, use ``blockingLookup(of:configuration:timeout:environment:)`` or a
  /// monitor.
  ///
  /// - Parameters:
  ///   - target: What shall be reachable.
  ///   - configuration: Interface, mark and family; nothing settles here.
  ///   - environment: Where the knowledge comes from; the system, except in tests.
  /// - Returns: The state; `undetermined` for the reason `denied` if the system does not say.
  public static func now(
    _ target: ReachabilityTarget = .internet, configuration: ReachabilityConfiguration = .init(),
    environment: ReachabilityEnvironment = .system
  ) -> Reachability {
    environment.provider.engine().answer(target, configuration)
  }

  /// Blocks the calling thread until the state of `target` is known, and looks up its name if it has one.
  ///
  /// Use it in programs without concurrency, such as scripts. You cannot call it in an asynchronous function, where it
  /// would block a task. Do not call it in a handler that one of Dialtone's threads runs, nor on the main thread of a
  /// user interface: use a monitor there.
  ///
  /// - Parameters:
  ///   - target: What shall be reachable: mostly a host.
  ///   - configuration: Interface, mark and family; nothing settles here.
  ///   - timeout: How long to block at most. With zero or less, it does not block.
  ///   - environment: Where the knowledge comes from; the system, except in tests.
  /// - Returns: The first state that is known; it may be `undetermined` for a reason.
  /// - Throws: ``ReachabilityError`` with the code `timedOut`.
  @available(*, noasync, message: "it blocks the thread; use 'try await monitor.waitUntilDetermined(timeout:)'")
  public static func blockingLookup(
    of target: ReachabilityTarget, configuration: ReachabilityConfiguration = .init(), timeout: Duration,
    environment: ReachabilityEnvironment = .system
  ) throws(ReachabilityError) -> Reachability {
    var configuration = configuration
    configuration.waitsForNames = true
    let monitor = ReachabilityMonitor(target, configuration: configuration, environment: environment)
    return try monitor.updates.feed.block(timeout: timeout, goal: "\(target) was not known")
  }
}
