// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

/// What was found out about the tunnel that the packets leave by.
public struct TunnelFinding: Hashable, Sendable {
  /// What this machine knows of the other end.
  public enum Peer: Hashable, Sendable {
    /// The kernel says nothing of such a tunnel.
    case unknown
    /// It tells only a process with CAP_NET_ADMIN.
    case denied
    /// No peer takes packets for the target.
    case none
    /// The peer: where it is, how many seconds ago it last agreed on keys (`nil` for never), and what stops the packets
    /// beneath.
    case known(endpoint: IPAddress?, port: UInt16, handshakeAge: Int64?, beneath: KernelFinding?)
  }

  /// The family of the packets inside.
  public let family: IPAddress.Family
  /// The tunnel's interface.
  public let interface: String
  /// Its kind, as ip-link(8) names it.
  public let kind: String
  /// What is known of the other end.
  public let peer: Peer

  /// Makes a finding.
  public init(_ family: IPAddress.Family, interface: String, kind: String, peer: Peer) {
    self.family = family
    self.interface = interface
    self.kind = kind
    self.peer = peer
  }
}

/// What was found out about the proxy that other programs would use.
public struct ProxyFinding: Hashable, Sendable {
  /// What came of asking it.
  public enum Outcome: Hashable, Sendable {
    /// It led to the target.
    case delivers
    /// It takes connections; whether it leads to the target was not tried.
    case connects
    /// It refused to lead to the target, with this status of HTTP, or this reply of SOCKS.
    case refuses(Int)
    /// Its name does not exist.
    case unknownName
    /// No name server answers for its name.
    case unansweredName
    /// A TCP segment with RST came.
    case reset
    /// An ICMP message came.
    case unreachable(NetworkStatement)
    /// The system refused, for this errno(3).
    case failed(Int32)
    /// It does not speak the protocol of a proxy.
    case malformed
    /// Nothing came.
    case silent
    /// The variable has no URL that could be read.
    case unreadable
    /// It was not tried.
    case notTried
  }

  /// The variable of the environment that names it.
  public let variable: String
  /// Its host and port, without user and password.
  public let server: String
  /// What came of asking it.
  public let outcome: Outcome

  /// Makes a finding.
  public init(variable: String, server: String, _ outcome: Outcome) {
    self.variable = variable
    self.server = server
    self.outcome = outcome
  }
}
