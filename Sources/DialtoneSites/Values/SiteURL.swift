// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone

/// The http or https URL of a site.
///
/// ```swift
/// let url: SiteURL = "https://example.com/health"
/// let typed = try SiteURL(text)
/// ```
///
/// User information (`https://user:password@…`) is refused: a check sends no credentials. The fragment is never sent.
/// Letters outside ASCII in the host become A-labels (RFC 5890), in path and query they are percent-encoded.
public struct SiteURL: Hashable, Sendable {
  /// How the site is asked.
  package enum Scheme: String, Hashable, Sendable {
    case http, https

    /// The port if none is given.
    package var defaultPort: UInt16 { self == .http ? PortNumber.http : PortNumber.https }
  }

  /// Who is asked.
  package enum Host: Hashable, Sendable {
    /// A name in lower case and A-labels, without trailing dot.
    case name(HostName)
    case address(IPAddress)

    package var text: String {
      switch self {
      case .name(let name): name.text
      case .address(let address): address.description
      }
    }
  }

  /// The URL as it was given.
  public let text: String

  package let scheme: Scheme
  package let host: Host
  /// Whether the host is a name with a trailing dot. Then no resolver may append a search domain.
  let isAbsolute: Bool
  /// Never 0.
  package let port: UInt16
  /// Path and query as they are sent: printable ASCII that begins with a slash (RFC 9112, 3.2.1).
  package let target: String

  /// What is asked, however it is written: two URLs with the same identity ask the same site the same thing.
  package var identity: String { "\(scheme)://\(host.text):\(port)\(target)" }

  /// Whether the site has to prove who it is: the scheme is https.
  public var isSecure: Bool { scheme == .https }

  /// The host as it is looked up: an absolute name has its trailing dot. Certificates and TLS (RFC 6066, 3) have
  /// ``host``, without it.
  package var lookupHost: Host {
    switch host {
    // This machine, however it is written (RFC 6761, 6.3). hosts(5) has it without the dot, and it is read before any
    // search domain is tried.
    case .name(let name) where name.text == "localhost": host
    case .name(let name) where isAbsolute: .name(name.absolute)
    case .name, .address: host
    }
  }

  /// The authority that the request names: the host, without zone, and the port if it is not the scheme's own. RFC
  /// 9110, 7.2, has it identical to the URL's. So a trailing dot is part of it, as curl and browsers send it.
  package var authority: String { port == scheme.defaultPort ? hostText : "\(hostText):\(port)" }

  /// The host as it stands in a URL, without zone.
  var hostText: String {
    switch host {
    case .name(let name) where isAbsolute: name.absolute.text
    case .address(let address) where address.family == .ipv6: "[\(IPAddress(address.bits))]"
    case .name, .address: host.text
    }
  }
}

extension SiteURL {
  /// Reads a URL.
  ///
  /// - Parameter text: An absolute http or https URL (RFC 3986). An IPv6 address stands in brackets, its zone after
  ///   `%25` or `%` (RFC 6874).
  /// - Throws: ``SiteError`` with the code `invalidURL` and words that say what to write instead. Without a scheme,
  ///   they give the URL that was probably meant. User information is never repeated.
  public init(_ text: String) throws(SiteError) { self = try SiteURL(parsing: text) }
}

extension SiteURL: ExpressibleByStringLiteral {
  /// A URL known when the program is written. A malformed one is a mistake of the program, and stops it. For text from
  /// elsewhere use ``init(_:)``, which throws.
  public init(stringLiteral text: StaticString) {
    do {
      self = try SiteURL(parsing: text.description)
    } catch {
      preconditionFailure("\(error)")
    }
  }
}

extension SiteURL: CustomStringConvertible {
  /// The URL as it was given.
  public var description: String { text }
}
