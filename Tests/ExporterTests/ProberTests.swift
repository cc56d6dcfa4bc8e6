// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import SiteLab
import TestSupport
import Testing

@testable import DialtoneExporter
@testable import DialtoneSites

/// Which checks a probe makes, of what, and for how long. The checks' outcomes are made up.
struct ProberTests {
  private struct Call: Sendable {
    let url: SiteURL
    let configuration: SiteCheckConfiguration
  }

  /// A clock that shows these seconds one after the other, and the last from then on.
  private func clock(_ seconds: [Int64]) -> TimeSource {
    let rest = Box(seconds)
    return TimeSource(passes: false) {
      let now = rest.value.first ?? 0
      rest.update { if $0.count > 1 { $0.removeFirst() } }
      return now * 1_000_000_000
    }
  }

  /// Probes; the answers stand in for the checks', in their order, the last one for all others.
  private func probe(
    _ target: String, policy: ProbePolicy = .local, seconds: [Int64] = [0],
    answers: [@Sendable (SiteURL) throws -> SiteVerdict] = [{ SiteVerdict(url: $0, kind: .available, status: 200) }],
    _ change: (inout ProbeModule) -> Void = { _ in }
  ) async throws -> (ProbeResult, [Call]) {
    var module = ProbeModule(name: "m", prober: .http)
    change(&module)
    let request = try ProbeRequest(module: module, target: target, timeout: .seconds(10))
    let calls = Box<[Call]>([])
    let environment = SiteEnvironment(perform: { url, configuration in
      let answer = answers[min(calls.value.count, answers.count - 1)]
      calls.update { $0.append(Call(url: url, configuration: configuration)) }
      return try answer(url)
    })
    let result = await Prober(policy: policy, environment: environment, time: clock(seconds)).run(request)
    return (result, calls.value)
  }

  // MARK: Time

  @Test func aCheckHasTheRestOfTheTime() async throws {
    let (result, calls) = try await probe("a.example", seconds: [100, 103, 109])
    #expect(calls.map(\.configuration.timeout) == [.seconds(7)] && calls.map(\.url.text) == ["http://a.example"])
    #expect(result.duration == .seconds(9) && result.succeeded && result.isVerified)
  }

  @Test func withoutTimeNothingIsChecked() async throws {
    let (late, none) = try await probe("a.example", seconds: [50, 60])
    #expect(none.isEmpty && !late.succeeded && late.explanation == "no time was left")
    #expect(late.verdict == ProbeResult.Verdict(kind: .failed, stage: "connect", reason: "timed-out"))
    let (_, calls) = try await probe("a.example", seconds: [50, 59])
    #expect(calls.map(\.configuration.timeout) == [.seconds(1)])
  }

  @Test func aProbeThatIsCancelledEnds() async throws {
    let (result, calls) = try await probe("a.example", answers: [{ _ in throw CancellationError() }])
    #expect(calls.count == 1 && !result.succeeded && result.explanation == "it was cancelled")
    #expect(result.verdict == ProbeResult.Verdict(kind: .failed, stage: "connect", reason: "timed-out"))
  }

  /// The expression is tried for each of 4,000 characters; by then the time is over, or not.
  @Test(arguments: [(99, "body"), (100, "body-too-costly")])
  func looksThroughABodyInItsTime(_ end: Int64, _ reason: String) async throws {
    let site = try await SiteServer(.answer(200, body: String(repeating: "a", count: 4_000)))
    var module = ProbeModule(name: "m", prober: .http)
    module.required = [try RegularExpression("b")]
    // The system's clock measures the check itself, which has much time.
    let request = try ProbeRequest(module: module, target: "127.0.0.1:\(site.port)", timeout: .seconds(100))
    let result = await Prober(policy: .local, time: clock([0, 0, end])).run(request)
    #expect(result.verdict.reason == reason && result.duration == .seconds(end))
  }

  // MARK: Whom it asks

  /// An address is asked, if it may be: its family is what it is. A name is looked up for the family that is preferred.
  @Test(arguments: [
    ("127.0.0.1", IPAddress.Family?.none, true, true), ("127.0.0.1", nil, false, true),
    ("127.0.0.1", .ipv4, true, true),
    ("127.0.0.1", .ipv4, false, true), ("127.0.0.1", .ipv6, true, true), ("127.0.0.1", .ipv6, false, false),
    ("[::1]", nil, false, true), ("[::1]", .ipv6, false, true), ("[::1]", .ipv4, true, true),
    ("[::1]", .ipv4, false, false), ("[::ffff:127.0.0.1]", .ipv4, false, true),
    ("[::ffff:127.0.0.1]", .ipv6, false, false),
  ])
  func asksAnAddressOfTheFamily(
    _ target: String, _ family: IPAddress.Family?, _ fallsBack: Bool, _ isAsked: Bool
  ) async throws {
    let (result, calls) = try await probe(target) { ($0.preferredFamily, $0.fallsBack) = (family, fallsBack) }
    #expect(calls.count == (isAsked ? 1 : 0) && result.succeeded == isAsked)
    #expect(calls.allSatisfy { $0.configuration.family == nil })
    let refusal = ProbeResult.Verdict(kind: .failed, stage: "name", reason: "name-not-resolved")
    #expect(result.verdict == (isAsked ? ProbeResult.Verdict(kind: .available) : refusal))
  }

  private static func unresolved(after time: Duration?) -> @Sendable (SiteURL) -> SiteVerdict {
    { url in
      SiteVerdict(
        url: url, kind: .failed, stage: .name, error: SiteError(.nameNotResolved, "no such name"),
        timings: SiteVerdict.Timings(total: time))
    }
  }

  /// Nobody could be asked, and the hosts file has nothing of the family.
  private static func offline(after time: Duration) -> @Sendable (SiteURL) -> SiteVerdict {
    { url in
      SiteVerdict(url: url, kind: .offline, error: .noPath(.noRoute), timings: SiteVerdict.Timings(total: time))
    }
  }

  /// blackbox_exporter, `ip_protocol_fallback`.
  @Test(arguments: [IPAddress.Family.ipv4, .ipv6], [true, false])
  func aNameFallsBackToTheOtherFamily(_ family: IPAddress.Family, _ isOffline: Bool) async throws {
    let found: @Sendable (SiteURL) -> SiteVerdict = { url in
      SiteVerdict(url: url, kind: .available, status: 200, timings: SiteVerdict.Timings(name: .seconds(1)))
    }
    let first = isOffline ? Self.offline(after: .seconds(2)) : Self.unresolved(after: .seconds(2))
    let (result, calls) = try await probe("a.example", answers: [first, found]) {
      $0.preferredFamily = family
    }
    #expect(calls.map(\.configuration.family) == [family, family == .ipv4 ? .ipv6 : .ipv4])
    #expect(calls.map(\.configuration.timeout) == [.seconds(10), .seconds(8)] && result.succeeded)
    #expect(result.lookup == .seconds(3) && result.phases.resolve == .seconds(3))
  }

  @Test(arguments: [true, false]) func bothLookupsThatFailCount(_ isOffline: Bool) async throws {
    let second = isOffline ? Self.offline(after: .seconds(3)) : Self.unresolved(after: .seconds(3))
    let (result, calls) = try await probe("a.example", answers: [Self.unresolved(after: .seconds(2)), second]) {
      $0.preferredFamily = .ipv4
    }
    #expect(calls.count == 2 && result.lookup == .seconds(5) && result.phases.resolve == .seconds(5))
  }

  @Test func aNameThatNeedsNoOtherFamilyIsAskedOnce() async throws {
    let refused: @Sendable (SiteURL) -> SiteVerdict = { url in
      SiteVerdict(
        url: url, kind: .failed, stage: .connect, error: SiteError(.cannotConnect, "refused", errno: 111),
        timings: SiteVerdict.Timings(total: .seconds(2)))
    }
    let cases: [(@Sendable (SiteURL) -> SiteVerdict, fallsBack: Bool)] = [
      (Self.unresolved(after: .seconds(2)), false), (Self.unresolved(after: .seconds(10)), true),
      (Self.unresolved(after: .seconds(11)), true), (Self.unresolved(after: nil), true), (refused, true),
    ]
    for (index, (answer, fallsBack)) in cases.enumerated() {
      let (result, calls) = try await probe("a.example", answers: [answer]) {
        ($0.preferredFamily, $0.fallsBack) = (.ipv4, fallsBack)
      }
      #expect(calls.map(\.configuration.family) == [.ipv4] && !result.succeeded, "\(index)")
      // As blackbox_exporter, it tells how long a look-up took that failed.
      let lookup: [Duration] = [.seconds(2), .seconds(10), .seconds(11), .zero, .zero]
      #expect(result.lookup == lookup[index] && result.phases.resolve == lookup[index], "\(index)")
    }
    let (_, calls) = try await probe("a.example", answers: [Self.unresolved(after: .seconds(1))])
    #expect(calls.map(\.configuration.family) == [nil])
  }

  @Test func asksNobodyWhomThePolicyDoesNotName() async throws {
    let policy = try ProbePolicy(allowing: ["a.example", "192.0.2.0/24"])
    for (target, isAsked) in [("a.example", true), ("192.0.2.7", true), ("192.0.3.7", false)] {
      let (result, calls) = try await probe(target, policy: policy)
      #expect(calls.count == (isAsked ? 1 : 0), "\(target)")
      if isAsked { continue }
      #expect(result.verdict == ProbeResult.Verdict(kind: .failed, stage: "connect", reason: "address-refused"))
      #expect(result.explanation.contains("--allow"))
    }
  }

  // MARK: What it asks for

  @Test func asksAsTheModuleSays() async throws {
    let (_, usual) = try await probe("a.example")
    let plain = try #require(usual.first?.configuration)
    let inspection = try #require(plain.inspection)
    #expect(plain.expectation == .success && plain.method == .get && plain.interface == nil && plain.trust == .system)
    #expect(plain.userAgent?.hasPrefix("Dialtone/") == true && plain.family == nil)
    #expect(!inspection.endsWithConnection && inspection.skipsBodyOfRedirects && inspection.keptBody == 0)
    #expect(inspection.verifiesCertificate && inspection.serverName == nil && inspection.fields.isEmpty)
    #expect(inspection.admission != nil)
    let own = SiteInspection.Field(name: "X-Own", value: "a")
    let (name, expression) = (try HostName("b.example"), try RegularExpression("a"))
    let (result, calls) = try await probe("a.example") { module in
      (module.method, module.statuses, module.interface) = (.head, [204, 404], "eth0")
      (module.trust, module.fields, module.serverName) = (.pem("x"), [own], name)
      (module.verifiesCertificate, module.forbidden) = (false, [expression])
    }
    let special = try #require(calls.first?.configuration)
    #expect(special.expectation == .statuses([204, 404]) && special.method == .head && special.interface == "eth0")
    #expect(special.trust == .pem("x") && special.inspection?.fields == [own])
    #expect(special.inspection?.serverName?.text == "b.example" && special.inspection?.verifiesCertificate == false)
    // A mebibyte, and one byte more to tell that there is more.
    #expect(special.inspection?.keptBody == 1_048_577 && !result.isVerified)
    let (_, required) = try await probe("a.example") { $0.required = [expression] }
    // A redirect that is not followed is judged by its body, too.
    let (_, staying) = try await probe("a.example") { $0.followsRedirects = false }
    #expect(staying.first?.configuration.inspection?.skipsBodyOfRedirects == false)
    #expect(required.first?.configuration.inspection?.keptBody == 1_048_577)
    let (_, port) = try await probe("a.example:22") { $0.prober = .tcp }
    #expect(port.first?.configuration.inspection?.endsWithConnection == true)
  }

  /// blackbox_exporter's own document: `enable_http2` is true unless it is written.
  @Test(
    arguments: [
      ([], true, false), (["HTTP/1.1", "HTTP/2.0"], true, false), (["HTTP/2.0"], true, true),
      (["HTTP/2.0"], false, false),
    ] as [([String], Bool, Bool)])
  func offersHTTP2WhereItIsWanted(versions: [String], isEnabled: Bool, offers: Bool) async throws {
    let (_, calls) = try await probe("a.example") { ($0.versions, $0.enablesHTTP2) = (versions, isEnabled) }
    #expect(calls.map(\.configuration.offersHTTP2) == [offers])
  }
}
