// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone
internal import DialtoneSites

/// A target, and the text it was typed as. The text leaves out a URL's user information, which may be a secret.
struct WatchedTarget: Equatable, Sendable {
  let typed: String
  let target: ReachabilityTarget

  /// The words that are targets. A host of such a name is written with a dot at its end.
  static let words = ["internet", "local-network"]

  /// The target if none is typed.
  static let usual = WatchedTarget(typed: "internet", target: .internet)
}

extension WatchedTarget {
  /// Reads a target. A link-local address without a zone gets the interface asked for as its zone.
  init(_ text: String, interface: String? = nil) throws {
    typed = Self.withoutUserInformation(text)
    switch ASCII.folded(text) {
    case "internet": target = .internet
    case "local-network": target = .localNetwork
    default:
      if let word = Self.words.first(where: { ASCII.folded(text).hasPrefix($0 + ":") }), !text.contains("://") {
        throw ValidationError("TARGET: \(HostText.quoted(text)): \(Self.portRemedy(of: word))")
      }
      target = try Self.host(text, interface: interface)
    }
  }

  /// What two equal targets share, however they are written.
  struct Identity: Hashable {
    /// As it is looked up: capitals make no other name (RFC 4343), nor do letters instead of A-labels (RFC 5890).
    fileprivate var name: String?
    fileprivate var port: UInt16?
    fileprivate var target: ReachabilityTarget?
    /// A program that asks about several URLs of a host looks for each of them in the output.
    fileprivate var url: String?
  }

  var identity: Identity {
    let url = typed.contains("://") ? typed : nil
    if case .host(let name) = target.storage { return Identity(name: name.ascii, port: target.port, url: url) }
    return Identity(target: target, url: url)
  }

  /// Of a site, which is asked itself.
  static func identity(of site: SiteURL) -> Identity { Identity(url: site.text) }

  /// Whether a text is the URL of a site. Refuses other URLs: nobody asks what they lead to.
  static func isSite(_ text: String) throws -> Bool {
    guard let end = text.unicodeScalars.firstRange(of: "://".unicodeScalars)?.lowerBound else { return false }
    if ["http", "https"].contains(ASCII.folded(text[..<end])) { return true }
    throw ValidationError(
      "TARGET (\"\(text)\"): only http and https sites are asked; give the host and the port instead, such as "
        + "example.com:21")
  }

  /// A URL without what is before the @ of its authority (RFC 3986, 3.2); any other text as it is.
  private static func withoutUserInformation(_ text: String) -> String {
    // By scalars: as Characters, a combining mark would hide the separator that it follows.
    guard let scheme = text.unicodeScalars.firstRange(of: "://".unicodeScalars) else { return text }
    let authority = text.unicodeScalars[scheme.upperBound...].prefix { !"/?#\\".unicodeScalars.contains($0) }
    guard let at = authority.lastIndex(of: "@") else { return text }
    return String(text[..<scheme.upperBound]) + String(text[authority.index(after: at)...])
  }

  /// The words have no port of their own.
  private static func portRemedy(of word: String) -> String {
    let host = "for the host of that name, write \(word).:443"
    return word == "internet"
      ? "the Internet has no port of its own; write internet --port 443; \(host)"
      : "the local network has no port; write \(word); \(host)"
  }

  private static func host(_ text: String, interface: String?) throws -> ReachabilityTarget {
    if interface != nil, let (address, port) = linkLocal(text) { return .address(address, port: port) }
    do {
      return try .host(text)
    } catch {
      throw ValidationError("TARGET: \(error.message)")
    }
  }

  /// A link-local address without a zone: `fe80::1`, or with a port `[fe80::1]:443`.
  private static func linkLocal(_ text: String) -> (IPAddress, port: UInt16?)? {
    if let address = IPAddress(text) { return address.isLinkLocal ? (address, nil) : nil }
    let parts = text.split(separator: "]:", maxSplits: 1)
    guard text.first == "[", parts.count == 2, let address = IPAddress(parts[0].dropFirst()),
      address.family == .ipv6, address.isLinkLocal, let port = PortNumber.parse(parts[1])
    else { return nil }
    return (address, port)
  }

  /// Whether any wired or Wi-Fi interface would do.
  var takesAnyInterface: Bool { target == .localNetwork }

  /// Whether it is a host by its name, without a port or a URL around it.
  var isPlainName: Bool {
    if case .host = target.storage { target.port == nil && !typed.contains("://") } else { false }
  }

  /// The address that the target is; `nil` if it is none.
  var address: IPAddress? {
    if case .address(let address) = target.storage { address } else { nil }
  }
}
