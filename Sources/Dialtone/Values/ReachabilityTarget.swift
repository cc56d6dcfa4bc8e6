// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What shall be reachable.
public struct ReachabilityTarget: Hashable, Sendable {
  package enum Storage: Hashable, Sendable {
    case internet
    case localNetwork(InterfaceKind?)
    case host(HostName)
    case address(IPAddress)
    case pair(local: IPAddress, remote: IPAddress)
  }

  package let storage: Storage

  /// The port that packets are sent to, which routing rules may look at; `nil` for none in particular.
  ///
  /// Only such rules look at it (ip-rule(8), `dport`). Nothing is sent to it, and the state does not say whether
  /// anything listens there. Targets that differ in it are different. If it is `nil`,
  /// ``ReachabilityConfiguration/port`` counts.
  public let port: UInt16?

  package init(_ storage: Storage, port: UInt16? = nil) {
    self.storage = storage
    self.port = port == 0 ? nil : port
  }

  /// The Internet in general: reachable if a root name server's IPv4 or IPv6 address is. Nothing is sent to it.
  public static let internet = ReachabilityTarget(.internet)

  /// The network that this machine is attached to: a wired or Wi-Fi link that operates and has an address.
  public static let localNetwork = ReachabilityTarget(.localNetwork(nil))

  /// The network on an interface of one kind, `.localNetwork(.wifi)` or `.localNetwork(.wired)`. Other kinds have no
  /// local network: the target is unreachable for the reason `no-interface`.
  public static func localNetwork(_ kind: InterfaceKind) -> ReachabilityTarget {
    ReachabilityTarget(.localNetwork(kind))
  }

  /// An IP address. Nothing is looked up and nothing is sent.
  ///
  /// An IPv4-mapped IPv6 address is the IPv4 address in it. A link-local IPv6 address needs its zone or a
  /// ``ReachabilityConfiguration/interface``; without one it is unreachable for the reason `no-interface`. The
  /// unspecified address (0.0.0.0 or `::`) is the Internet over that family, as in Apple's API.
  ///
  /// - Parameters:
  ///   - address: The address.
  ///   - port: See ``port``; 0 is none.
  /// - Returns: The target.
  public static func address(_ address: IPAddress, port: UInt16? = nil) -> ReachabilityTarget {
    ReachabilityTarget(.address(address), port: port)
  }

  /// An IP address, reached from one of this machine's own addresses.
  ///
  /// `remote` is as for ``address(_:port:)``: the unspecified address is the Internet over that family. If `local` is
  /// not an address of this machine, the target is unreachable for the reason `no-address`. So is a pair of two
  /// families.
  ///
  /// - Parameters:
  ///   - remote: The address to reach.
  ///   - local: The address that the packets come from.
  ///   - port: The remote port; see ``port``. 0 is none.
  /// - Returns: The target.
  public static func address(_ remote: IPAddress, from local: IPAddress, port: UInt16? = nil) -> ReachabilityTarget {
    ReachabilityTarget(.pair(local: local, remote: remote), port: port)
  }

  /// A host by its name, looked up in the background by getaddrinfo(3).
  ///
  /// There is no string literal for a target. Where this throws, a literal could only end your program.
  ///
  /// - Parameter text: A host name (up to 253 bytes, with an optional trailing dot) or the text of an IP address. Each
  ///   may have a port (`example.com:443`, `[2001:db8::1]:443`). Or a URL, whose host and port are the target; without
  ///   a port, http has 80, https 443, and other schemes none. Names with letters outside ASCII are looked up as RFC
  ///   5890 A-labels. They have to be in normalization form C, without compatibility forms of other letters.
  /// - Returns: The target.
  /// - Throws: ``ReachabilityError`` with the code `invalidHost` or `invalidAddress` if `text` is none of these.
  public static func host(_ text: String) throws(ReachabilityError) -> ReachabilityTarget {
    let (host, port) = try HostText.parseEndpoint(text)
    return switch host {
    case .address(let address): .address(address, port: port)
    case .name(let name): ReachabilityTarget(.host(name), port: port)
    }
  }

  /// A host as for ``host(_:)``, or ``internet`` if `text` is `nil` or empty.
  ///
  /// - Throws: ``ReachabilityError``, like ``host(_:)``.
  public init(hostOrInternet text: String?) throws(ReachabilityError) {
    self = if let text, !text.isEmpty { try .host(text) } else { .internet }
  }
}

extension ReachabilityTarget: CustomStringConvertible {
  /// The target as it could be typed: `internet`, `local-network`, a name or an address, with its port.
  public var description: String {
    switch storage {
    case .internet: "internet"
    case .localNetwork(nil): "local-network"
    case .localNetwork(let kind?): "local-network over \(kind)"
    case .host(let name): name.text + portText
    case .address(let address): endpoint(address)
    case .pair(let local, let remote): "\(endpoint(remote)) from \(local)"
    }
  }

  private var portText: String { port.map { ":\($0)" } ?? "" }

  /// Returns the address with its port. An IPv6 address with a port is in brackets (RFC 3986, 3.2.2).
  private func endpoint(_ address: IPAddress) -> String {
    port != nil && address.family == .ipv6 ? "[\(address)]\(portText)" : "\(address)\(portText)"
  }
}

extension ReachabilityTarget {
  /// Whether the target is the network that this machine is attached to.
  ///
  /// That is ``localNetwork``, the one on a kind of interface, or any address of 169.254/16 (RFC 3927), which Apple's
  /// API takes for it.
  ///
  /// Of a pair, the remote address counts. ``ReachabilityFlags/connectivity(to:)`` reads the flags of such a target by
  /// a rule of its own. An IPv6 link-local address does not count: its zone may name any link.
  public var isLocalNetwork: Bool {
    switch storage {
    case .localNetwork: true
    case .internet, .host: false
    case .address(let address), .pair(_, let address): address.unmapped.isIPv4LinkLocal
    }
  }
}
