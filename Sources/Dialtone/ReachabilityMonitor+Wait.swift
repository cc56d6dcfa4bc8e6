// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension ReachabilityMonitor {
  /// Which interfaces count for a wait.
  public struct InterfaceRequirement: Hashable, Sendable {
    private enum Storage: Hashable {
      case any
      case nonCellular
      case only(InterfaceKind)
    }

    private let storage: Storage

    /// Every interface counts.
    public static let any = InterfaceRequirement(storage: .any)
    /// Every interface but a cellular one counts.
    public static let nonCellular = InterfaceRequirement(storage: .nonCellular)

    /// Only interfaces of this kind count.
    public static func only(_ kind: InterfaceKind) -> InterfaceRequirement {
      InterfaceRequirement(storage: .only(kind))
    }

    /// Whether the target is reachable over an interface that counts.
    public func isMet(by state: Reachability) -> Bool {
      guard state.isReachable else { return false }
      return switch storage {
      case .any: true
      case .nonCellular: !state.flags.contains(.isWWAN) && state.interface?.kind != .cellular
      case .only(let kind): state.interface?.kind == kind
      }
    }
  }

  /// Waits until the target is reachable; returns at once if it is.
  ///
  /// - Parameters:
  ///   - requirement: Which interfaces count.
  ///   - timeout: How long to wait at most; `nil` for as long as it takes. Zero and less ask only for the present state.
  /// - Returns: The state that ended the wait.
  /// - Throws: ``ReachabilityError`` with the code `timedOut`; `CancellationError` when the task is cancelled.
  @discardableResult
  public func waitUntilReachable(
    over requirement: InterfaceRequirement = .any, timeout: Duration? = nil
  ) async throws -> Reachability {
    try await wait("reachable", timeout: timeout) { requirement.isMet(by: $0) }
  }

  /// Waits until the state is known, and returns it; at once if it is.
  ///
  /// A state that is undetermined for a reason counts as known; ``StateMonitor/waitUntilDetermined(timeout:)`` waits for more.
  ///
  /// - Parameter timeout: How long to wait at most; `nil` for as long as it takes.
  /// - Returns: The first known state.
  /// - Throws: ``ReachabilityError`` with the code `timedOut`; `CancellationError` when the task is cancelled.
  public func waitUntilKnown(timeout: Duration? = nil) async throws -> Reachability {
    try await wait("known", timeout: timeout) { _ in true }
  }

  /// Runs `action` once, as soon as the target is reachable, in a task of its own: never on the caller's thread.
  ///
  /// Any number can be waiting on one monitor. Once the action has begun, nothing here keeps the monitoring alive.
  ///
  /// - Parameters:
  ///   - requirement: Which interfaces count.
  ///   - action: What to do.
  /// - Returns: What keeps it waiting: cancelled or released before the action has begun, it never will.
  public func whenReachable(
    over requirement: InterfaceRequirement = .any, _ action: @escaping @Sendable () async -> Void
  ) -> ReachabilityObservation {
    updates.feed.once({ requirement.isMet(by: $0) }) { _ in await action() }
  }

  /// `goal` says in a word what is waited for.
  func wait(
    _ goal: String, timeout: Duration?, until isMet: (Reachability) -> Bool
  ) async throws -> Reachability {
    try await updates.feed.wait(until: isMet, timeout: timeout, goal: "\(target) was not \(goal)")
  }
}
