// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// What is known of an open connection, by its path and by the progress that it makes.
///
/// More may come: a `switch` over them needs a `default`.
public struct ConnectionCondition: Hashable, Sendable, BitwiseCopyable {
  private let code: UInt8

  /// Nothing is known yet, or the channel is not connected yet.
  public static let unknown = ConnectionCondition(code: 0)
  /// Packets leave as they did when the connection last made progress.
  public static let fine = ConnectionCondition(code: 1)
  /// The remote address cannot be reached from any address of this machine. The connection lives on if the same path
  /// comes back, so it is kept.
  public static let waiting = ConnectionCondition(code: 2)
  /// Packets leave by another interface than when the connection last made progress: it may work.
  public static let doubtful = ConnectionCondition(code: 3)
  /// The path is back, and what was sent is waiting for a retransmission that is far away.
  public static let stalled = ConnectionCondition(code: 4)
  /// The connection's own path is gone, and the remote address can be reached on another: a new connection would work.
  public static let dead = ConnectionCondition(code: 5)
  /// Routes do not tell about this connection: see <doc:Connections>. It is not closed.
  public static let unjudged = ConnectionCondition(code: 6)

  private static let identifiers = ["unknown", "fine", "waiting", "doubtful", "stalled", "dead", "unjudged"]

  /// A short text that never changes, such as `doubtful`, for logs and metrics.
  public var identifier: String { Self.identifiers[Int(code)] }
}

extension ConnectionCondition: CustomStringConvertible {
  /// The ``identifier``.
  public var description: String { identifier }
}

/// What is going on on a connection, as its user knows.
public enum ConnectionActivity: Hashable, Sendable, BitwiseCopyable {
  /// No request is under way: nothing is lost if the connection is closed.
  case idle
  /// All that is under way may be repeated on another connection.
  case repeatable
  /// Something is under way that may not be repeated.
  case busy
}
#endif
