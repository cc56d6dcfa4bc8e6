// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension ReachabilityMonitor {
  /// What came of waiting for the path after a failure.
  enum PathOutcome {
    /// It was lost or changed, and is there.
    case isThere
    /// It was there and the same all the time, or nobody can say.
    case isNotToBlame
    /// It was lost, and did not come back in time, or the system denies to tell whether it would.
    case isLost
    /// The task was cancelled.
    case wasNotAwaited
  }

  /// Waits until the target is reachable, if the path was lost or has changed since the mark; at most for as long as there is
  /// patience, which it takes from.
  nonisolated(nonsending) func waitForPath(
    over requirement: InterfaceRequirement, changedSince mark: StateCell<Reachability>.Mark, patience: inout Duration?
  ) async -> PathOutcome {
    let time = environment.provider.time
    let start = time.now()
    let whole = patience
    func remaining() -> Duration? {
      whole.map { .nanoseconds($0.nanosecondsClamped.addingClamped(start - time.now())) }
    }
    defer { patience = remaining() }

    do {
      // Mostly it is known.
      _ = try await waitUntilKnown(timeout: remaining())
      // Whether the path is to blame may be under way still.
      if !isPathLost(over: requirement), !cell.hasChanged(since: mark) { await catchUp() }
      guard isPathLost(over: requirement) || cell.hasChanged(since: mark) else { return .isNotToBlame }
      if current.isDenied { return .isNotToBlame }
      // If the system begins to deny, nobody knows what to wait for.
      let end = try await wait("reachable", timeout: remaining()) { requirement.isMet(by: $0) || $0.isDenied }
      if end.isDenied { return .isLost }
      // A wait that has succeeded is not cancelled any more; the task can be, until it is its turn to go on.
      try Task.checkCancellation()
      return .isThere
    } catch {
      if Task.isCancelled { return .wasNotAwaited }
      // As long as nothing is known of it, nobody can say that it was lost.
      return current.isKnown ? .isLost : .isNotToBlame
    }
  }

  /// Whether the target is known not to be reachable over an interface that counts, once everything is decided that the kernel
  /// had done until now. Waits for nothing else.
  nonisolated(nonsending) func hasLostPath(over requirement: InterfaceRequirement) async -> Bool {
    if current.isDetermined, !isPathLost(over: requirement) { await catchUp() }
    return current.isDetermined && isPathLost(over: requirement)
  }

  /// The error of work that failed when the path was lost.
  func pathLost(_ error: any Error) -> ReachabilityError {
    ReachabilityError(
      .pathLost, "the path to \(target) was lost (\(current)), and the work failed: \(error)", underlyingError: error)
  }

  private func isPathLost(over requirement: InterfaceRequirement) -> Bool { !requirement.isMet(by: current) }

  /// Returns once everything that the kernel had done until now has been decided: also a change that it is at. A send can fail
  /// before the event that says why, since the kernel announces a change when it has made it. A query of its routes waits for that.
  ///
  /// Away from the caller's isolation, since that may take the kernel a while.
  @concurrent private func catchUp() async {
    let engine = engine
    _ = engine.answer(.internet, .init())
    await engine.settled()
  }
}
