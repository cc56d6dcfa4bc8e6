// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import Dialtone

/// The user events that a ``PathHandler`` fires inward.
///
/// Words and meaning are those of `NIOTSNetworkEvents` in swift-nio-transport-services, which fires them on Apple's
/// platforms.
public enum NetworkEvents: Sendable {
  /// Whether packets of the connection can leave has changed.
  public struct ViabilityUpdate: Hashable, Sendable {
    /// Whether they can leave now.
    public var isViable: Bool

    /// Creates the event.
    public init(isViable: Bool) { self.isViable = isViable }
  }

  /// A new connection would take another interface than this one. If you can, make one and move your work to it.
  public struct BetterPathAvailable: Hashable, Sendable {
    /// Creates the event.
    public init() {}
  }

  /// The path that was better is gone.
  public struct BetterPathUnavailable: Hashable, Sendable {
    /// Creates the event.
    public init() {}
  }

  /// The channel is connecting to an address that cannot be reached now. The attempt is not stopped.
  public struct WaitingForConnectivity: Hashable, Sendable {
    /// Why the address cannot be reached for now.
    public var transientError: Reachability.Reason

    /// Creates the event.
    public init(transientError: Reachability.Reason) { self.transientError = transientError }
  }

  /// What is known of the connection has changed; it comes before the connection is closed, too.
  public struct ConditionUpdate: Hashable, Sendable {
    /// What is known now.
    public var condition: ConnectionCondition

    /// Creates the event.
    public init(condition: ConnectionCondition) { self.condition = condition }
  }

  /// What you trigger outward to say what is under way on the connection.
  ///
  /// ```swift
  /// channel.triggerUserOutboundEvent(NetworkEvents.ActivityUpdate(activity: .idle), promise: nil)
  /// ```
  public struct ActivityUpdate: Hashable, Sendable {
    /// What is under way.
    public var activity: ConnectionActivity

    /// Creates the event.
    public init(activity: ConnectionActivity) { self.activity = activity }
  }
}
#endif
