// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

extension SiteURL {
  /// Reads host and port of an authority without user information (RFC 3986, 3.2). The port is `nil` if none is given.
  ///
  /// `HostText` reads a name and the shape of an IPv4 address. Errors about addresses and ports are worded here: what
  /// helps somebody who watches a host is of no use in a URL.
  static func hostAndPort(of authority: Substring, _ scheme: Scheme) throws(SiteError) -> (Host, UInt16?) {
    let scalars = authority.unicodeScalars
    let (hostEnd, isBracketed): (Substring.Index, Bool)
    if scalars.first == "[" {
      guard let bracket = scalars.firstIndex(of: "]") else {
        throw refusal("the IPv6 address has no closing bracket; write it as \(scheme)://[2001:db8::1]/")
      }
      (hostEnd, isBracketed) = (scalars.index(after: bracket), true)
    } else {
      if scalars.count(where: { $0 == ":" }) > 1 {
        let host = meant(authority) ?? "[2001:db8::1]"
        throw refusal("an IPv6 address stands in brackets; write it as \(scheme)://\(host)/")
      }
      (hostEnd, isBracketed) = (scalars.firstIndex(of: ":") ?? scalars.endIndex, false)
    }
    let host = authority[..<hostEnd]
    if host.isEmpty { throw refusal("the URL has no host; write it as \(scheme)://example.com/") }
    let port = try port(authority[hostEnd...])
    /// The URL with another host.
    func url(_ host: String) -> String { "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")/" }
    let bracketless = host.dropFirst().dropLast()
    return (isBracketed ? try .address(address(bracketless, url)) : try nameOrAddress(host, url), port)
  }

  static func refusal(_ message: String) -> SiteError { SiteError(.invalidURL, message) }

  /// What follows the host: nothing, or a colon and a port or nothing (RFC 3986, 3.2.3).
  private static func port(_ text: Substring) throws(SiteError) -> UInt16? {
    if text.isEmpty || text == ":" { return nil }
    guard text.utf8.first == UInt8(ascii: ":"), let port = PortNumber.parse(Substring(text.utf8.dropFirst())) else {
      throw refusal("what follows the host is no port; give a colon and a number from 1 to 65535, or nothing")
    }
    return port
  }

  /// What stands in brackets: an IPv6 address, its zone after a percent sign, itself encoded or not (RFC 6874).
  private static func address(_ text: Substring, _ url: (String) -> String) throws(SiteError) -> IPAddress {
    let plain = text.replacing("%25", with: "%")
    if let address = IPAddress(plain), address.family == .ipv6 { return try usable(address, url) }
    let parts = plain.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let address = IPAddress(parts[0]), address.family == .ipv6 else {
      let meant = meant(plain[...]) ?? "[2001:db8::1]"
      throw refusal("\(HostText.quoted(text)) in brackets is no IPv6 address; write it as \(url(meant))")
    }
    if address.isLinkLocal {
      throw refusal(
        "\(HostText.quoted(parts[1])) cannot be an interface's name; write it as \(url("[\(address)%25eth0]"))")
    }
    _ = try usable(address, url)
    throw refusal("only a link-local address has a zone; write it as \(url("[\(address)]")), and the interface apart")
  }

  private static func nameOrAddress(_ text: Substring, _ url: (String) -> String) throws(SiteError) -> Host {
    if text.unicodeScalars.contains("%") {
      throw refusal("the host \(HostText.quoted(text)) has a percent sign; write its letters as they are")
    }
    if let address = IPAddress(text) { return .address(try usable(address, url)) }
    let parsed: HostText
    do {
      // Not as a host alone: what would be superfluous there is part of a URL.
      parsed = try HostText.parse("http://\(text)")
    } catch {
      throw refusal(error.message)
    }
    switch parsed {
    case .address(let address): return .address(address)
    case .name(let name): return .name(name.canonical)
    }
  }

  /// The address, if a connection can be made to it.
  private static func usable(_ address: IPAddress, _ url: (String) -> String) throws(SiteError) -> IPAddress {
    if address.isUnspecified {
      let loopback = address.family == .ipv4 ? "127.0.0.1" : "[::1]"
      throw refusal(
        "\(address) is the unspecified address, which no site has; if you mean this machine, write \(url(loopback))")
    }
    if address.family == .ipv6, address.isLinkLocal, address.zone == nil {
      throw refusal(
        "\(address) is link-local and needs its interface as a zone; write it as \(url("[\(address)%25eth0]"))")
    }
    return address
  }

  /// An address as it stands in a URL; `nil` if the text is none, or one that would be refused.
  private static func meant(_ text: Substring) -> String? {
    guard let address = IPAddress(text), !address.isUnspecified else { return nil }
    if address.family == .ipv4 { return "\(address)" }
    return address.isLinkLocal && address.zone == nil ? nil : "[\(address)]"
  }
}
