// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Dialtone
internal import DialtoneSites

/// Checks the site, again in other ways if that fails.
struct SiteExchange: Sendable {
  /// How long one check takes at most: programs have no more patience with a site.
  private static let longest = Duration.seconds(30)
  /// What is left for the verdict, in nanoseconds.
  private static let margin: Int64 = 100_000_000
  /// Packets of 256 bytes pass where larger ones vanish: each IPv4 host takes 576 (RFC 791, 3.1), IPv6's 1,280.
  private static let smallSegment = 216

  private let inquiry: DiagnosisInquiry
  private var rest: Int64 { inquiry.rest.nanosecondsClamped }

  init(_ inquiry: DiagnosisInquiry) { self.inquiry = inquiry }

  func findings() async -> [Finding] {
    guard let url = inquiry.subject.url else { return [] }
    do {
      // The rest is kept for tries with small packets, and further usual ones.
      let first = try await check(url, timeout: .nanoseconds(rest * 2 / 5), small: false)
      var finding = SiteFinding(first, clock: .read())
      if finding.hasStalled {
        try await trySmall(url, &finding)
      } else if !SiteFinding.isGood(first), Self.mayDiffer(first) {
        try await tryAgain(url, &finding)
      }
      return [.site(finding)]
    } catch {
      // Only a cancellation throws here: the configuration is a usual one.
      return []
    }
  }

  /// Whether another try may come to something else: a certificate and an answer stay what they are.
  private static func mayDiffer(_ verdict: SiteVerdict) -> Bool { verdict.kind == .failed && verdict.stage != .name }

  /// Tries whether it fails each time.
  private func tryAgain(_ url: SiteURL, _ finding: inout SiteFinding) async throws {
    for _ in 0..<2 where rest > Self.margin * 5 {
      finding.laterVerdicts.append(try await check(url, timeout: .nanoseconds(rest / 3), small: false))
    }
  }

  /// Tries whether small packets pass, twice, so that a site with a backend that hangs is not taken for a path that
  /// swallows large packets; and then whether large ones do not in the same time.
  private func trySmall(_ url: SiteURL, _ finding: inout SiteFinding) async throws {
    var needed = Duration.zero
    for _ in 0..<2 {
      if rest <= Self.margin { return }
      let small = try await check(url, timeout: .nanoseconds((rest - Self.margin) * 2 / 5), small: true)
      finding.smallVerdicts.append(small)
      guard SiteFinding.isAnswered(small), let total = small.timings.total else { return }
      needed = max(needed, total)
    }
    let left = Duration.nanoseconds(rest - Self.margin)
    // A shorter time would not tell a slow site from a path that swallows large packets.
    if left < max(.seconds(1), needed * 3) { return }
    finding.laterVerdicts.append(
      try await check(url, timeout: min(max(.seconds(3), needed * 3), left), small: false))
  }

  private func check(_ url: SiteURL, timeout: Duration, small: Bool) async throws -> SiteVerdict {
    var check = SiteCheckConfiguration(timeout: max(.milliseconds(1), min(Self.longest, timeout)))
    check.interface = inquiry.configuration.interface
    check.family = inquiry.configuration.family
    check.trust = inquiry.configuration.trust
    if small { check.maximumSegment = Self.smallSegment }
    return try await SiteCheck(url, configuration: check).run()
  }
}
#endif
