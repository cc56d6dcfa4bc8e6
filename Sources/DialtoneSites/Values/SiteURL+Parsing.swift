// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

extension SiteURL {
  /// Servers refuse longer URLs than this (RFC 9110, 4.1, recommends to support 8,000).
  private static let maximumLength = 8_000

  init(parsing text: String) throws(SiteError) {
    if text.isEmpty { throw Self.refusal("the URL is empty; write it as https://example.com/") }
    if text.utf8.count > Self.maximumLength {
      throw Self.refusal("the URL has \(text.utf8.count) bytes, and \(Self.maximumLength) is the most")
    }
    do throws(SiteError) {
      self = try Self.parse(text)
    } catch {
      // Until the text has been read, it is not known where user information ends. What is before an @, anywhere, may
      // be a secret.
      throw text.utf8.contains(UInt8(ascii: "@")) ? Self.refusal(ofSecret: text) : error
    }
  }

  private static func parse(_ text: String) throws(SiteError) -> SiteURL {
    if let refusal = refusal(ofUnprintable: text) { throw refusal }
    guard let separator = separator(in: text), separator.lowerBound > text.startIndex,
      !text[..<separator.lowerBound].utf8.contains(where: "/?#".utf8.contains)
    else { throw schemeMissing(text) }
    let rest = text[separator.upperBound...]
    guard let scheme = Scheme(rawValue: ASCII.folded(text[..<separator.lowerBound])) else {
      throw refusal("only http and https can be checked", meaning: rest, .https)
    }
    let authority = authority(of: rest)
    if authority.utf8.contains(UInt8(ascii: "@")) { throw refusal(ofSecret: text) }
    if rest[authority.endIndex...].utf8.first == UInt8(ascii: "\\") {
      throw refusal("the URL has a backslash after its host; write a slash")
    }
    let (host, port) = try hostAndPort(of: authority, scheme)
    // As browsers and curl do before they ask.
    let target = withoutDotSegments(target(rest[authority.endIndex...])[...])
    return SiteURL(
      text: text, scheme: scheme, host: host, isAbsolute: isAbsolute(host, authority), port: port ?? scheme.defaultPort,
      target: target)
  }

  /// Whether the name has its trailing dot there.
  private static func isAbsolute(_ host: Host, _ authority: Substring) -> Bool {
    guard case .name = host else { return false }
    return authority.unicodeScalars.prefix { $0 != ":" }.last?.separatesLabels ?? false
  }

  // All that is looked for is ASCII, which a byte tells: an exporter reads thousands of URLs a second.

  private static func separator(in text: String) -> Range<String.Index>? {
    let bytes = text.utf8
    var colon = bytes.startIndex
    while let next = bytes[colon...].firstIndex(of: UInt8(ascii: ":")) {
      if bytes[next...].starts(with: "://".utf8) { return next..<bytes.index(next, offsetBy: 3) }
      colon = bytes.index(after: next)
    }
    return nil
  }

  private static func authority(of rest: Substring) -> Substring {
    Substring(rest.utf8.prefix { !"/?#\\".utf8.contains($0) })
  }

  // MARK: Refusals

  /// Names the first character that no URL has; `nil` if there is none.
  private static func refusal(ofUnprintable text: String) -> SiteError? {
    // U+0080 to U+009F begin with 0xC2, as some others do.
    if !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F || $0 == 0xC2 }) { return nil }
    return text.unicodeScalars.first { $0.value <= 0x20 || (0x7F...0x9F).contains($0.value) }.map { scalar in
      refusal("the URL contains \(HostText.named(scalar)); take it away, or write it percent-encoded")
    }
  }

  /// Repeats nothing of a text with an @.
  private static func refusal(ofSecret text: String) -> SiteError {
    if let separator = separator(in: text),
      authority(of: text[separator.upperBound...]).utf8.contains(UInt8(ascii: "@"))
    {
      return refusal("the URL has user information before the host; a check sends no credentials: leave it out")
    }
    let unreadable = """
      the URL cannot be read, and is not repeated, as its @ may follow user information; write it as \
      https://example.com/
      """
    return refusal(ofUnprintable: text) ?? refusal(unreadable)
  }

  /// Names the URL that was probably meant: `rest` after the scheme. If that would be refused, too, it says why.
  private static func refusal(_ problem: String, meaning rest: Substring, _ scheme: Scheme) -> SiteError {
    do throws(SiteError) {
      _ = try parse("\(scheme)://\(rest)")
      return refusal("\(problem); write it as \(scheme)://\(HostText.shown(rest))")
    } catch {
      return refusal("\(problem); besides, \(error.message)")
    }
  }

  private static func schemeMissing(_ text: String) -> SiteError {
    for scheme in [Scheme.http, .https] {
      // "https:example.com", "http:/example.com", "http//example.com".
      guard ASCII.folded(text).hasPrefix("\(scheme):") || ASCII.folded(text).hasPrefix("\(scheme)//") else { continue }
      let rest = text.unicodeScalars.dropFirst(scheme.rawValue.utf8.count).drop { $0 == ":" || $0 == "/" }
      return refusal("the scheme is to be followed by a colon and two slashes", meaning: Substring(rest), scheme)
    }
    let rest = Substring(text.unicodeScalars.drop { $0 == "/" || $0 == ":" })
    if rest.isEmpty { return refusal("the URL has no scheme and no host; write it as https://example.com/") }
    // A URL with port 80 does not mean TLS.
    return refusal(
      "the URL has no scheme", meaning: rest, String(authority(of: rest)).hasSuffix(":80") ? .http : .https)
  }

  // MARK: What is sent

  /// Path and query of what follows the authority, as they may be sent; without the fragment.
  static func target(_ text: some StringProtocol) -> String {
    let sent = text.utf8.prefix { $0 != UInt8(ascii: "#") }
    let slash = sent.first == UInt8(ascii: "/") ? "" : "/"
    if sent.allSatisfy(isSendable) { return slash + String(decoding: sent, as: UTF8.self) }
    return slash + PercentEncoding.encoded(sent, except: isSendable)
  }

  /// RFC 3986, 5.2.4; what follows the path is left alone.
  static func withoutDotSegments(_ reference: Substring) -> String {
    let path = reference.prefix { $0 != "?" && $0 != "#" }
    var segments: [Substring] = []
    let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    for (position, part) in parts.enumerated() {
      let isLast = position == parts.count - 1
      switch part {
      case ".": if isLast { segments.append("") }
      case "..":
        if !segments.isEmpty { segments.removeLast() }
        if isLast { segments.append("") }
      default: segments.append(part)
      }
    }
    return "/" + segments.joined(separator: "/") + reference[path.endIndex...]
  }

  /// Printable ASCII except what RFC 3986 allows nowhere in a URL. A percent sign stays, no matter what follows it.
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
