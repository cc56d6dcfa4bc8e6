// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension ReachabilityMonitor {
  /// Which interfaces count for a wait, and whether a connection that comes by itself does.
  ///
  /// Without further words a target counts once it ``Reachability/isReachable``: a state that
  /// ``Reachability/Status/requiresConnection`` does not end a wait. ``acceptingConnectionOnDemand`` is less strict.
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
    /// Every interface but a cellular one counts.
    public static let nonCellular = InterfaceRequirement(storage: .nonCellular)

    /// Only interfaces of this kind count.
    public static func only(_ kind: InterfaceKind) -> InterfaceRequirement {
      InterfaceRequirement(storage: .only(kind))
    }

    /// The same interfaces, and a target counts also if a connection has to be made first, traffic or a demand makes it, and
    /// nobody has to act for it: ``ReachabilityFlags/isReachableWithoutIntervention``, as KSReachability had it.
    ///
    /// On Linux such a link is dormant. A modem without a session and a radio that is blocked do not count: nothing that
    /// is sent brings them up.
    ///
    /// ```swift
    /// try await monitor.waitUntilReachable(over: .any.acceptingConnectionOnDemand)
    /// ```
    public var acceptingConnectionOnDemand: InterfaceRequirement {
      var copy = self
      copy.acceptsConnectionOnDemand = true
      return copy
    }

    /// Whether the target is reachable over an interface that counts.
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
  /// A target that requires a connection is not, unless `requirement` accepts a connection that comes by itself.
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

  /// Waits for the first state that receivers are told of: a determined one, or one with a reason why it is not. What
  /// programs ask for is ``StateMonitor/waitUntilDetermined(timeout:)``.
  package func waitUntilKnown(timeout: Duration? = nil) async throws -> Reachability {
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
