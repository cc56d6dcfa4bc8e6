// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone

/// The proxies that the environment names: `http_proxy`, `https_proxy` and `no_proxy`, as curl(1) reads them.
package struct ProxySettings {
  /// By scheme; `nil` for none.
  var http: String?
  var https: String?
  var exceptions: String?
  /// For both schemes, if they have none of their own. Only a diagnosis asks for it.
  var all: String?

  package static var environment: ProxySettings {
    // HTTP_PROXY is not read: a CGI program's client can set it by a header "Proxy" (httpoxy, CVE-2016-5385).
    ProxySettings(
      http: EnvironmentVariable["http_proxy"],
      https: EnvironmentVariable["https_proxy"] ?? EnvironmentVariable["HTTPS_PROXY"],
      exceptions: EnvironmentVariable["no_proxy"] ?? EnvironmentVariable["NO_PROXY"],
      all: EnvironmentVariable["all_proxy"] ?? EnvironmentVariable["ALL_PROXY"])
  }

  /// The proxy that `url` is to be asked by; `nil` for none. Throws if it cannot be read, before anything is sent.
  package func proxy(for url: SiteURL) throws(SiteError) -> ProxyServer? {
    guard let text = url.isSecure ? https : http, !isException(url.host, port: url.port) else { return nil }
    return try Self.server(text, variable: url.isSecure ? "https_proxy" : "http_proxy")
  }

  /// The text of the proxy that curl(1) would ask for `url`, and the variable that names it: also one of SOCKS, and
  /// that of `all_proxy`. `nil` for none.
  package func setting(for url: SiteURL) -> (variable: String, text: String)? {
    if isException(url.host, port: nil) { return nil }
    if let text = url.isSecure ? https : http { return (url.isSecure ? "https_proxy" : "http_proxy", text) }
    return all.map { ("all_proxy", $0) }
  }

  /// Reads a proxy's URL. It may have a user and a password; neither is ever repeated.
  ///
  /// With `sites`, one of SOCKS 5 may be read, too: `socks5` wants the site's address, which is the first of them.
  package static func server(
    _ text: String, variable: String, socksTo sites: [IPAddress]? = nil
  ) throws(SiteError) -> ProxyServer {
    var rest = text[...]
    var socks: ProxyServer.Socks?
    var wantsAddress = false
    if let scheme = rest.unicodeScalars.firstRange(of: "://".unicodeScalars) {
      switch (ASCII.folded(rest[..<scheme.lowerBound]), sites) {
      case ("http", _): break
      case ("socks5", let sites?): (socks, wantsAddress) = (ProxyServer.Socks(target: sites.first), true)
      case ("socks5h", _?): socks = ProxyServer.Socks()
      default: throw SiteError(.invalidConfiguration, "the proxy in \(variable) has to be an http URL")
      }
      rest = rest[scheme.upperBound...]
    }
    rest = Substring(rest.unicodeScalars.prefix { !["/", "?", "#"].contains($0) })
    var authorization: String?
    // One of a password is written %40 (RFC 3986, 3.2.1).
    if let at = rest.unicodeScalars.firstIndex(of: "@") {
      let user = rest[..<at]
      let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let name = PercentEncoding.decoded(parts[0])
      let password = parts.count > 1 ? PercentEncoding.decoded(parts[1]) : []
      // RFC 7617, 2: the colon is there without a password, too.
      authorization = "Basic " + Base64.encode(name + [UInt8(ascii: ":")] + password)
      socks?.user = name
      socks?.password = password
      rest = rest[rest.unicodeScalars.index(after: at)...]
    }
    do {
      let url = try SiteURL(parsing: "http://\(rest)/")
      // curl's default: 1080 if the proxy has no port.
      let afterColon = rest.unicodeScalars.lastIndex(of: ":").map { rest[$0...].unicodeScalars.dropFirst() }
      let hasPort = afterColon.map { !$0.isEmpty && !$0.contains("]") } ?? false
      return ProxyServer(
        host: url.lookupHost, port: hasPort ? url.port : 1_080, authorization: authorization, socks: socks,
        wantsAddress: wantsAddress)
    } catch {
      throw SiteError(.invalidConfiguration, "the proxy in \(variable) has no host and port that could be read")
    }
  }

  // MARK: Exceptions

  /// Whether the host is to be asked directly, at this port. Without one, as curl(1) has it: entries have no ports, and
  /// `*.` is no wildcard.
  func isException(_ host: SiteURL.Host, port: UInt16?) -> Bool {
    guard let exceptions else { return false }
    // As an entry among others, it covers nothing.
    if exceptions == "*" { return true }
    return exceptions.split { $0 == "," || $0 == " " || $0 == "\t" }.contains { entry in
      if Self.covers(entry, host) { return port != nil || !entry.hasPrefix("*.") }
      // With a port, an entry is about that one alone, as Go and Python have it; an IPv6 address stands in brackets.
      guard let port, let colon = entry.lastIndex(of: ":"),
        PortNumber.parse(entry[entry.index(after: colon)...]) == port
      else { return false }
      let named = entry[..<colon]
      return (!named.contains(":") || named.last == "]") && Self.covers(named, host)
    }
  }

  private static func covers(_ entry: Substring, _ host: SiteURL.Host) -> Bool {
    switch host {
    case .name(let name):
      let isWildcard = entry.hasPrefix("*.")
      let domain = ASCII.folded(isWildcard ? entry.dropFirst() : entry).trimmed { $0 == "." }
      if domain.isEmpty { return false }
      return name.text == domain && !isWildcard || name.text.hasSuffix("." + domain)
    case .address(let address):
      let parts = entry.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      let bare = parts[0].first == "[" && parts[0].last == "]" ? parts[0].dropFirst().dropLast() : parts[0]
      guard let network = IPAddress(bare), network.family == address.family else { return false }
      let width = network.bits.bitWidth
      guard parts.count == 1 || parts[1].utf8.allSatisfy(ASCII.isDigit),
        let length = parts.count == 1 ? width : Int(parts[1]), (0...width).contains(length)
      else { return false }
      // Nothing is in common with curl's network of no bits but the address itself.
      return address.bits.matches(prefix: network.bits, length: length == 0 ? width : length)
    }
  }
}

extension SiteCheckConfiguration {
  func proxyServer(for url: SiteURL) throws(SiteError) -> ProxyServer? {
    if let proxyServer { return proxyServer }
    return proxy == .environment ? try ProxySettings.environment.proxy(for: url) : nil
  }

  /// Throws if the configuration contradicts itself, or if the proxy that `url` would be asked by cannot be read.
  package func validate(for url: SiteURL) throws(SiteError) {
    try validate()
    _ = try proxyServer(for: url)
  }
}

extension SiteMonitorConfiguration {
  /// Throws if the configuration contradicts itself, or if the proxy that `url` would be asked by cannot be read.
  package func validate(for url: SiteURL) throws(SiteError) {
    try validate()
    _ = try check.proxyServer(for: url)
  }
}

/// Base64 (RFC 4648, 4), which HTTP's basic authentication asks for.
enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var value: UInt32 = 0
      for offset in 0..<3 { value = value << 8 | (offset < group.count ? UInt32(group[start + offset]) : 0) }
      for offset in 0..<4 {
        let isPadding = offset > group.count
        text.append(isPadding ? UInt8(ascii: "=") : alphabet[Int(value >> UInt32(18 - 6 * offset)) & 63])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
