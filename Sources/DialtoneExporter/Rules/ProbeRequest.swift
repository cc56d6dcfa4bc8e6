// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone
package import DialtoneSites

/// What a request to `/probe` asks for.
package struct ProbeRequest: Sendable {
  /// Why a request is not served, with the status to say so.
  package struct Refusal: Error {
    package enum Kind: Sendable {
      case unknownModule, unusableTarget, other
    }

    package let status: Int
    package let message: String
    package var kind = Kind.other
  }

  package var module: ProbeModule
  /// As it was given, for people.
  package let target: String
  /// `nil` for a target that cannot be probed, for which there is a reason.
  package let url: SiteURL?
  package let flaw: String
  package var timeout: Duration
  /// The name in the Host field, and in TLS, even if the target has another one.
  package var hostName: HostName?
  package var isDebug = false

  package init(module: ProbeModule, target: String, timeout: Duration) throws(Refusal) {
    self.module = module
    self.target = target
    self.timeout = timeout
    do throws(Refusal) {
      url = module.prober == .http ? try Self.site(target) : try Self.address(target, usesTLS: module.usesTLS)
      flaw = ""
    } catch {
      // As for blackbox_exporter, its probe fails: so alerts tell of it. What may have a password in it is refused.
      if error.kind != .unusableTarget || target.contains("@") { throw error }
      (url, flaw) = (nil, error.message)
    }
  }

  /// Reads a query. `scrapeTimeout` is the value of X-Prometheus-Scrape-Timeout-Seconds.
  package init(
    query: String, scrapeTimeout: String?, configuration: ExporterConfiguration
  ) throws(Refusal) {
    let parameters = Self.parameters(in: query)
    func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
    let name = parameter("module").flatMap { $0.isEmpty ? nil : $0 } ?? ExporterConfiguration.usualModule
    guard let module = configuration.modules[name] else {
      throw Refusal(status: 400, message: "Unknown module \(HostText.quoted(name[...]))", kind: .unknownModule)
    }
    guard let target = parameter("target"), !target.isEmpty else {
      throw Refusal(status: 400, message: "Target parameter is missing")
    }
    try self.init(module: module, target: target, timeout: try Self.timeout(of: module, scrape: scrapeTimeout))
    if let text = parameter("hostname"), !text.isEmpty {
      do throws(ReachabilityError) {
        hostName = try HostName(inPlaceOfTarget: text)
      } catch {
        throw Refusal(status: 400, message: "hostname: \(error)")
      }
      let own = module.fields.first { ASCII.areSame($0.name, "host") }?.value
      if let own, own != text {
        throw Refusal(status: 400, message: "hostname: the module has the header Host already, with another name")
      }
    }
    isDebug = parameter("debug") == "true"
  }

  // MARK: Time

  /// What a probe leaves of the scrape's time, for the way back.
  private static let offset = 0.5
  /// What blackbox_exporter takes if a request says nothing.
  private static let usualTimeout = 120.0

  private static func timeout(of module: ProbeModule, scrape: String?) throws(Refusal) -> Duration {
    var allowed = usualTimeout
    // One without a value says nothing.
    if let scrape, !scrape.isEmpty {
      guard let seconds = Double(scrape), seconds.isFinite, seconds >= 0 else {
        throw Refusal(status: 400, message: "X-Prometheus-Scrape-Timeout-Seconds is no number")
      }
      if seconds > 0 { allowed = min(seconds, usualTimeout) }
    }
    // With less than the offset, the module's own counts.
    let rest: Duration = .seconds(allowed > offset ? allowed - offset : allowed)
    guard let own = module.timeout else { return rest }
    return allowed > offset ? min(own, rest) : own
  }

  // MARK: Targets

  private static let example = "give a URL such as https://example.com/, or a host"

  private static func site(_ target: String) throws(Refusal) -> SiteURL {
    let scheme = ASCII.folded(Substring(target.utf8.prefix("https://".utf8.count)))
    var text = target
    if !scheme.hasPrefix("http://"), scheme != "https://" {
      // "localhost:8080" is a host and a port; "file:/etc/passwd" is not.
      let authority = target.prefix { !"/?#[".contains($0) }
      if let colon = authority.firstIndex(of: ":"),
        !authority[colon...].dropFirst().allSatisfy({ $0.isASCII && $0.isNumber })
          || colon == authority.index(before: authority.endIndex)
      {
        if IPAddress(authority) != nil { throw unusable("an IPv6 address stands in brackets: [::1]") }
        throw Refusal(status: 400, message: "target: only http and https are probed; \(example)")
      }
      text = "http://\(target)"
    }
    return try url(text)
  }

  private static func address(_ target: String, usesTLS: Bool) throws(Refusal) -> SiteURL {
    let port = target.utf8.reversed().prefix { ASCII.isDigit($0) }.count
    let host = target.utf8.dropLast(port + 1)
    guard port > 0, target.utf8.dropLast(port).last == UInt8(ascii: ":"),
      !target.contains(where: { "/?#@\\".contains($0) }),
      // An IPv6 address stands in brackets.
      host.first == UInt8(ascii: "[") || !host.contains(UInt8(ascii: ":"))
    else {
      throw unusable("give a host and a port, such as example.com:22 or [2001:db8::1]:22")
    }
    return try url("\(usesTLS ? "https" : "http")://\(target)/")
  }

  private static func url(_ text: String) throws(Refusal) -> SiteURL {
    do throws(SiteError) {
      return try SiteURL(text)
    } catch {
      throw unusable("\(error)")
    }
  }

  private static func unusable(_ words: String) -> Refusal {
    Refusal(status: 400, message: "target: \(words)", kind: .unusableTarget)
  }

  // MARK: Queries

  /// The parameters of a query (application/x-www-form-urlencoded), in their order.
  static func parameters(in query: String) -> [(name: String, value: String)] {
    query.utf8.split(separator: UInt8(ascii: "&")).map { item in
      let parts = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      return (decoded(parts[0]), parts.count > 1 ? decoded(parts[1]) : "")
    }
  }

  private static func decoded(_ text: Substring.UTF8View) -> String {
    let spaced = Substring(decoding: text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    return String(decoding: PercentEncoding.decoded(spaced), as: UTF8.self)
  }
}
