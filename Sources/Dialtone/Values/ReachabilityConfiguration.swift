// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// How a target is looked at.
public struct ReachabilityConfiguration: Hashable, Sendable {
  /// The only interface that counts; `nil` for any.
  ///
  /// It is a name or an alternative name (`altname` of ip-link(8), up to 127 bytes). If no interface has that name, it
  /// may be an index. The interface need not exist yet: until it does, the target is unreachable for the reason
  /// `no-interface`. No interface has an empty name. States name the interface by its own name.
  public var interface: String?

  /// The firewall mark (SO_MARK, socket(7)) that the packets would carry, for policy routing; 0 is none.
  public var mark: UInt32 = 0

  /// The only address family that counts; `nil` for both.
  public var family: IPAddress.Family?

  /// The protocol of the packets, which routing rules may look at (ip-rule(8), `ipproto`).
  public var transport: Transport = .tcp

  /// The port that the packets are sent to, for targets that have none themselves; `nil` for none in particular.
  ///
  /// Only routing rules look at it (ip-rule(8), `dport`): nothing is sent to it. 0 means `nil`.
  public var port: UInt16?

  /// A transport protocol: one of the two that programs connect by.
  public enum Transport: Hashable, Sendable {
    /// RFC 9293.
    case tcp
    /// RFC 768.
    case udp
  }

  /// How long nothing may change before a change is delivered. Zero delivers at once.
  ///
  /// A change is held back until nothing has changed for this long, and at most four times as long after the first
  /// change. The first state, and ``ReachabilityMonitor/current``, are never held back. A negative time means zero.
  public var settling: Duration = .zero

  /// Whether an IPv4 address without an IPv4 path is tried through the network's NAT64 (RFC 6146), whose prefix the
  /// resolver tells (`ipv4only.arpa`, RFC 7050). Otherwise such an address is unreachable.
  public var usesNAT64 = true

  /// Any interface, no mark, both families, TCP, no port, no settling, NAT64 if there is one.
  public init() {}

  /// Whether the state of a pair of addresses also tells whether the remote address can be reached from another source;
  /// see `Reachability.freeInterface`.
  package var comparesSources = false

  /// Whether nothing is told of a host while its first lookup takes long; otherwise, that it is not known.
  package var waitsForNames = false

  /// What it says of the interface, behind a target in an error; empty if any counts.
  var words: String { interface.map { " over \($0)" } ?? "" }
}
