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

  /// REJECT_AFTER_TIME of WireGuard: keys that are older are not used any more (wireguard.com/protocol).
  static let handshakeLimit: Int64 = 180

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
    (self.family, self.interface, self.kind, self.peer) = (family, interface, kind, peer)
  }
}
