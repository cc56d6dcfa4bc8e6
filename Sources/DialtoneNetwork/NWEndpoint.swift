// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if !canImport(Darwin)
public import FoundationEssentials
internal import CDialtoneSystem
internal import Dialtone

/// One end of a connection, as in Apple's `Network`.
///
/// Monitors deliver `hostPort` alone: the gateways of a path.
public enum NWEndpoint: Hashable, Sendable {
  /// A host and a port.
  case hostPort(host: Host, port: Port)
  /// A Bonjour service.
  case service(name: String, type: String, domain: String, interface: NWInterface?)
  /// A Unix socket.
  case unix(path: String)
  /// A URL.
  case url(URL)
  /// An endpoint of Apple's C interface. There is none here.
  case opaque(Never)

  /// A name or an address.
  public enum Host: Hashable, Sendable {
    /// A host name.
    case name(String, NWInterface?)
    /// An IPv4 address.
    case ipv4(IPv4Address)
    /// An IPv6 address.
    case ipv6(IPv6Address)

    /// An address if `string` is one, otherwise a name. A mapped address (`::ffff:192.0.2.1`) is an IPv4 address.
    public init(_ string: String) {
      if let address = IPv4Address(string) {
        self = .ipv4(address)
      } else if let address = IPv6Address(string) {
        self = address.isIPv4Mapped ? address.asIPv4.map { .ipv4($0) } ?? .ipv6(address) : .ipv6(address)
      } else {
        self = .name(string, nil)
      }
    }

    /// The interface that the host is bound to, if any.
    public var interface: NWInterface? {
      switch self {
      case .name(_, let interface): interface
      case .ipv4(let address): address.interface
      case .ipv6(let address): address.interface
      }
    }

    /// A link-local address means nothing without its interface.
    init(_ address: Dialtone.IPAddress, over interface: NetworkInterface) {
      let scope = address.isLinkLocal ? NWInterface(interface) : nil
      self =
        switch address.family {
        case .ipv4: .ipv4(IPv4Address(address.bits, over: scope))
        case .ipv6: .ipv6(IPv6Address(address.bits, over: scope))
        }
    }
  }

  /// A port of TCP or UDP.
  public struct Port: Hashable, Sendable, RawRepresentable {
    /// The number of the port.
    public let rawValue: UInt16

    private init(_ number: UInt16) { rawValue = number }

    /// The port with this number; never `nil`. (Apple's initialiser can fail, too.)
    public init?(rawValue: UInt16) { self.init(rawValue) }

    /// Reads a decimal number, the name of one of the ports below, or that of a service of services(5); `nil` if
    /// `service` is none of these.
    public init?(_ service: String) {
      let known: [String: Port] = [
        "ssh": .ssh, "smtp": .smtp, "http": .http, "pop3": .pop, "imap": .imap, "https": .https, "imaps": .imaps,
        "socks": .socks,
      ]
      guard let port = known[service] ?? UInt16(service).map({ Port($0) }) ?? Self.listed(service) else { return nil }
      self = port
    }

    /// The port of a service of TCP in services(5).
    private static func listed(_ service: String) -> Port? {
      // getaddrinfo(3) would cut a number that is no port.
      guard !service.isEmpty, !service.utf8.contains(0), UInt16(exactly: unsafe strtol(service, nil, 10)) != nil else {
        return nil
      }
      var hints = unsafe addrinfo()
      unsafe hints.ai_family = AF_INET6
      unsafe hints.ai_flags = AI_PASSIVE
      unsafe hints.ai_socktype = CInt(csystem_SOCK_STREAM)
      var found: UnsafeMutablePointer<addrinfo>?
      // The list is valid until it is freed below; an address of this family is a sockaddr_in6.
      guard unsafe getaddrinfo(nil, service, &hints, &found) == 0, let list = unsafe found else { return nil }
      defer { unsafe freeaddrinfo(list) }
      guard let address = unsafe list.pointee.ai_addr, unsafe address.pointee.sa_family == AF_INET6 else { return nil }
      let port = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self).sin6_port
      return Port(UInt16(bigEndian: port))
    }

    /// 0: no particular port.
    public static let any = Port(0)
    /// RFC 4251.
    public static let ssh = Port(22)
    /// RFC 5321.
    public static let smtp = Port(25)
    /// RFC 9110.
    public static let http = Port(80)
    /// RFC 1939.
    public static let pop = Port(110)
    /// RFC 9051.
    public static let imap = Port(143)
    /// RFC 9110.
    public static let https = Port(443)
    /// RFC 8314.
    public static let imaps = Port(993)
    /// RFC 1928.
    public static let socks = Port(1080)
  }

  /// The interface that the endpoint is bound to, if any.
  public var interface: NWInterface? {
    switch self {
    case .hostPort(let host, _): host.interface
    case .service(_, _, _, let interface): interface
    case .unix, .url, .opaque: nil
    }
  }
}

extension NWEndpoint.Host: ExpressibleByStringLiteral {
  /// An address if the text is one, otherwise a name.
  public init(stringLiteral value: String) { self.init(value) }
}

extension NWEndpoint.Port: ExpressibleByIntegerLiteral {
  /// The port with this number.
  public init(integerLiteral value: UInt16) { self.init(value) }
}

extension NWEndpoint.Host: CustomDebugStringConvertible {
  /// The name, or the address's text.
  public var debugDescription: String {
    switch self {
    case .name(let name, let interface): name + (interface.map { "%\($0.name)" } ?? "")
    case .ipv4(let address): address.debugDescription
    case .ipv6(let address): address.debugDescription
    }
  }
}

extension NWEndpoint.Port: CustomDebugStringConvertible {
  /// The number.
  public var debugDescription: String { "\(rawValue)" }
}

extension NWEndpoint: CustomDebugStringConvertible {
  /// The endpoint's text, such as "192.0.2.1:0" or "fe80::1%eth0.0".
  public var debugDescription: String {
    switch self {
    // A port after a colon would be read as a part of an IPv6 address.
    case .hostPort(host: .ipv6(let address), let port): "\(address).\(port)"
    case .hostPort(let host, let port): "\(host):\(port)"
    case .service(let name, let type, let domain, _): "\(name).\(type)\(domain)"
    case .unix(let path): path
    case .url(let url): url.absoluteString
    }
  }
}
#endif
