// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

/// One thing that was found on the way to a target.
///
/// Findings are values without words. The rules make a ``DiagnosisVerdict`` of them, and words at the very end. Make
/// some yourself to play a diagnosis in a test.
public enum Finding: Hashable, Sendable {
  /// States that were seen before, as you have told them, the oldest first.
  case history([Reachability])
  /// What the kernel knows.
  case kernel(KernelFinding)
  /// The other end of a tunnel.
  case tunnel(TunnelFinding)
  /// Whether somebody beyond the router answers.
  case beyond(BeyondFinding)
  /// Whether a network that wants a login answers in others' place.
  case portal(PortalFinding)
  /// The target's name, and the servers that were asked for it.
  case name(NameFinding)
  /// Connections to the target in one family.
  case connection(ConnectionFinding)
  /// Whether large datagrams pass as small ones do.
  case largePackets(LargePacketsFinding)
  /// What a check of the site came to.
  case site(SiteFinding)
  /// The proxy that other programs would use.
  case proxy(ProxyFinding)
  /// Something was not looked at.
  case unasked(DiagnosisStep.Kind, IPAddress.Family?, Gap)

  /// Why something was not looked at.
  public enum Gap: Hashable, Sendable {
    /// The time was up.
    case timeIsUp
    /// You have asked for a diagnosis that sends nothing beyond what was asked about.
    case notWanted
    /// TCP connects to one host, and the address is that of many.
    case leadsToMany
    /// This machine has no thread or descriptor left.
    case shortage
  }
}

extension Finding {
  // What it is about, if it is of that kind.
  var kernel: KernelFinding? { if case .kernel(let kernel) = self { kernel } else { nil } }
  var name: NameFinding? { if case .name(let name) = self { name } else { nil } }
  var connection: ConnectionFinding? { if case .connection(let connection) = self { connection } else { nil } }
  var proxy: ProxyFinding? { if case .proxy(let proxy) = self { proxy } else { nil } }

  /// A router that answers, or was there before.
  var router: IPAddress? {
    switch kernel?.result {
    case .neighbour(.answers(let address, isGateway: true)), .neighbour(.answered(let address, isGateway: true)):
      address
    default: nil
    }
  }

  /// Whether a neighbour, or for a portal, was looked at again later.
  func isRepeated(in later: ArraySlice<Finding>) -> Bool {
    if case .portal = self { return later.contains { $0.step == .portal } }
    guard step == .neighbour, let kernel else { return false }
    return later.contains { $0.step == .neighbour && $0.kernel?.target == kernel.target }
  }

  /// The step that it is about, or the first of them.
  var step: DiagnosisStep.Kind {
    switch self {
    case .history: .history
    case .kernel(let kernel):
      switch kernel.result {
      case .link: .link
      case .address: .address
      case .rule: .rule
      case .route: .route
      case .source: .source
      case .neighbour: .neighbour
      }
    case .tunnel: .tunnel
    case .portal: .portal
    case .beyond: .beyond
    case .name: .name
    case .connection: .connect
    case .largePackets, .site: .pathMTU
    case .proxy: .proxy
    case .unasked(let kind, _, _): kind
    }
  }

  /// The family that it is about; `nil` if it is about both, or about none.
  var family: IPAddress.Family? {
    switch self {
    case .kernel(let kernel): kernel.target.family
    case .tunnel(let tunnel): tunnel.family
    case .connection(let connection): connection.family
    case .largePackets(let packets): packets.family
    case .unasked(_, let family, _): family
    default: nil
    }
  }
}

extension KernelFinding {
  /// Whether a route to others leads to the loopback interface, where the kernel drops what is not for itself.
  var leadsNowhere: Bool {
    guard case .route(.leads(nil, "lo"?)) = result else { return false }
    return evidence?.route?.type == .unicast
  }
}

/// What an ICMP message says (RFC 792, RFC 1812, RFC 4443). Anybody on the way can have sent it.
public struct NetworkStatement: Hashable, Sendable {
  /// What it says.
  public enum Meaning: Hashable, Sendable {
    /// There is no way to the network.
    case networkUnreachable
    /// There is no way to the host, or nobody has its address.
    case hostUnreachable
    /// Nothing listens on the port.
    case portUnreachable
    /// The host does not speak the protocol.
    case protocolUnreachable
    /// A filter forbids it.
    case prohibited
    /// The packet went through too many routers: it goes round in a circle.
    case lifetimeEnded
    /// The packet is too large for the next link.
    case tooLarge
    /// Something else.
    case other(type: UInt8, code: UInt8)
  }

  /// Who sent it.
  public let sender: IPAddress
  /// Whether this machine itself sent it.
  public let isOwn: Bool
  /// What it says.
  public let meaning: Meaning

  /// Makes a statement.
  public init(_ meaning: Meaning, by sender: IPAddress, isOwn: Bool = false) {
    (self.meaning, self.sender, self.isOwn) = (meaning, sender, isOwn)
  }
}
