// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// What is done about connections whose path has changed.
///
/// ```swift
/// var policy = ConnectionPolicy()
/// policy.activity = .repeatable  // messages of this protocol may be sent again
/// policy.grace = .seconds(5)
/// ```
public struct ConnectionPolicy: Hashable, Sendable {
  /// What is assumed of a connection whose user does not say what is under way. The default is `busy`.
  public var activity: ConnectionActivity = .busy

  /// How long a dead connection is kept if something is under way that may not be repeated, and a connection whose
  /// address is still there in any case: its path may return. The default is two seconds.
  ///
  /// An idle or repeatable connection whose address is gone is closed at once. What has come is read before.
  public var grace: Duration = .seconds(2)

  /// How long a doubtful connection has to make no progress until it is closed, if nothing is lost by that. Otherwise
  /// ``grace`` counts, if it is longer. The default is one second.
  ///
  /// At least two retransmissions or probes have to remain unanswered in any case, and four round trips have to pass.
  public var doubt: Duration = .seconds(1)

  /// How far away the next retransmission may be once the path is back. The default is 100 ms.
  ///
  /// If it is further away, the connection is stalled. It is closed if all that is under way may be repeated.
  public var stall: Duration = .milliseconds(100)

  /// Whether the kernel sends keepalive probes (RFC 9293, 3.8.4) on a doubtful connection on which nothing is
  /// outstanding, and on a dead one whose address is still there. The default is `true`; the socket's own settings
  /// return afterwards.
  ///
  /// Without them, a doubtful one is kept until something is sent on it.
  public var probesDoubtful = true

  /// Which conditions close a connection. The default is `dead`, `doubtful` and `stalled`; with an empty set, the
  /// connections are only watched.
  public var closes: Set<ConnectionCondition> = [.dead, .doubtful, .stalled]

  /// Creates a policy with the defaults.
  public init() {}
}
#endif
