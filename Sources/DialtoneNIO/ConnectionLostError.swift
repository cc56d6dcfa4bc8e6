// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import Dialtone

/// Dialtone closed a connection, since its path is gone or it does not make progress.
///
/// A ``PathHandler`` fires it inward as an error, before the channel closes.
public struct ConnectionLostError: Error, Hashable, Sendable {
  /// Why the connection was closed: `dead`, `doubtful` or `stalled`.
  public let condition: ConnectionCondition
  /// The address of this machine that the connection had.
  public let local: IPAddress
  /// The address at the other end.
  public let remote: IPAddress
  /// Why its packets cannot leave; `nil` if they can, and remain without an answer.
  public let reason: Reachability.Reason?
  /// How long the condition lasted until the connection was closed.
  public let duration: Duration

  /// Creates an error, for tests.
  public init(
    _ condition: ConnectionCondition, local: IPAddress, remote: IPAddress, reason: Reachability.Reason? = nil,
    after duration: Duration = .zero
  ) {
    self.condition = condition
    self.local = local
    self.remote = remote
    self.reason = reason
    self.duration = duration
  }
}

extension ConnectionLostError: CustomStringConvertible {
  /// What happened, for a person.
  public var description: String {
    let why =
      switch condition {
      case .dead: "its path is gone (\(reason.map { "\($0)" } ?? "another one is there")), and there is another one"
      case .stalled: "its path is back, and its next retransmission is far away"
      default: "its packets leave by another interface, and are not answered"
      }
    return "the connection from \(local) to \(remote) was closed: \(why)"
  }
}
#endif
