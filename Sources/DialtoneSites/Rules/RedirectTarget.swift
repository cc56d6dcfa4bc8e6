// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Where a redirect leads. It is a stranger's text, read only to be reported; nothing is ever sent there.
///
/// It is read as browsers read it (WHATWG URL): backslashes are slashes, tabs do not count. So a host that a browser
/// would take for another is another one here. A target with control characters is no URL (RFC 3986, 2), and curl
/// refuses it: so it is never one of the same host.
package struct RedirectTarget: Equatable {
  /// The target made absolute, for reports; `nil` if it is no http or https URL.
  package let location: String?
  /// The same to be read as a URL, however long it is: a host's letters stand in it as they are.
  package let wholeLocation: String?
  /// Whether it leads to another host than the site's, or to no site at all.
  package let isOtherHost: Bool

  /// Reads the header's text in an answer of `url`.
  package init(_ header: String, from url: SiteURL) {
    self.init(cleaned: Self.cleaned(header), from: url)
    let isReadable = !header.unicodeScalars.contains {
      $0.value < 0x20 && !"\t\r\n".unicodeScalars.contains($0) || $0.value == 0x7F
    }
    // What a browser would make of one that cannot be read is told, unless that were a page of the site.
    if !isReadable, !isOtherHost { self.init(location: nil, isOtherHost: true) }
  }

  private init(cleaned text: Substring, from url: SiteURL) {
    if let (scheme, rest) = Self.splitScheme(text) {
      if scheme != "http", scheme != "https" {
        self.init(location: nil, isOtherHost: true)
      } else if scheme != url.scheme.rawValue || rest.hasPrefix("//") {
        self.init(scheme: scheme, hierarchy: rest, from: url)
      } else {
        // "http:page", of an http site, is a page of that site.
        self.init(reference: rest, from: url)
      }
    } else if text.hasPrefix("//") {
      self.init(scheme: url.scheme.rawValue, hierarchy: text, from: url)
    } else {
      self.init(reference: text, from: url)
    }
  }

  private init(location: String?, whole: String? = nil, isOtherHost: Bool) {
    self.location = location.map { Self.reported($0, limit: Limits.location) }
    wholeLocation = whole ?? location.map { Self.reported($0) }
    self.isOtherHost = isOtherHost
  }

  /// What follows the scheme, with a host in it.
  private init(scheme: String, hierarchy: Substring, from url: SiteURL) {
    let rest = hierarchy.drop { $0 == "/" }
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let decoded = Self.decoded(authority)
    guard let host = Self.host(of: decoded[...]) else {
      self.init(location: nil, isOtherHost: true)
      return
    }
    var path = String(rest[authority.endIndex...])
    if path.first != "/" { path = "/" + path }
    self.init(
      location: "\(scheme)://\(authority)\(path)", whole: "\(scheme)://\(decoded)" + Self.reported(path),
      isOtherHost: host != Self.comparable(url.hostText))
  }

  /// A reference to a page of the same site (RFC 3986, 5.2).
  private init(reference: Substring, from url: SiteURL) {
    let origin = "\(url.scheme.rawValue)://\(url.authority)"
    let base = url.target.prefix { $0 != "?" }
    let path: String
    switch reference.first {
    case nil: path = url.target
    case "/": path = SiteURL.withoutDotSegments(reference)
    case "?": path = String(base) + reference
    case "#": path = url.target + reference
    default: path = SiteURL.withoutDotSegments(base[...(base.lastIndex(of: "/") ?? base.startIndex)] + reference)
    }
    self.init(location: origin + path, isOtherHost: false)
  }

  /// The text trimmed, without tabs and line breaks, and with slashes for backslashes before the query.
  private static func cleaned(_ header: String) -> Substring {
    var text = String.UnicodeScalarView()
    var isInQuery = false
    for scalar in header.unicodeScalars where scalar != "\t" && scalar != "\n" && scalar != "\r" {
      if scalar == "?" || scalar == "#" { isInQuery = true }
      text.append(scalar == "\\" && !isInQuery ? "/" : scalar)
    }
    return Substring(text.trimmed { $0.value <= 0x20 })
  }

  /// The scheme in lower case and what follows its colon; `nil` if there is none.
  private static func splitScheme(_ text: Substring) -> (String, Substring)? {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let scheme = text.utf8[..<colon]
    guard ASCII.isScheme(scheme) else { return nil }
    return (ASCII.folded(Substring(scheme)), text[text.utf8.index(after: colon)...])
  }

  /// The host of an authority, in the form in which hosts are compared; `nil` if there is none.
  private static func host(of authority: Substring) -> String? {
    let scalars = authority.unicodeScalars
    let hostAndPort = scalars.lastIndex(of: "@").map { authority[scalars.index(after: $0)...] } ?? authority
    if hostAndPort.first == "[" {
      guard let end = hostAndPort.firstIndex(of: "]") else { return nil }
      return comparable(String(hostAndPort[...end]))
    }
    let host = hostAndPort.prefix { $0 != ":" }
    return host.isEmpty ? nil : comparable(String(host))
  }

  /// A host's letters may be percent-encoded (RFC 3986, 3.2.2). As for Go, those of ASCII are not, so that an encoded
  /// slash or @ ends no host.
  private static func decoded(_ authority: Substring) -> String {
    let bytes = PercentEncoding.decoded(authority) { $0 >= 0x80 }
    return String(validating: bytes, as: UTF8.self) ?? String(authority)
  }

  /// Hosts are compared without case and trailing dot. A `www.` before one makes no difference.
  static func comparable(_ host: String) -> String {
    var text = ASCII.folded(host)
    do {
      text = try SiteURL(parsing: "http://\(text)/").hostText
    } catch {
      // Then it is no host of a URL of ours, and is compared as it is.
    }
    if text.utf8.last == UInt8(ascii: ".") { text.removeLast() }
    return text.hasPrefix("www.") ? String(text.dropFirst(4)) : text
  }

  /// The text as it may be shown: only printable ASCII stays, the rest is percent-encoded; it is cut if it is long.
  private static func reported(_ text: String, limit: Int = .max) -> String {
    PercentEncoding.encoded(text.utf8, limit: limit) { (0x21...0x7E).contains($0) }
  }
}
