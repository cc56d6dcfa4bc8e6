// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

extension SiteURL {
  /// Longer URLs than this servers refuse (RFC 9110, 4.1, recommends to support 8,000).
  private static let maximumLength = 8_000

  init(parsing text: String) throws(SiteError) {
    // From here to the check for user information, no error repeats the text: a password may be in it.
    if text.isEmpty { throw Self.invalid("the URL is empty; write it as https://example.com/") }
    if text.utf8.count > Self.maximumLength {
      throw Self.invalid("the URL has \(text.utf8.count) bytes, and \(Self.maximumLength) is the most")
    }
    guard let separator = text.unicodeScalars.firstRange(of: "://".unicodeScalars) else {
      throw Self.schemeMissing(text)
    }
    let schemeText = text[..<separator.lowerBound]
    let rest = text[separator.upperBound...]
    let authority = Substring(rest.unicodeScalars.prefix { !"/?#\\".unicodeScalars.contains($0) })
    if authority.unicodeScalars.contains("@") {
      throw Self.invalid("the URL has user information before the host; a check sends no credentials: leave it out")
    }
    for scalar in text.unicodeScalars where scalar.value <= 0x20 || (0x7F...0x9F).contains(scalar.value) {
      throw Self.invalid("the URL contains \(HostText.named(scalar)); take it away, or write it percent-encoded")
    }
    guard let scheme = Scheme(rawValue: Self.folded(schemeText)) else {
      if schemeText.unicodeScalars.contains(where: { "/?#@".unicodeScalars.contains($0) }) || schemeText.isEmpty {
        throw Self.schemeMissing(text)
      }
      throw Self.invalid("only http and https can be checked; write it as https://\(rest)")
    }
    if rest.unicodeScalars.dropFirst(authority.unicodeScalars.count).first == "\\" {
      throw Self.invalid("the URL has a backslash after its host; write a slash")
    }
    let host = try Self.host(of: authority, in: "\(scheme)://\(authority)")
    let port = try Self.port(of: authority) ?? scheme.defaultPort
    let target = Self.target(rest[authority.endIndex...])
    self.init(
      text: text, scheme: scheme, host: host, isAbsolute: Self.isAbsolute(host, authority), port: port, target: target)
  }

  private static func invalid(_ message: String) -> SiteError { SiteError(.invalidURL, message) }

  private static func folded(_ text: some StringProtocol) -> String {
    String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  /// Names the URL that was probably meant.
  private static func schemeMissing(_ text: String) -> SiteError {
    var rest = Substring(text)
    for scheme in [Scheme.http, .https] where folded(rest).hasPrefix("\(scheme):") {
      // "https:example.com", "http:/example.com".
      rest = Substring(rest.unicodeScalars.dropFirst(scheme.rawValue.utf8.count + 1).drop { $0 == "/" })
      if rest.unicodeScalars.contains("@") { break }
      return invalid("the scheme is to be followed by two slashes; write it as \(scheme)://\(HostText.shown(rest))")
    }
    rest = Substring(rest.unicodeScalars.drop { $0 == "/" || $0 == ":" })
    let authority = rest.unicodeScalars.prefix { !"/?#".unicodeScalars.contains($0) }
    if authority.contains("@") {
      return invalid("the URL has no scheme, and user information before the host; write it as https://example.com/")
    }
    if rest.isEmpty { return invalid("the URL has no scheme and no host; write it as https://example.com/") }
    // Whoever names port 80 does not mean TLS.
    let scheme: Scheme = String(Substring(authority)).hasSuffix(":80") ? .http : .https
    return invalid("the URL has no scheme; write it as \(scheme)://\(HostText.shown(rest))")
  }

  private static func host(of authority: Substring, in url: String) throws(SiteError) -> Host {
    let parsed: HostText
    do {
      parsed = try HostText.parse(url)
    } catch {
      throw invalid(error.message)
    }
    switch parsed {
    case .address(let address): return .address(address)
    case .name(let name): return try .name(InternationalName.ascii(name))
    }
  }

  /// Whether a name stands there with its trailing dot.
  private static func isAbsolute(_ host: Host, _ authority: Substring) -> Bool {
    guard case .name = host else { return false }
    return authority.unicodeScalars.prefix { $0 != ":" }.last?.separatesLabels ?? false
  }

  /// The port after the host, which has been found well-formed; `nil` where there is none.
  private static func port(of authority: Substring) throws(SiteError) -> UInt16? {
    let scalars = authority.unicodeScalars
    let start = scalars.lastIndex(of: "]").map(scalars.index(after:)) ?? scalars.startIndex
    guard let colon = scalars[start...].firstIndex(of: ":") else { return nil }
    let digits = authority[scalars.index(after: colon)...]
    if digits.isEmpty { return nil }
    guard let port = UInt16(digits), port > 0 else {
      throw invalid("nothing answers on port 0; give a port from 1 to 65535, or none")
    }
    return port
  }

  /// Path and query of what follows the authority, as they may be sent; without the fragment.
  static func target(_ text: some StringProtocol) -> String {
    let sent = text.unicodeScalars.prefix { $0 != "#" }
    var target = sent.first == "/" ? "" : "/"
    for byte in String(String.UnicodeScalarView(sent)).utf8 {
      if isSendable(byte) {
        target.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        target += "%"
        if byte < 0x10 { target += "0" }
        target += String(byte, radix: 16, uppercase: true)
      }
    }
    return target
  }

  /// Printable ASCII but what RFC 3986 allows nowhere in a URL. A percent sign stays, whatever follows it.
  private static func isSendable(_ byte: UInt8) -> Bool {
    guard (0x21...0x7E).contains(byte) else { return false }
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
      UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
      return false
    default: return true
    }
  }
}
