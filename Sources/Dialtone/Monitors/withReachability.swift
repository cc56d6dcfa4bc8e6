// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Runs `work`, and runs it again where it failed because the network went away or changed meanwhile.
///
/// The work is run at once, whatever the state. When it throws, and the path to the monitor's target was lost or was another one at
/// any time since that run began, and `policy` agrees, the path is waited for and the work is run again. **So the work may run
/// more than once**, and a run that failed may have had an effect all the same: a request may have arrived whose answer
/// did not. Give it work that does no harm when it is repeated.
///
/// ```swift
/// let monitor = ReachabilityMonitor(try .host("example.com"))
/// let answer = try await withReachability(of: monitor, retrying: .default) {
///   try await upload()
/// }
/// ```
///
/// Whether the path was lost or changed is judged for each run by itself, once all that the kernel did until the failure has been
/// taken in:
/// - It is **lost** where the target is not reachable over an interface that counts.
/// - It has **changed** where the state differs from that at the run's beginning, or did for a while: in anything that receivers are told
///   of, or in the source or destination address, since connections do not outlive those; so it has where the monitor was given
///   another target or was paused.
/// - Where nothing was known yet when the run began, the state that was known first takes the place of that at its beginning; a
///   failure before that waits for it.
///
/// Where neither is so, the network is not to blame, and the error is thrown at once. It is, too, where the system refuses to
/// tell the network's state (``Reachability/Reason-swift.struct/denied``), and where it begins to while the path is waited for.
///
/// If it gives up while the path is lost, since the time for waiting or the tries ran out, the error says so: it is a
/// ``ReachabilityError`` with the code `pathLost`, whose ``ReachabilityError/underlyingError`` is what the last run threw.
/// Work with an error type of its own (`throws(MyError)`) has that error thrown as it is.
///
/// ```swift
/// do {
///   try await withReachability(of: monitor) { try await upload() }
/// } catch let error as ReachabilityError where error.code == .pathLost {
///   print(error)  // "the path to example.com was lost (…), and the work failed: …"
/// }
/// ```
///
/// The work runs in the caller's isolation, as does all of this; neither it nor its result need be `Sendable`.
///
/// - Parameters:
///   - monitor: What has to be reachable. A monitor that is there already knows the state at the beginning.
///   - requirement: Which interfaces count. The first run does not wait for one of them; to have it wait, call
///     ``ReachabilityMonitor/waitUntilReachable(over:timeout:)`` before.
///   - policy: How often, for how long and after which errors.
///   - work: What to do.
/// - Returns: What the first run that succeeds returns.
/// - Throws: What the last run of `work` threw; if the tries or the time for waiting ran out while the path was lost, a
///   ``ReachabilityError`` with the code `pathLost`; if the task is cancelled while the path is waited for, a
///   `CancellationError`. The latter two only if the work's type of error allows them.
public nonisolated(nonsending) func withReachability<Success: ~Copyable, Failure: Error>(
  of monitor: ReachabilityMonitor, over requirement: ReachabilityMonitor.InterfaceRequirement = .any,
  retrying policy: RetryPolicy = .default,
  _ work: nonisolated(nonsending) () async throws(Failure) -> Success
) async throws(Failure) -> Success {
  var patience = policy.waitLimit
  var runs = 0
  while true {
    // Before the run, so that nothing falls between.
    let start = monitor.cell.mark
    do throws(Failure) {
      return try await work()
    } catch {
      runs += 1
      if error is CancellationError || Task.isCancelled { throw error }
      guard runs < policy.tries else {
        throw await monitor.hasLostPath(over: requirement) ? monitor.pathLost(error) as? Failure ?? error : error
      }
      guard policy.shouldRetry(error) else { throw error }
      switch await monitor.waitForPath(over: requirement, changedSince: start, patience: &patience) {
      case .isThere: continue
      case .isNotToBlame: throw error
      case .isLost: throw monitor.pathLost(error) as? Failure ?? error
      case .wasNotAwaited: throw CancellationError() as? Failure ?? error
      }
    }
  }
}

/// Runs `work`, and runs it again where it failed because the network went away or changed meanwhile.
///
/// As ``withReachability(of:over:retrying:_:)``, with a monitor of its own for as long as it takes. **The
/// work may run more than once.** It begins before anything is known of the target, so that what changed in the first
/// moment, or before a name was looked up, is not noticed.
///
/// - Parameters:
///   - target: What has to be reachable.
///   - requirement: Which interfaces count for waiting.
///   - policy: How often, for how long and after which errors.
///   - configuration: How the target is looked at.
///   - environment: Where the knowledge comes from; the system, but for tests.
///   - work: What to do.
/// - Returns: What the first run that succeeds returns.
/// - Throws: What the last run of `work` threw; a ``ReachabilityError`` or a `CancellationError`, as said there.
public nonisolated(nonsending) func withReachability<Success: ~Copyable, Failure: Error>(
  of target: ReachabilityTarget, over requirement: ReachabilityMonitor.InterfaceRequirement = .any,
  retrying policy: RetryPolicy = .default, configuration: ReachabilityConfiguration = .init(),
  environment: ReachabilityEnvironment = .system,
  _ work: nonisolated(nonsending) () async throws(Failure) -> Success
) async throws(Failure) -> Success {
  let monitor = ReachabilityMonitor(target, configuration: configuration, environment: environment)
  return try await withReachability(of: monitor, over: requirement, retrying: policy, work)
}

/// Runs `work`, and runs it again where it failed because the network went away or changed meanwhile.
///
/// As ``withReachability(of:over:retrying:_:)``, for a host given as text, with a monitor of its own for as
/// long as it takes. **The work may run more than once.**
///
/// ```swift
/// try await withReachability(of: "https://example.com/upload", retrying: .default) { try await upload() }
/// ```
///
/// - Parameters:
///   - host: A name, an IP address, or a URL, whose host is used: as for ``ReachabilityTarget/host(_:)``.
///   - requirement: Which interfaces count for waiting.
///   - policy: How often, for how long and after which errors.
///   - configuration: How the target is looked at.
///   - environment: Where the knowledge comes from; the system, but for tests.
///   - work: What to do.
/// - Returns: What the first run that succeeds returns.
/// - Throws: ``ReachabilityError`` with the code `invalidHost` or `invalidAddress`, before the work is run; what the last run of
///   `work` threw, or a ``ReachabilityError`` with the code `pathLost`; `CancellationError` if the task is cancelled while
///   the path is waited for.
public nonisolated(nonsending) func withReachability<Success: ~Copyable>(
  of host: String, over requirement: ReachabilityMonitor.InterfaceRequirement = .any,
  retrying policy: RetryPolicy = .default, configuration: ReachabilityConfiguration = .init(),
  environment: ReachabilityEnvironment = .system,
  _ work: nonisolated(nonsending) () async throws -> Success
) async throws -> Success {
  let target = try ReachabilityTarget.host(host)
  return try await withReachability(
    of: target, over: requirement, retrying: policy, configuration: configuration, environment: environment, work)
}
