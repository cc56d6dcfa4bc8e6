// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone
package import DialtoneSites

/// Probes targets with checks of sites, each hop of a redirect a check of its own.
package struct Prober: Sendable {
  private let environment: SiteEnvironment
  private let policy: ProbePolicy
  private let time: TimeSource

  /// As many redirects as blackbox_exporter follows.
  private static let maximumRedirects = 10
  /// Longer bodies are not looked through: the probe fails.
  static let longestBody = 1 << 20

  package init(policy: ProbePolicy, environment: SiteEnvironment = .system, time: TimeSource = .system) {
    self.policy = policy
    self.environment = environment
    self.time = time
  }

  /// Whether the policy lets a target be probed, as far as can be told without a look-up.
  package func admits(_ request: ProbeRequest) -> Bool {
    request.url.map { policy.admission(of: $0.host) != nil } ?? true
  }

  /// Probes. Ends at the request's timeout; a task that is cancelled ends it at once.
  package func run(_ request: ProbeRequest) async -> ProbeResult {
    let start = time.now()
    var hops = Hops(request) { [time] in
      Task.isCancelled || time.now() - start >= request.timeout.nanosecondsClamped
    }
    while let url = hops.next {
      let rest = request.timeout - .nanoseconds(time.now() - start)
      await check(url, rest, &hops)
    }
    hops.result.duration = .nanoseconds(time.now() - start)
    hops.result.isVerified = request.module.verifiesCertificate
    return hops.result
  }

  private func check(_ url: SiteURL, _ timeout: Duration, _ hops: inout Hops) async {
    guard let admission = policy.admission(of: url.host) else {
      return hops.end(
        ProbeResult.Verdict(kind: .failed, stage: "connect", reason: "address-refused"),
        "the exporter may not probe this host (--allow)")
    }
    if timeout <= .zero { return hops.end(.timedOut(stage: "connect"), "no time was left") }
    let family = hops.request.module.preferredFamily
    do {
      guard let family, case .name = url.host else {
        let isOther = family.map { !url.isAddress(of: $0) } ?? false
        if isOther, !hops.request.module.fallsBack {
          return hops.end(
            ProbeResult.Verdict(kind: .failed, stage: "name", reason: "name-not-resolved"),
            "the target is an address of the other family")
        }
        return hops.take(try await inspect(url, timeout, nil, admission, hops), of: url)
      }
      let outcome = try await inspect(url, timeout, family, admission, hops)
      guard hops.request.module.fallsBack, outcome.verdict.hasNoAddress, let looked = outcome.verdict.timings.total,
        timeout > looked
      else { return hops.take(outcome, of: url) }
      hops.noteLookup(looked)
      let other: IPAddress.Family = family == .ipv4 ? .ipv6 : .ipv4
      hops.take(try await inspect(url, timeout - looked, other, admission, hops), of: url)
    } catch {
      hops.end(.timedOut(stage: "connect"), "it was cancelled")
    }
  }

  private func inspect(
    _ url: SiteURL, _ timeout: Duration, _ family: IPAddress.Family?, _ admission: AddressAdmission, _ hops: Hops
  ) async throws -> CheckOutcome {
    let module = hops.request.module
    var configuration = SiteCheckConfiguration(timeout: timeout)
    configuration.family = family
    configuration.interface = module.interface
    configuration.trust = module.trust
    configuration.method = module.method
    configuration.expectation = module.statuses.isEmpty ? .success : .statuses(module.statuses)
    // Over HTTP/1.1 a check costs less.
    configuration.offersHTTP2 =
      module.enablesHTTP2 && module.versions.contains("HTTP/2.0") && !module.versions.contains("HTTP/1.1")
    configuration.userAgent = "Dialtone/\(DialtoneLibraryVersion.current)"
    var inspection = SiteInspection()
    inspection.endsWithConnection = module.prober == .tcp
    inspection.skipsBodyOfRedirects = module.followsRedirects
    inspection.keptBody = module.readsBody ? Self.longestBody + 1 : 0
    inspection.fields = hops.fields(for: url)
    inspection.serverName = hops.serverName(for: url)
    inspection.verifiesCertificate = module.verifiesCertificate
    inspection.admission = admission
    configuration.inspection = inspection
    return try await environment.provider.inspect(url, configuration)
  }

  /// What the hops have come to so far. Pure.
  struct Hops {
    let request: ProbeRequest
    var result: ProbeResult
    /// What is checked next; `nil` once it is over.
    private(set) var next: SiteURL?
    /// Whether the first hop's redirect was like a portal's, which the end does not show.
    private var wasPortal = false
    /// Whether nobody waits for the probe any more.
    private let isOver: () -> Bool

    init(_ request: ProbeRequest, isOver: @escaping () -> Bool = { false }) {
      self.request = request
      self.isOver = isOver
      result = ProbeResult(request.module.prober)
      next = request.url
      if next == nil { end(ProbeResult.Verdict(kind: .failed, reason: "target-unusable"), request.flaw) }
    }

    private var module: ProbeModule { request.module }

    // MARK: What is sent

    /// The module's fields. They go to the target alone, and not over http what was for https.
    func fields(for url: SiteURL) -> [SiteInspection.Field] {
      guard let first = request.url, url.isSameSite(as: first) else { return [] }
      guard let name = request.hostName else { return module.fields }
      return module.fields + [SiteInspection.Field(name: "Host", value: name.text)]
    }

    /// The name for TLS in place of the host's, for the target alone: another host has to prove its own.
    func serverName(for url: SiteURL) -> HostName? {
      guard let first = request.url, url.isSameSite(as: first) else { return nil }
      if let name = module.serverName ?? request.hostName { return name }
      guard let host = module.fields.first(where: { ASCII.areSame($0.name, "host") })?.value else { return nil }
      do throws(ReachabilityError) {
        return try HostName(host)
      } catch {
        // A field of an address, or with a port, is no name of a certificate.
        return nil
      }
    }

    // MARK: What came

    mutating func noteLookup(_ time: Duration) {
      if result.redirects == 0 { result.lookup += time }
      result.phases.resolve += time
    }

    mutating func take(_ outcome: CheckOutcome, of url: SiteURL) {
      let (verdict, details) = (outcome.verdict, outcome.details)
      let timings = verdict.timings
      if let name = timings.name ?? verdict.failedLookup { noteLookup(name) }
      result.phases.connect += timings.connect ?? .zero
      result.phases.tls += timings.tls ?? .zero
      result.phases.processing += timings.firstByte ?? .zero
      if result.address == nil { result.address = verdict.address }
      result.details = details
      result.certificateExpires = verdict.certificateExpires
      let place = module.prober == .tcp ? request.target : url.text
      result.log.append("\(place): \(verdict)\(verdict.address.map { " at \($0)" } ?? "")")
      let found = ProbeResult.Verdict(outcome)
      // A page that was not asked for is no portal's. A redirect may be, even if its target cannot be read.
      if result.redirects == 0 { wasPortal = verdict.kind == .captivePortal && details.status ?? 0 >= 300 }
      if details.status != nil, let location = details.redirect { return follow(location, from: url, found) }
      // What the details say was noted with the head, unless the body came whole.
      result.phases.transfer += verdict.stage == .body ? timings.sinceFirstByte : details.transfer ?? .zero
      if module.prober == .tcp || details.status == nil || verdict.kind == .failed {
        result.succeeded = verdict.isAvailable
        return end(found, "\(verdict)")
      }
      judge(found, "\(verdict)")
    }

    private mutating func follow(_ location: String, from url: SiteURL, _ found: ProbeResult.Verdict) {
      result.redirects += 1
      if !module.followsRedirects || result.redirects > Prober.maximumRedirects {
        result.phases.transfer += result.details?.transfer ?? .zero
        if module.followsRedirects {
          return end(.unexpected("too-many-redirects"), "more than \(Prober.maximumRedirects) redirects")
        }
        return judge(found, "a redirect, which the module does not follow")
      }
      guard let text = RedirectTarget(location, from: url).wholeLocation else {
        return end(.unexpected("redirect-unreadable"), "the redirect leads to no http or https URL")
      }
      do throws(SiteError) {
        next = try SiteURL(text)
      } catch {
        end(.unexpected("redirect-unreadable"), "the redirect leads to a URL that is not followed")
      }
    }

    private mutating func judge(_ found: ProbeResult.Verdict, _ words: String) {
      guard let details = result.details, let status = details.status else { return end(found, words) }
      let reason = reason(against: details, status)
      result.succeeded = reason == nil
      guard let reason else { return end(ProbeResult.Verdict(kind: .available), words) }
      // RFC 6585, 6: behind a redirect, too.
      let isPortal = found.kind == .captivePortal && status == 511
      end(ProbeResult.Verdict(kind: isPortal ? .captivePortal : .unexpectedResponse, reason: reason), words)
    }

    /// What the module did not get, by what blackbox_exporter looks at, in its order.
    private mutating func reason(against details: CheckDetails, _ status: Int) -> String? {
      let isExpected = module.statuses.isEmpty ? (200...299).contains(status) : module.statuses.contains(status)
      if !isExpected { return "status" }
      if module.readsBody, let reason = judgeBody(details) { return reason }
      if !module.versions.isEmpty, !module.versions.contains("HTTP/\(details.version)") { return "http-version" }
      let hasTLS = details.tlsVersion != nil
      if hasTLS ? module.failsWithTLS : module.failsWithoutTLS { return hasTLS ? "tls" : "no-tls" }
      return nil
    }

    private mutating func judgeBody(_ details: CheckDetails) -> String? {
      defer { result.details?.body = [] }
      // Expressions have nothing to look at in a transfer coding that was not asked for (RFC 9112, 6.1).
      let codings = ASCII.folded(details.value(of: "transfer-encoding") ?? "").split { ", ".contains($0) }
      if codings.contains(where: { $0 != "chunked" && $0 != "identity" }) { return "unreadable-body" }
      if details.body.count > Prober.longestBody {
        result.failedByExpression = true
        return "body-too-long"
      }
      do throws(RegularExpression.TooCostly) {
        for expression in module.forbidden where try expression.matches(details.body, isOver: isOver) {
          result.failedByExpression = true
        }
        for expression in module.required where try !expression.matches(details.body, isOver: isOver) {
          result.failedByExpression = true
        }
      } catch {
        result.failedByExpression = true
        return "body-too-costly"
      }
      return result.failedByExpression ? "body" : nil
    }

    mutating func end(_ verdict: ProbeResult.Verdict, _ words: String) {
      next = nil
      result.verdict = verdict
      if wasPortal { result.verdict.kind = .captivePortal }
      result.explanation = words
      result.log.append("\(result.succeeded ? "Probe succeeded" : "Probe failed"): \(words)")
    }
  }
}

extension ProbeResult.Verdict {
  static func timedOut(stage: String) -> Self { Self(kind: .failed, stage: stage, reason: "timed-out") }

  /// An answer came, and it is not the one that the module asks for.
  static func unexpected(_ reason: String) -> Self { Self(kind: .unexpectedResponse, reason: reason) }

  /// The connection has a limit, of which TLS and chunks take a part.
  private static let longestBody = SiteInspection.connectionLimit / 16 * 15

  /// A check's verdict. The system's word for a connection that could not be made says more than that it could not.
  init(_ outcome: CheckOutcome) {
    let verdict = outcome.verdict
    kind = verdict.kind
    stage = verdict.stage?.identifier ?? ""
    if outcome.details.refused != nil, verdict.error?.code == .cannotConnect, verdict.error?.errno == nil {
      reason = "address-refused"
    } else if let path = outcome.details.pathReason {
      reason = path.identifier
    } else if verdict.error?.code == .malformedResponse, outcome.details.bodyLength > Self.longestBody {
      reason = "body-too-long"
    } else {
      reason = verdict.error.map { $0.connectionReason ?? $0.code.identifier } ?? ""
    }
  }
}

extension SiteVerdict {
  /// Whether the site has no address. Where no name server is reachable, the hosts file may still have the other
  /// family's.
  fileprivate var hasNoAddress: Bool { isWithoutNameServer || error?.code == .nameNotResolved }

  private var isWithoutNameServer: Bool { kind == .offline && address == nil }

  /// How long the name was looked up, if nothing came of it.
  fileprivate var failedLookup: Duration? { isWithoutNameServer || stage == .name ? timings.total : nil }
}

extension SiteVerdict.Timings {
  /// How long a body was waited for that did not come whole.
  fileprivate var sinceFirstByte: Duration {
    guard let total else { return .zero }
    return max(.zero, total - [name, connect, tls, firstByte].reduce(.zero) { $0 + ($1 ?? .zero) })
  }
}

extension CheckDetails {
  /// Where a redirect leads that is to be followed (RFC 9110, 15.4). An empty text leads nowhere, as for Go.
  fileprivate var redirect: String? {
    guard let status, [301, 302, 303, 307, 308].contains(status) else { return nil }
    return value(of: "location").flatMap { $0.isEmpty ? nil : $0 }
  }
}

extension SiteURL {
  fileprivate func isAddress(of family: IPAddress.Family) -> Bool {
    if case .address(let address) = host { address.unmapped.family == family } else { false }
  }

  /// Whether what was meant for `first` may be sent here: the same host and port, and not in the clear what was not.
  /// The usual ports of http and https count as one.
  fileprivate func isSameSite(as first: SiteURL) -> Bool {
    let isUsual = port == scheme.defaultPort && first.port == first.scheme.defaultPort
    return host == first.host && (port == first.port || isUsual) && (isSecure || !first.isSecure)
  }
}
