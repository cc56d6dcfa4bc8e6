// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension ReachabilityMonitor {
  /// Which interfaces count for a wait, and whether a connection on demand does.
  ///
  /// A target counts if it ``Reachability/isReachable``. A target that
  /// ``Reachability/Status-swift.enum/requiresConnection`` counts only if you ask for ``acceptingConnectionOnDemand``.
  public struct InterfaceRequirement: Hashable, Sendable {
    private enum Storage: Hashable {
      case any
      case nonCellular
      case only(InterfaceKind)
    }

    private let storage: Storage
    private var acceptsConnectionOnDemand = false

    private init(storage: Storage) { self.storage = storage }

    /// Every interface counts.
    public static let any = InterfaceRequirement(storage: .any)
    /// Every interface counts, except cellular ones.
    public static let nonCellular = InterfaceRequirement(storage: .nonCellular)

    /// Only interfaces of this kind count.
    public static func only(_ kind: InterfaceKind) -> InterfaceRequirement {
      InterfaceRequirement(storage: .only(kind))
    }

    /// The same interfaces. A target also counts if traffic or a demand makes the connection, and nobody has to act.
    ///
    /// See ``ReachabilityFlags/isReachableWithoutIntervention``.
    ///
    /// On Linux, such a link is dormant. A modem without a session and a blocked radio do not count: no traffic brings
    /// them up.
    ///
    /// ```swift
    /// try await monitor.waitUntilReachable(over: .any.acceptingConnectionOnDemand)
    /// ```
    public var acceptingConnectionOnDemand: InterfaceRequirement {
      var copy = self
      copy.acceptsConnectionOnDemand = true
      return copy
    }

    /// What it says of interfaces, for the end of an error; empty if all count.
    var words: String {
      switch storage {
      case .any: ""
      case .nonCellular: " over an interface that is not cellular"
      case .only(let kind): " over \(kind)"
      }
    }

    /// Returns whether the target is reachable over an interface that counts.
    public func isMet(by state: Reachability) -> Bool {
      guard state.isReachable || acceptsConnectionOnDemand && state.flags.isReachableWithoutIntervention else {
        return false
      }
      return switch storage {
      case .any: true
      case .nonCellular: !state.flags.contains(.isWWAN) && state.interface?.kind != .cellular
      case .only(let kind): state.interface?.kind == kind
      }
    }
  }

  /// Waits until the target is reachable; returns at once if it is.
  ///
  /// A target that requires a connection is not reachable, unless `requirement` accepts a connection on demand.
  ///
  /// - Parameters:
  ///   - requirement: Which interfaces count.
  ///   - timeout: How long to wait at most; `nil` for as long as it takes. With zero or less, only the present state
  ///     counts.
  /// - Returns: The state that ended the wait.
  /// - Throws: ``ReachabilityError`` with the code `timedOut`, whose message says why the target is not reachable;
  ///   `CancellationError` if the task is cancelled.
  @discardableResult
  public func waitUntilReachable(
    over requirement: InterfaceRequirement = .any, timeout: Duration? = nil
  ) async throws -> Reachability {
    try await wait("reachable\(requirement.words)", timeout: timeout) { requirement.isMet(by: $0) }
  }

  /// Runs `action` once, as soon as the target is reachable: at once if it already is.
  ///
  /// Any number of actions can wait on one monitor. An action keeps the monitoring alive until it begins.
  ///
  /// - Parameters:
  ///   - requirement: Which interfaces count.
  ///   - action: What to do. It runs in a task of its own, never on the caller's thread.
  /// - Returns: The registration. If you cancel or release it before the action has begun, the action never runs.
  public func whenReachable(
    over requirement: InterfaceRequirement = .any, _ action: @escaping @Sendable @isolated(any) () async -> Void
  ) -> ReachabilityObservation {
    updates.feed.once({ requirement.isMet(by: $0) }, in: action.isolation) { _ in await action() }
  }

  /// Waits for a state that meets the condition. `goal` says in a word what the wait is for. `begun` gets what ends the
  /// wait as its timeout would.
  func wait(
    _ goal: String, timeout: Duration?, begun: (_ end: @escaping @Sendable () -> Void) -> Void = { _ in },
    until isMet: (Reachability) -> Bool
  ) async throws -> Reachability {
    try await updates.feed.wait(until: isMet, timeout: timeout, goal: "\(subject) was not \(goal)", begun: begun)
  }
}
