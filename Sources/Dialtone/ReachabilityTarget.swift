// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What it is that shall be reachable.
public struct ReachabilityTarget: Hashable, Sendable {
  package enum Storage: Hashable, Sendable {
    case internet
    case localNetwork(InterfaceKind?)
    case host(HostName)
    case address(IPAddress)
    case pair(local: IPAddress, remote: IPAddress)
  }

  package let storage: Storage

  package init(_ storage: Storage) { self.storage = storage }

  /// The Internet in general: reachable where a root name server's IPv4 or IPv6 address is. Nothing is sent to it.
  public static let internet = ReachabilityTarget(.internet)

  /// The network that this machine is attached to: a wired or Wi-Fi link that operates and has an address.
  public static let localNetwork = ReachabilityTarget(.localNetwork(nil))

  /// The network on an interface of one kind, `.localNetwork(.wifi)` or `.localNetwork(.wired)`. Of any other kind there is no
  /// local network: it is unreachable for the reason `no-interface`.
  public static func localNetwork(_ kind: InterfaceKind) -> ReachabilityTarget {
    ReachabilityTarget(.localNetwork(kind))
  }

  /// An IP address. Nothing is looked up and nothing is sent.
  ///
  /// An IPv4-mapped IPv6 address is the IPv4 address in it. A link-local IPv6 address needs its zone, or an
  /// ``ReachabilityConfiguration/interface``: without, it is unreachable for the reason `no-interface`. The unspecified
  /// address (0.0.0.0 or `::`) is the Internet over that family, as with Apple's API.
  public static func address(_ address: IPAddress) -> ReachabilityTarget { ReachabilityTarget(.address(address)) }

  /// An IP address as it can be reached from one of this machine's own.
  ///
  /// `remote` is as ``address(_:)`` has it: the unspecified address is the Internet over that family. Where `local` is not an
  /// address of this machine, the target is unreachable for the reason `no-address`; so is a pair of two families.
  public static func address(_ remote: IPAddress, from local: IPAddress) -> ReachabilityTarget {
    ReachabilityTarget(.pair(local: local, remote: remote))
  }

  /// A host by its name, looked up in the background by getaddrinfo(3).
  ///
  /// - Parameter text: A host name (up to 253 bytes, with an optional trailing dot), the text of an IP address, which
  ///   is then the target, or a URL, whose host is. Names with letters outside ASCII are looked up as RFC 5890 A-labels.
  /// - Returns: The target.
  /// - Throws: ``ReachabilityError`` with the code `invalidHost` or `invalidAddress`, where `text` is none of these.
  public static func host(_ text: String) throws(ReachabilityError) -> ReachabilityTarget {
    switch try HostText.parse(text) {
    case .address(let address): .address(address)
    case .name(let name): ReachabilityTarget(.host(name))
    }
  }

  /// A host as for ``host(_:)``, or ``internet`` where `text` is `nil` or empty.
  ///
  /// - Throws: ``ReachabilityError`` as ``host(_:)`` does.
  public init(hostOrInternet text: String?) throws(ReachabilityError) {
    self = if let text, !text.isEmpty { try .host(text) } else { .internet }
  }
}

extension ReachabilityTarget: CustomStringConvertible {
  /// The target as it could be typed: `internet`, `local-network`, a name or an address.
  public var description: String {
    switch storage {
    case .internet: "internet"
    case .localNetwork(nil): "local-network"
    case .localNetwork(let kind?): "local-network over \(kind)"
    case .host(let name): name.text
    case .address(let address): address.description
    case .pair(let local, let remote): "\(remote) from \(local)"
    }
  }
}
