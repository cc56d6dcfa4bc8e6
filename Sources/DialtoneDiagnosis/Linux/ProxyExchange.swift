// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Dialtone
internal import DialtoneSites

/// Asks the proxy that other programs would use (curl(1)): for the site, or whether it is there if there is no site.
struct ProxyExchange: Sendable {
  /// What curl knows, and is not spoken here: that proxy may well work.
  private static let unspoken = ["https://", "socks4://", "socks4a://", "socks://"]
  private static let longest = Duration.seconds(8)

  let inquiry: DiagnosisInquiry

  func findings() async -> [Finding] {
    guard let (variable, text) = inquiry.proxySetting else { return [] }
    func finding(_ server: String, _ outcome: ProxyFinding.Outcome) -> Finding {
      .proxy(ProxyFinding(variable: variable, server: server, outcome))
    }
    if Self.unspoken.contains(where: ASCII.folded(text).hasPrefix),
      // Nothing of a password, even of one with a slash.
      let place = text.split(separator: "@").last?.split(separator: "/").first(where: { !$0.hasSuffix(":") })
    {
      return [finding(String(place), .notTried)]
    }
    let server: ProxyServer
    do {
      server = try ProxySettings.server(text, variable: variable, socksTo: inquiry.addresses)
    } catch {
      return [finding("", .unreadable)]
    }
    var name = "\(server.host.text):\(server.port)"
    if case .address(let address) = server.host { name = Words.endpoint(address, server.port) }
    // One of SOCKS that wants an address cannot be asked without one.
    let isAddressMissing = server.wantsAddress && inquiry.addresses.isEmpty
    if inquiry.subject.url != nil, isAddressMissing, inquiry.name == nil { return [] }
    let timeout = min(Self.longest, inquiry.rest * 4 / 5)
    do {
      if let url = inquiry.subject.url, !isAddressMissing {
        let check = try await inquiry.check(url, timeout: timeout, by: server)
        let verdict = check.verdict
        // With so little time, that nothing came says nothing.
        if verdict.error?.code == .timedOut, timeout < .seconds(5) { return [.unasked(.proxy, nil, .timeIsUp)] }
        let outcome = ownWord(check, by: server) ?? outcome(verdict)
        let found = finding(name, outcome)
        return outcome == .delivers ? [found, .site(SiteFinding(verdict, clock: .read()))] : [found]
      }
      // Any answer shows that it is there.
      let verdict = try await inquiry.check(SiteURL("http://\(name)/"), timeout: timeout).verdict
      let outcome = outcome(verdict)
      return [finding(name, outcome == .delivers ? .connects : outcome)]
    } catch {
      // A cancellation, or a host that is no URL's.
      return []
    }
  }

  /// What a proxy over http says itself, in the site's place: that it fails (RFC 9209, 2.1.1; Squid's own field), or
  /// nothing that could be read. Over https, and by SOCKS, the site itself speaks.
  private func ownWord(_ check: CheckOutcome, by server: ProxyServer) -> ProxyFinding.Outcome? {
    // A limit of our own says nothing of the proxy.
    guard !check.verdict.url.isSecure, server.socks == nil, check.verdict.error?.code != .headersTooLarge
    else { return nil }
    if check.verdict.kind == .failed, check.verdict.stage == .request || check.verdict.stage == .response {
      return check.verdict.error.map { .refuses($0) }
    }
    let saysSo =
      check.details.value(of: "x-squid-error") != nil
      || check.details.value(of: "proxy-status")?.contains("error=") ?? false
    guard saysSo, let status = check.verdict.status else { return nil }
    return .refuses(SiteError(.proxyFailed, "it answers \(status) itself"))
  }

  private func outcome(_ verdict: SiteVerdict) -> ProxyFinding.Outcome {
    let error = verdict.error ?? SiteError(.cannotConnect, "no reason is known")
    return switch (verdict.kind, verdict.stage) {
    case (.offline, _): .unreachable(error)
    case (.failed, .name): .unresolved
    case (.failed, .connect): error.code == .proxyFailed ? .refuses(error) : .unreachable(error)
    default: .delivers
    }
  }
}
#endif
