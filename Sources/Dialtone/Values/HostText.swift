// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a person may write for a host: a name, the text of an IP address, or a URL.
package enum HostText {
  case name(HostName)
  case address(IPAddress)

  /// A host and the port behind it, if there is one.
  package typealias Endpoint = (host: HostText, port: UInt16?)

  /// Reads a host and leaves out its port; see ``parseEndpoint(_:)``.
  package static func parse(_ text: String) throws(ReachabilityError) -> HostText { try parseEndpoint(text).host }

  /// Reads `text`, or throws an error that says what is wrong with it and what to write instead.
  ///
  /// The port is what follows the host after a colon: `example.com:443`, `192.0.2.1:443`, `[2001:db8::1]:443`. A URL
  /// without one has that of its scheme, if the scheme is http (80) or https (443).
  static func parseEndpoint(_ text: String) throws(ReachabilityError) -> Endpoint {
    if text.isEmpty {
      throw ReachabilityError(
        .invalidHost, "the host is empty; give a name such as example.com, an IP address or a URL")
    }
    for scalar in text.unicodeScalars where scalar.value <= 0x20 || scalar.value == 0x7F {
      // The text before an @ may be a secret: no error repeats it.
      let subject = text.utf8.contains(UInt8(ascii: "@")) ? "the text" : quoted(text)
      throw ReachabilityError(
        .invalidHost, "\(subject) is not a host name: it contains \(named(scalar)); take it away")
    }
    // By scalars: as Characters, a combining mark would hide the separator that it follows.
    if let scheme = text.unicodeScalars.firstRange(of: "://".unicodeScalars) {
      let rest = text[scheme.upperBound...]
      do throws(ReachabilityError) {
        return try parse(scheme: text[..<scheme.lowerBound], rest: rest)
      } catch {
        // If user information contains a slash, a part of it is in the host's place.
        if !pathAndMore(of: rest).utf8.contains(UInt8(ascii: "@")) { throw error }
        throw ReachabilityError(error.code, "the URL's host cannot be read; write it as https://example.com/")
      }
    }
    if let at = text.unicodeScalars.lastIndex(of: "@") {
      let rest = text[text.unicodeScalars.index(after: at)...]
      throw ReachabilityError(.invalidHost, "the host has a user before the @; \(alone(host(of: rest)))")
    }
    do throws(ReachabilityError) {
      let (host, port) = try split(text)
      return (try parse(host: host), port)
    } catch {
      throw surplus(in: text) ?? error
    }
  }

  /// Separates a port from the end of a host. An IPv6 address without brackets has none.
  private static func split(_ text: String) throws(ReachabilityError) -> (host: Substring, port: UInt16?) {
    let host = host(of: Substring(text))
    let rest = text[host.endIndex...]
    guard rest.utf8.first == UInt8(ascii: ":"), !host.isEmpty else { return (Substring(text), nil) }
    // By scalars: the colon as a Character would take a combining mark with it.
    let digits = Substring(rest.unicodeScalars.dropFirst())
    // The error of the caller explains any other text there.
    guard !digits.isEmpty, digits.utf8.allSatisfy(ASCII.isDigit) else { return (Substring(text), nil) }
    guard let port = PortNumber.parse(digits) else {
      throw ReachabilityError(
        .invalidHost, "\(quoted(digits)) in \(quoted(text)) is not a port; give a number from 1 to 65535")
    }
    return (host, port)
  }

  /// Takes host and port from a URL (RFC 3986, 3.2); user information, path, query and fragment do not count.
  private static func parse(scheme: Substring, rest: Substring) throws(ReachabilityError) -> Endpoint {
    // User information may be a secret: from here on no error repeats more than the host.
    guard ASCII.isScheme(scheme.utf8) else {
      throw ReachabilityError(.invalidHost, "the URL has no scheme before ://; write it as https://example.com/")
    }
    let authority = rest[..<pathAndMore(of: rest).startIndex]
    let scalars = authority.unicodeScalars
    let hostAndPort = scalars.lastIndex(of: "@").map { authority[scalars.index(after: $0)...] } ?? authority
    var host = hostAndPort
    var port: UInt16?
    if hostAndPort.unicodeScalars.first == "[" {
      guard let end = hostAndPort.unicodeScalars.firstIndex(of: "]") else {
        throw ReachabilityError(
          .invalidAddress, "the IPv6 address in the URL has no closing bracket; write [2001:db8::1]")
      }
      host = hostAndPort[...end]
      port = try Self.port(hostAndPort[hostAndPort.unicodeScalars.index(after: end)...])
    } else if let colon = hostAndPort.unicodeScalars.firstIndex(of: ":") {
      host = hostAndPort[..<colon]
      if hostAndPort.unicodeScalars.count(where: { $0 == ":" }) > 1 {
        let example = IPAddress(hostAndPort).map(\.description) ?? "2001:db8::1"
        throw ReachabilityError(
          .invalidAddress, "an IPv6 address in a URL stands in brackets; write \(scheme)://[\(example)]/")
      }
      port = try Self.port(hostAndPort[colon...])
    }
    if host.isEmpty {
      throw ReachabilityError(.invalidHost, "the URL has no host; write it as \(scheme)://example.com/")
    }
    // In a URL, the zone's percent sign is encoded itself (RFC 6874).
    return (try parse(host: host.replacing("%25", with: "%")), port ?? PortNumber.usual(forScheme: scheme))
  }

  /// Returns what follows the authority (RFC 3986, 3.2).
  private static func pathAndMore(of rest: Substring) -> Substring {
    Substring(rest.unicodeScalars.drop { !"/?#\\".unicodeScalars.contains($0) })
  }

  /// Reads what follows the host: nothing, or a colon and perhaps a port number (RFC 3986, 3.2.3).
  private static func port(_ text: Substring) throws(ReachabilityError) -> UInt16? {
    if text.isEmpty || text == ":" { return nil }
    guard text.utf8.first == UInt8(ascii: ":"), let port = PortNumber.parse(Substring(text.unicodeScalars.dropFirst()))
    else {
      // Not repeated: if user information contains a slash, this is a part of it.
      throw ReachabilityError(
        .invalidHost, "what follows the URL's host is no port; give a colon and 1 to 65535, or nothing")
    }
    return port
  }

  private static func parse(host text: some StringProtocol) throws(ReachabilityError) -> HostText {
    let isBracketed = text.first == "[" && text.last == "]"
    let bare = isBracketed ? String(text.dropFirst().dropLast()) : String(text)
    if let address = IPAddress(bare), !isBracketed || address.family == .ipv6 {
      return try .address(check(address, text: bare))
    }
    if bare.contains("%") { throw zoneError(bare) }
    let colons = bare.utf8.count { $0 == UInt8(ascii: ":") }
    if isBracketed || colons > 1 {
      throw ReachabilityError(.invalidAddress, "\(quoted(text)) is not an IPv6 address; write it as 2001:db8::1")
    }
    return .name(try HostName(bare))
  }

  /// A link-local IPv6 address without a zone names no host: connect(2) refuses it (EINVAL).
  private static func check(_ address: IPAddress, text: String) throws(ReachabilityError) -> IPAddress {
    if address.family == .ipv6, address.isLinkLocal, address.zone == nil {
      throw ReachabilityError(
        .invalidAddress, "\(quoted(text)) is link-local and needs its interface as a zone; write \(text)%eth0")
    }
    if address.isUnspecified {
      throw ReachabilityError(
        .invalidAddress,
        "\(quoted(text)) is the unspecified address and names no host; for the Internet in general, "
          + "ask for the target internet")
    }
    return address
  }

  private static func zoneError(_ text: String) -> ReachabilityError {
    let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    let zone = parts[1]
    let problem =
      switch IPAddress(parts[0]) {
      case nil: "\(quoted(parts[0])) before the % is not an IPv6 address; only such an address can have a zone"
      case let address? where address.family == .ipv4:
        "an IPv4 address has no zone; give \(address), and the interface apart"
      case let address? where !address.isLinkLocal:
        "only a link-local address has a zone; give \(address), and the interface apart"
      default:
        zone.isEmpty
          ? "the zone after the % is empty; write \(parts[0])%eth0"
          : """
          \(quoted(zone)) cannot be an interface's name: 1 to \(InlineName.capacity) bytes, without space, slash or %
          """
      }
    return ReachabilityError(.invalidAddress, "\(quoted(text)) is not an address: \(problem)")
  }

  /// Returns `text` in quotation marks, cut if it is long, with invisible characters written out.
  package static func quoted(_ text: some StringProtocol) -> String { "\"\(shown(text))\"" }

  /// Returns `text`, cut if it is long, with invisible characters written out.
  package static func shown(_ text: some StringProtocol) -> String {
    var shown = ""
    for (position, scalar) in text.unicodeScalars.enumerated() {
      if position == 80 {
        shown += "…"
        break
      }
      if scalar.isInvisible {
        shown += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      } else {
        shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }

  /// Returns the name of a scalar, for an error.
  package static func named(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case " ": "a space"
    case "\0": "a NUL character"
    case "\n", "\r": "a line break"
    case "\t": "a tab"
    case _ where scalar.properties.generalCategory == .control: "the control character \(scalar.codePoint)"
    case _ where scalar.isInvisible: "the invisible character \(scalar.codePoint)"
    case _ where scalar.properties.isWhitespace: "the space \(scalar.codePoint)"
    case _ where scalar.isASCII: "\"\(scalar)\""
    default: "\"\(scalar)\" (\(scalar.codePoint))"
    }
  }
}

/// The number of a port (RFC 9293, 3.1).
package enum PortNumber {
  package static var http: UInt16 { 80 }
  package static var https: UInt16 { 443 }

  /// Returns the port that the text is; `nil` if it is no number from 1 to 65535, in digits of ASCII alone.
  package static func parse(_ text: some StringProtocol) -> UInt16? {
    guard text.utf8.allSatisfy(ASCII.isDigit), let port = UInt16(text), port > 0 else { return nil }
    return port
  }

  /// Returns the port of a URL that names none, by its scheme (RFC 9110, 4.2); `nil` for other schemes than http and
  /// https. Case does not matter.
  package static func usual(forScheme scheme: Substring) -> UInt16? {
    switch ASCII.folded(scheme) {
    case "http": http
    case "https": https
    default: nil
    }
  }
}
