// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneSites

/// Checks the site, again in other ways if that fails.
struct SiteExchange: Sendable {
  /// How long it may take before it is asked once more, with more patience.
  private static let soon = Duration.milliseconds(1_200)
  /// How long nothing may come of a page that still goes on.
  private static let lull = Duration.milliseconds(1_500)
  /// What is left for the verdict, in nanoseconds.
  private static let margin: Int64 = 100_000_000
  /// Packets of 256 bytes pass where larger ones vanish: each IPv4 host takes 576 (RFC 791, 3.1), IPv6's 1,280.
  private static let smallSegment = 216

  let inquiry: DiagnosisInquiry
  private var rest: Int64 { inquiry.rest.nanosecondsClamped }

  func findings() async -> [Finding] {
    guard let url = inquiry.subject.url else { return [] }
    do {
      var finding = try await ask(url)
      // On a line on which each answer takes so long, there was not time enough for all of them.
      let isTooSlow = inquiry.isSlow && !finding.hasLostPackets
      if finding.hasStalled, finding.isHurried || isTooSlow { return [.unasked(.http, nil, .timeIsUp)] }
      if finding.usual.count == 1 {
        let verdict = finding.verdict
        // One that had so little time says nothing.
        let isShort = verdict.error?.code == .timedOut && (verdict.timings.total ?? .zero) < .seconds(1)
        if isShort { return [.unasked(.http, nil, .timeIsUp)] }
        // A certificate and an answer stay what they are.
        let mayDiffer = SiteFinding.isUnconnected(verdict) || ![nil, .name].contains(verdict.stage)
        // Does it fail each time?
        for _ in 0..<2 where mayDiffer && !finding.hasStalled && rest > Self.margin * 5 {
          try await tryUsual(url, count: 1, timeout: .nanoseconds(rest / 3), &finding)
        }
      }
      try await tryHTTP1(url, &finding)
      return [finding.isShort ? .unasked(.http, nil, .shortage) : .site(finding)]
    } catch {
      // Only a cancellation throws here: the configuration is a usual one.
      return []
    }
  }

  private func ask(_ url: SiteURL) async throws -> SiteFinding {
    // The first check leaves time for others, so a second one waits longer, for a site that is slow.
    async let patient = inquiry.isConnected ? askPatiently(url) : nil
    // What HTTP/2 alone does not bring comes then.
    async let plain = inquiry.isConnected && url.isSecure ? askPatiently(url, offersHTTP2: false) : nil
    let share = inquiry.isSlow ? rest - Self.margin * 10 : rest * 2 / 5
    var first = try await inquiry.check(url, timeout: .nanoseconds(share))
    // A page that goes on, however slowly, may have no end, as events have none: that it begins is enough.
    let hasEvents = first.details.value(of: "content-type")?.hasPrefix("text/event-stream") ?? false
    if first.verdict.stage == .body, SiteFinding.isStalled(first.verdict), let progress = first.details.progress,
      !progress.hasGap, hasEvents || progress.sinceReceived < Self.lull
    {
      let beginning = try await inquiry.check(url, timeout: .nanoseconds(rest / 3), readsBody: false)
      if SiteFinding.isAnswered(beginning.verdict) { first = beginning }
    }
    var finding = SiteFinding(first.verdict, stalls: stall(first), clock: .read())
    finding.resent = first.details.progress?.resent ?? 0
    finding.isHTTP2 = first.details.isHTTP2
    // What this machine itself holds back has no other size.
    if finding.isHeldHere { return finding }
    if finding.hasStalled { try await trySmall(url, &finding) }
    let areSmallAnswered = finding.smallVerdicts.contains(where: SiteFinding.isAnswered)
    if finding.hasStalled && !areSmallAnswered || finding.isSlowName, let later = try await patient {
      take(later, &finding)
      if finding.isHTTP2Suspect, let other = try await plain { finding.http1Verdicts.append(other.verdict) }
    }
    return finding
  }

  /// Asks once more, if the first check has not ended soon and cancelled it, and waits for as long as there is time.
  private func askPatiently(_ url: SiteURL, offersHTTP2: Bool = true) async throws -> CheckOutcome? {
    try await Task.sleep(for: Self.soon)
    return try await inquiry.check(url, timeout: .nanoseconds(rest - Self.margin * 10), offersHTTP2: offersHTTP2)
  }

  /// An answer that took longer than the first check had is one of a slow site, and no sign that it fails at times.
  private func take(_ outcome: CheckOutcome, _ finding: inout SiteFinding) {
    let needed = outcome.verdict.timings.total ?? .zero
    if SiteFinding.isAnswered(outcome.verdict), let given = finding.verdict.timings.total, needed > given {
      finding = SiteFinding(outcome.verdict, clock: finding.clock)
      finding.resent = outcome.details.progress?.resent ?? 0
    } else {
      finding.laterVerdicts.append(outcome.verdict)
      finding.stalls += stall(outcome)
    }
  }

  /// Tries in turn whether it fails without HTTP/2, too.
  private func tryHTTP1(_ url: SiteURL, _ finding: inout SiteFinding) async throws {
    while finding.isHTTP2Suspect, finding.http1Verdicts.count < 2, rest > Self.margin * 5 {
      let verdict = try await inquiry.check(url, timeout: .nanoseconds(rest / 3), offersHTTP2: false).verdict
      finding.http1Verdicts.append(verdict)
      try await tryUsual(url, count: 1, timeout: .nanoseconds(rest / 3), &finding)
    }
  }

  /// Tries whether small packets pass, and then whether usual ones still do not. If the kernel knows of no packet that
  /// vanished, more of both have to agree: one of several backends may hang.
  private func trySmall(_ url: SiteURL, _ finding: inout SiteFinding) async throws {
    guard let needed = try await trySmall(url, count: 2, &finding) else { return }
    let left = Duration.nanoseconds(rest - Self.margin)
    // A shorter time would not tell a slow site from a path that swallows large packets.
    if left < max(.seconds(1), needed * 3) { return }
    let isLost = finding.hasLostPackets
    let count = isLost ? 1 : SiteRules.usualTries - 1
    try await tryUsual(url, count: count, timeout: min(max(.seconds(3), needed * 3), left), &finding)
    if !isLost { _ = try await trySmall(url, count: SiteRules.smallTries - 2, &finding) }
  }

  /// Tries small packets so often. Returns how long the slowest answer took; `nil` if one did not come.
  private func trySmall(_ url: SiteURL, count: Int, _ finding: inout SiteFinding) async throws -> Duration? {
    var needed = Duration.zero
    for _ in 0..<count {
      if rest <= Self.margin { return nil }
      // Small packets bring a page slowly: that it begins is enough, if usual ones did not bring that.
      let small = try await inquiry.check(
        url, timeout: .nanoseconds((rest - Self.margin) * 2 / 5), maximumSegment: Self.smallSegment,
        readsBody: finding.verdict.stage == .body
      ).verdict
      finding.smallVerdicts.append(small)
      guard SiteFinding.isAnswered(small), let total = small.timings.total else { return nil }
      needed = max(needed, total)
    }
    return needed
  }

  /// Makes `count` usual checks at the same time.
  private func tryUsual(_ url: SiteURL, count: Int, timeout: Duration, _ finding: inout SiteFinding) async throws {
    try await withThrowingTaskGroup(of: CheckOutcome.self) { group in
      for _ in 0..<count { group.addTask { try await inquiry.check(url, timeout: timeout) } }
      for try await outcome in group {
        finding.laterVerdicts.append(outcome.verdict)
        finding.stalls += stall(outcome)
      }
    }
  }

  /// How a check stopped: nothing if it was answered, or if the kernel does not tell.
  private func stall(_ outcome: CheckOutcome) -> [SiteFinding.Stall] {
    guard SiteFinding.isStalled(outcome.verdict), let progress = outcome.details.progress else { return [] }
    if progress.isUnsent { return [.unsent] }
    return [progress.isUnacknowledged ? .unacknowledged : progress.hasGap ? .incomplete : .acknowledged]
  }
}

extension DiagnosisInquiry {
  /// How long one check takes at most: programs have no more patience with a site.
  private static let longest = Duration.seconds(30)

  /// Asks a site as programs do: for the whole answer, of which the beginning is read, and over HTTP/2 if it can be.
  func check(
    _ url: SiteURL, timeout: Duration, by proxy: ProxyServer? = nil, maximumSegment: Int? = nil, readsBody: Bool = true,
    offersHTTP2: Bool = true
  ) async throws -> CheckOutcome {
    // In tenths of a second, as it is told.
    let tenths = min(Self.longest, timeout).nanosecondsClamped / 100_000_000
    var check = SiteCheckConfiguration(timeout: tenths > 0 ? .milliseconds(tenths * 100) : .milliseconds(1))
    check.method = .get
    // A dormant link carries packets, for all that the kernel does about it.
    check.acceptsConnectionOnDemand = true
    check.interface = configuration.interface
    check.family = proxy == nil ? configuration.family : nil
    check.trust = configuration.trust
    check.proxyServer = proxy
    // Some sites refuse whom they do not know.
    check.userAgent = "Dialtone/\(DialtoneLibraryVersion.current)"
    check.maximumSegment = maximumSegment
    // Programs try what the system's resolver says, in its order.
    if proxy == nil, case .addresses? = name?.system { check.addresses = addresses }
    check.offersHTTP2 = offersHTTP2
    if readsBody {
      var inspection = SiteInspection()
      inspection.readsBeginning = true
      check.inspection = inspection
    }
    try check.validate(for: url)
    return try await SiteEnvironment.system.provider.inspect(url, check)
  }
}

extension SiteFinding.Clock {
  /// Files that a running system changes often: the last time is one at which the clock was looked at.
  private static let files = [
    "/var/lib/systemd/timesync/clock", "/var/lib/NetworkManager/timestamps", "/var/log/wtmp", "/var/log/lastlog",
    "/var/lib/dpkg/status", "/var/lib/rpm", "/etc/ld.so.cache", "/etc/resolv.conf", "/etc/hosts", "/etc/passwd",
  ]

  /// What is known now.
  static func read(_ time: TimeSource = .system) -> SiteFinding.Clock {
    // A path becomes a C string for the call.
    let changes = files.map { unsafe Int64(csystem_changed($0)) }
    let kept = csystem_clock_is_kept()
    let last = changes.max() ?? 0
    return SiteFinding.Clock(
      now: time.realtime() / 1_000_000_000, isKept: kept < 0 ? nil : kept == 1, lastChange: last > 0 ? last : nil)
  }
}
#endif
