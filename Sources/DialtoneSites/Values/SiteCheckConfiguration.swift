// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

/// How a site is checked, once.
///
/// ```swift
/// let quick = SiteCheckConfiguration(timeout: .seconds(5))
/// let verdict = try await SiteCheck("https://example.com/health", configuration: quick).run()
/// ```
///
/// ``SiteMonitorConfiguration`` says how often a monitor does so.
public struct SiteCheckConfiguration: Hashable, Sendable {
  /// What the site has to answer.
  public var expectation: SiteExpectation = .answer

  /// The request's method. With `nil`, HEAD is followed by GET if only a body can tell. With a method given, there is
  /// no second request.
  public var method: Method?

  /// How long one check may take at most, all its stages together; above zero. The time that a check waits for its turn
  /// behind others does not count.
  public var timeout: Duration

  /// The only interface that the check may use, by name; `nil` for any.
  ///
  /// If there is none of that name, there is no path; the same is true of an empty name. No privilege is needed
  /// (SO_BINDTODEVICE, socket(7), Linux 5.7). The system's resolver looks names up over any interface.
  public var interface: String?

  /// The only address family that counts; `nil` for both, raced as in RFC 8305.
  public var family: IPAddress.Family?

  /// Whether a check also uses a path that requires a connection, if traffic or a demand makes it and nobody has to
  /// act, as over a dormant link. If this is not set, such a path is treated as no path.
  public var acceptsConnectionOnDemand = false

  /// Who may vouch for the site's certificate.
  public var trust: SiteTrust = .system

  /// How long the site's certificate has to be valid from now on, zero or more; `nil` for as long as the check takes.
  /// If it ends sooner, the verdict `available` becomes `unexpectedResponse`, and ``SiteVerdict/error`` says when it
  /// ends. Sites over http have no certificate, and are not held to it.
  public var minimumCertificateLifetime: Duration?

  /// Whether a proxy may be asked in the site's place.
  public var proxy: SiteProxy = .direct

  /// Whether a name that leads to no public address is treated as intercepted. An address is public unless the IANA
  /// special-purpose address registries (RFC 6890) say that it is not globally reachable, or it is multicast. Literal
  /// addresses are exempt, and so are sites behind a proxy, whose names the proxy looks up.
  public var requiresPublicAddress = false

  /// What the request's User-Agent header says; `nil` sends none, so that nothing in the request tells who asks. Some
  /// sites refuse requests without one (status 403).
  public var userAgent: String?

  /// The largest segment that either side may send, in bytes, a few at a time; `nil` for what the path allows.
  package var maximumSegment: Int?

  /// What the name leads to, in the order in which to try it; empty if that is to be looked up.
  package var addresses: [IPAddress] = []

  /// The proxy that is asked, regardless of ``proxy``.
  package var proxyServer: ProxyServer?

  /// Whether HTTP/2 is offered at once: what it is asked by is the site's choice. Else only a site that takes nothing
  /// else is asked over it.
  package var offersHTTP2 = false

  /// How many bytes have come already, on former connections of the same check over https.
  var received = 0

  /// What it does beyond judging an answer; `nil` for no more.
  package var inspection: SiteInspection?

  /// A request's method.
  public enum Method: String, Hashable, Sendable {
    /// Asks for the head of the answer alone (RFC 9110, 9.3.2).
    case head = "HEAD"
    /// Asks for the whole answer (RFC 9110, 9.3.1).
    case get = "GET"
  }

  /// Any answer, within 15 seconds or your time, over any interface, trusting whom the system trusts.
  public init(timeout: Duration = .seconds(15)) { self.timeout = timeout }
}

extension SiteCheckConfiguration {
  package var path: ReachabilityConfiguration {
    var path = ReachabilityConfiguration()
    path.interface = interface
    path.family = family
    return path
  }

  /// Whether packets may leave over this path, as far as is known.
  package func isUsable(_ path: Reachability) -> Bool {
    switch path.status {
    case .reachable, .undetermined: true
    case .requiresConnection: acceptsConnectionOnDemand && path.flags.isReachableWithoutIntervention
    case .unreachable: false
    }
  }

  /// Throws if the configuration contradicts itself.
  package func validate() throws(SiteError) {
    func invalid(_ message: String) -> SiteError { SiteError(.invalidConfiguration, message) }
    if timeout <= .zero { throw invalid("the timeout is \(timeout); it has to be above zero") }
    switch expectation.storage {
    case .body(let text):
      if method == .head {
        throw invalid("HEAD asks for no body, and the expectation needs one; use GET, or no method")
      }
      if text.isEmpty { throw invalid("the text that is expected in the body is empty; use the expectation success") }
      if text.utf8.count > Limits.body {
        throw invalid(
          "the text that is expected in the body is longer than the \(Limits.body) bytes that are read of it")
      }
    case .statuses(let statuses):
      if statuses.isEmpty { throw invalid("no status is expected; list one, or expect an answer") }
      if let status = statuses.sorted().first(where: { !(200...999).contains($0) }) {
        throw invalid("\(status) is no status of a final answer; give 200 to 999")
      }
    case .answer, .success: break
    }
    if let minimumCertificateLifetime, minimumCertificateLifetime < .zero {
      throw invalid("a certificate cannot be asked to last for \(minimumCertificateLifetime); give zero or more")
    }
    if let userAgent, !userAgent.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) || userAgent == "" {
      throw invalid("the user agent has to be printable ASCII, and not empty; leave it out to send none")
    }
  }
}
