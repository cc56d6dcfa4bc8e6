// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone
internal import DialtoneSites

/// What is asked of sites: the same for all commands that ask some.
struct SiteOptions: ParsableArguments {
  @Option(
    """
    What the site has to answer: answer (anything of its own, an error such as 404 too), success (200 to 299), \
    statuses such as 200,204, or body:TEXT (default: answer).
    """, value: "what", transform: ExpectationText.parse)
  var expect: SiteExpectation?

  @Option(
    "Send only HEAD, or only GET (default: HEAD, then GET if HEAD is refused; GET if a body is needed).",
    value: "method")
  var method: SiteMethod?

  @Flag(
    name: .customLong("public-address"),
    help: """
      A name counts as intercepted if it has no public address, only private, loopback, link-local, reserved or \
      multicast ones.
      """)
  var requiresPublicAddress = false

  @Flag(name: .customLong("use-proxy"), help: "Ask through the proxies that http_proxy, https_proxy and no_proxy set.")
  var usesProxy = false

  @Option(name: .customLong("user-agent"), "Send this User-Agent header (default: none).", value: "text")
  var userAgent: String?

  @Option(
    name: .customLong("cert-expiry"),
    "A site whose certificate ends within this time, such as 14d, is unexpected-response (default: no limit).",
    value: "time", transform: DurationArgument.any)
  var certificateLifetime: Duration?

  /// The first of them that was given, as it is typed.
  var given: String? {
    if expect != nil { return "--expect" }
    if method != nil { return "--method" }
    if requiresPublicAddress { return "--public-address" }
    if usesProxy { return "--use-proxy" }
    if userAgent != nil { return "--user-agent" }
    return certificateLifetime == nil ? nil : "--cert-expiry"
  }

  /// The configuration that they stand for, with those that all commands have. Throws an error that names the option at
  /// fault.
  func configuration(timeout: Duration?, interface: String?, family: IPAddress.Family?) throws -> SiteCheckConfiguration
  {
    var configuration = SiteCheckConfiguration()
    if let expect {
      configuration.expectation = expect
      try Self.check(configuration, "--expect")
    }
    if let method {
      configuration.method = method.method
      // A method is never wrong by itself.
      try Self.check(configuration, "--method and --expect")
    }
    if let userAgent {
      configuration.userAgent = userAgent
      try Self.check(configuration, "--user-agent")
    }
    configuration.minimumCertificateLifetime = certificateLifetime
    if let timeout { configuration.timeout = timeout }
    configuration.interface = interface
    configuration.family = family
    configuration.requiresPublicAddress = requiresPublicAddress
    configuration.proxy = usesProxy ? .environment : .direct
    return configuration
  }

  /// Checks what has been set so far. If it is wrong, `options` are to blame, which were set last.
  private static func check(_ configuration: SiteCheckConfiguration, _ options: String) throws {
    do throws(SiteError) {
      try configuration.validate()
    } catch {
      throw ValidationError("\(options): \(error)")
    }
  }
}

/// Whether targets are sites that are to be asked, and what.
struct WatchedSiteOptions: ParsableArguments {
  @Flag(
    name: .customLong("site"),
    help: "The targets are URLs of sites; ask each again and again whether it answers (see dialtone check).")
  var isWanted = false

  @Option(
    "Ask each site again after this time, such as 30s (default: 5m, and 1h over a cellular link).", value: "duration",
    transform: { try DurationArgument.atLeast(.seconds(1), $0) })
  var every: Duration?

  /// The first option about sites that was given, as it is typed.
  var given: String? { every == nil ? nil : "--every" }

  /// The configuration that they stand for.
  func configuration(check: SiteCheckConfiguration) -> SiteMonitorConfiguration {
    var configuration = SiteMonitorConfiguration(check: check)
    if let every {
      configuration.interval = every
      configuration.expensiveInterval = every
    }
    return configuration
  }
}

enum SiteMethod: String, ExpressibleByArgument, CaseIterable {
  case head = "HEAD"
  case get = "GET"

  /// Takes lower case, too.
  init?(argument: String) { self.init(rawValue: argument.uppercased()) }

  var method: SiteCheckConfiguration.Method { self == .head ? .head : .get }
}
