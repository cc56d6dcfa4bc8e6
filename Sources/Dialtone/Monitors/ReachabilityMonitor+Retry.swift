// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension ReachabilityMonitor {
  /// Runs `work`, and runs it again on a path if it failed because the path was lost or changed.
  ///
  /// ```swift
  /// let monitor = ReachabilityMonitor(try .host("example.com"))
  /// let answer = try await monitor.retryOnPathChange { try await upload() }
  /// ```
  ///
  /// The work runs at once, in any state. If it throws, the path was lost or changed since that run began, and `policy`
  /// agrees, this method waits for the path and runs the work again. **So the work may run more than once.** Even a
  /// failed run may have had an effect: a request may have arrived although its answer did not. Give it work that does
  /// no harm if it is repeated.
  ///
  /// Each run is judged by itself, after all changes that the kernel made until the failure are taken in:
  /// - The path is **lost** if the target is not reachable over an interface that counts.
  /// - The path has **changed** if the state differs, or for a while differed, from the one at the run's beginning.
  ///   What receivers are told of counts, and so do source and destination address, since connections do not survive
  ///   another one. Another target for the monitor and a pause are changes, too.
  /// - If nothing was known yet at the beginning, the first known state takes its place. A failure before that waits
  ///   for it.
  ///
  /// If the path was neither lost nor changed, the network is not to blame, and the error is thrown at once. The same
  /// holds if the system refuses to tell the network's state (``Reachability/Reason-swift.struct/denied``).
  ///
  /// If the attempts or the time for waiting run out while the path is lost, the error says so. It is a
  /// ``ReachabilityError`` with the code `pathLost`, and its ``ReachabilityError/underlyingError`` is what the last run
  /// threw. Work with an error type of its own (`throws(MyError)`) has that error thrown as it is.
  ///
  /// ```swift
  /// do {
  ///   try await monitor.retryOnPathChange { try await upload() }
  /// } catch let error as ReachabilityError where error.code == .pathLost {
  ///   print(error)  // "there was no path to example.com (…), and the work failed: …"
  /// }
  /// ```
  ///
  /// The work runs in the caller's isolation, as does all of this. Neither it nor its result need be `Sendable`.
  ///
  /// - Parameters:
  ///   - requirement: Which interfaces count. The first run does not wait for one of them; call
  ///     ``waitUntilReachable(over:timeout:)`` before if it should. A monitor that has existed for a while knows the
  ///     state at the beginning. One made for this call misses what changes before its first state is known.
  ///   - policy: How often, for how long and after which errors.
  ///   - work: What to do.
  /// - Returns: What the first run that succeeds returns.
  /// - Throws: What the last run of `work` threw; a ``ReachabilityError`` with the code `pathLost`, as said above; a
  ///   `CancellationError` if the task is cancelled during a wait for the path. The last two are thrown only if the
  ///   work's type of error allows them.
  public nonisolated(nonsending) func retryOnPathChange<Success: ~Copyable, Failure: Error>(
    over requirement: InterfaceRequirement = .any, policy: RetryPolicy = .init(),
    _ work: nonisolated(nonsending) () async throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    var timeLeft = policy.maximumWait
    var attempts = 0
    while true {
      // Before the run, so that no change is missed.
      let start = cell.mark
      do throws(Failure) {
        return try await work()
      } catch {
        attempts += 1
        if error is CancellationError || Task.isCancelled { throw error }
        guard attempts < policy.maximumAttempts else {
          throw await hasLostPath(over: requirement) ? pathLost(error, over: requirement) as? Failure ?? error : error
        }
        guard policy.shouldRetry(error) else { throw error }
        switch await waitForPath(over: requirement, changedSince: start, timeLeft: &timeLeft) {
        case .isThere: continue
        case .isNotToBlame: throw error
        case .isLost: throw pathLost(error, over: requirement) as? Failure ?? error
        case .wasNotAwaited: throw CancellationError() as? Failure ?? error
        }
      }
    }
  }

  /// What came of waiting for the path after a failure.
  private enum PathOutcome {
    /// It was lost or has changed, and the target is reachable now.
    case isThere
    /// It was the same all the time, or nobody can say.
    case isNotToBlame
    /// It was lost and did not come back in time, or the system refuses to tell.
    case isLost
    /// The task was cancelled.
    case wasNotAwaited
  }

  /// Waits until the target is reachable, if the path was lost or has changed since the mark. It waits at most as long
  /// as `timeLeft`, and reduces that by the time that it waits.
  private nonisolated(nonsending) func waitForPath(
    over requirement: InterfaceRequirement, changedSince mark: StateCell<Reachability>.Mark, timeLeft: inout Duration?
  ) async -> PathOutcome {
    let time = environment.provider.time
    let start = time.now()
    let whole = timeLeft
    func remaining() -> Duration? {
      whole.map { .nanoseconds($0.nanosecondsClamped.addingClamped(start - time.now())) }
    }
    defer { timeLeft = remaining() }

    do {
      // Mostly it is known, or the reason why it is not.
      _ = try await wait("known", timeout: remaining()) { _ in true }
      // The change that is to blame may still be under way.
      if !isPathLost(over: requirement), !cell.hasChanged(since: mark) { await catchUp() }
      guard isPathLost(over: requirement) || cell.hasChanged(since: mark) else { return .isNotToBlame }
      if current.isDenied { return .isNotToBlame }
      // If the system begins to deny access, nobody knows what to wait for.
      let end = try await wait("reachable", timeout: remaining()) { requirement.isMet(by: $0) || $0.isDenied }
      if end.isDenied { return .isLost }
      // A wait that has succeeded ignores a cancellation, but the task may be cancelled before it goes on.
      try Task.checkCancellation()
      return .isThere
    } catch {
      if Task.isCancelled { return .wasNotAwaited }
      // While nothing is known, nobody can say that it was lost.
      return current.isKnown ? .isLost : .isNotToBlame
    }
  }

  /// Returns whether the target is known not to be reachable over an interface that counts. First waits until all
  /// changes that the kernel has made until now are decided, and for nothing else.
  private nonisolated(nonsending) func hasLostPath(over requirement: InterfaceRequirement) async -> Bool {
    if current.isDetermined, !isPathLost(over: requirement) { await catchUp() }
    return current.isDetermined && isPathLost(over: requirement)
  }

  /// The error of work that failed without a path.
  private func pathLost(_ error: any Error, over requirement: InterfaceRequirement) -> ReachabilityError {
    ReachabilityError(
      .pathLost, "there was no path to \(subject)\(requirement.words) (\(current)), and the work failed: \(error)",
      underlyingError: error)
  }

  private func isPathLost(over requirement: InterfaceRequirement) -> Bool { !requirement.isMet(by: current) }

  /// Returns once all changes that the kernel has made or begun until now are decided. A send can fail before the event
  /// that says why, since the kernel announces a change after it has made it. A route query waits for that.
  ///
  /// Not in the caller's isolation, since that may take the kernel a while.
  @concurrent private func catchUp() async {
    let engine = engine
    _ = engine.answer(.internet, .init())
    await engine.settled()
  }
}

/// When work that failed because of the network runs again; see
/// ``ReachabilityMonitor/retryOnPathChange(over:policy:_:)``.
///
/// ```swift
/// var policy = RetryPolicy()
/// policy.maximumAttempts = 10
/// policy.shouldRetry = { !($0 is DecodingError) }
/// ```
public struct RetryPolicy: Sendable {
  /// How often the work runs at most, including the first time; less than one means one. The default is three.
  public var maximumAttempts = 3

  /// How long to wait for the path at most, all waits together; `nil` for as long as it takes. The default is five
  /// minutes.
  ///
  /// With zero or less there is no wait: the work runs again only if another path is already there. The time that the
  /// work takes does not count. The environment's clock measures the time; the system's goes on during suspension.
  public var maximumWait: Duration? = .seconds(300)

  /// Returns whether work that failed with this error may run again. The default is always `true`.
  ///
  /// It is called in the isolation of the work, if there are attempts left, before the path is looked at. It is never
  /// called for a `CancellationError`, nor once the task is cancelled: then the work does not run again in any case.
  public var shouldRetry: @Sendable (any Error) -> Bool = { _ in true }

  /// Three attempts, at most five minutes of waiting, after any error.
  public init() {}
}
