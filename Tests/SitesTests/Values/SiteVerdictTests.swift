// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import TestSupport
import Testing

struct SiteVerdictTests {
  static let kinds: [(kind: SiteVerdict.Kind, identifier: String)] = [
    (.available, "available"), (.captivePortal, "captive-portal"), (.intercepted, "intercepted"),
    (.unexpectedResponse, "unexpected-response"), (.partial, "partial"), (.failed, "failed"), (.offline, "offline"),
    (.undetermined, "undetermined"),
  ]

  @Test(arguments: 0..<kinds.count)
  func identifiersOfVerdictsNeverChange(position: Int) {
    let (kind, identifier) = Self.kinds[position]
    #expect(kind.identifier == identifier)
    #expect(SiteVerdict.Kind(identifier: identifier) == kind)
    #expect(!kind.description.isEmpty)
  }

  static let stages: [(stage: SiteVerdict.Stage, identifier: String)] = [
    (.name, "name"), (.connect, "connect"), (.tls, "tls"), (.request, "request"), (.response, "response"),
    (.body, "body"),
  ]

  @Test(arguments: 0..<stages.count)
  func identifiersOfStagesNeverChange(position: Int) {
    let (stage, identifier) = Self.stages[position]
    #expect(stage.identifier == identifier)
    #expect(SiteVerdict.Stage(identifier: identifier) == stage)
    #expect(!stage.description.isEmpty)
  }

  /// Counts the declarations: one that is missing in the list of its initializer has an identifier that nothing reads.
  @Test(arguments: [("Kind", kinds.count), ("Stage", stages.count)])
  func whateverIsDeclaredIsTestedHere(type: String, count: Int) throws {
    #expect(try constantCount(of: type, in: "Sources/DialtoneSites/Values/SiteVerdict+\(type).swift") == count)
  }

  // MARK: Verdicts that a test makes

  private static let url: SiteURL = "https://example.com/"
  private static let wifi = NetworkInterface(name: "wlan0", index: 2, kind: .wifi)

  /// A verdict made with every parameter at once.
  private func made(_ kind: SiteVerdict.Kind, _ url: SiteURL = url) -> SiteVerdict {
    SiteVerdict(
      url: url, kind: kind, status: 302, location: "http://login.example/", stage: .tls,
      error: SiteError(.timedOut, "no answer"), address: IPAddress(ipv4: 0xC000_0201), interface: Self.wifi,
      certificateExpires: UTCTimestamp(durationSince1970: .seconds(1)), timings: .init(total: .seconds(1)))
  }

  /// A monitor could deliver each of them.
  @Test(arguments: kinds.map(\.kind))
  func whatContradictsTheKindIsLeftOut(_ kind: SiteVerdict.Kind) {
    let verdict = made(kind)
    let isKnown = kind != .undetermined
    let answered: [SiteVerdict.Kind] = [.available, .captivePortal, .unexpectedResponse, .partial]
    #expect(verdict.kind == kind && verdict.url == Self.url)
    #expect(verdict.status == (answered.contains(kind) ? 302 : nil))
    #expect((verdict.location != nil) == [.captivePortal, .unexpectedResponse].contains(kind))
    #expect(verdict.stage == (kind == .failed ? .tls : nil))
    #expect((verdict.error != nil) == (isKnown && ![.available, .captivePortal].contains(kind)))
    #expect((verdict.certificateExpires != nil) == (isKnown && kind != .offline))
    #expect((verdict.address != nil) == isKnown && (verdict.interface != nil) == isKnown)
    #expect((verdict.timestamp != nil) == isKnown && (verdict.timings.total != nil) == isKnown)
    #expect(made(kind, "http://example.com/").certificateExpires == nil)
  }

  @Test func aFailedCheckHasAStageAndAnAnswerAFinalStatus() {
    #expect(SiteVerdict(url: Self.url, kind: .failed).stage == .connect)
    for status in [-1, 0, 100, 199, 1_000] {
      #expect(SiteVerdict(url: Self.url, kind: .available, status: status).status == nil)
    }
  }

  /// What a server chooses anew for each answer is no news, and makes two verdicts unequal.
  @Test func whatIsNoNewsMakesVerdictsUnequal() {
    let time = UTCTimestamp.now
    func failed(
      stage: SiteVerdict.Stage = .tls, error: SiteError.Code = .tlsFailed, address: IPAddress? = nil,
      total: Duration? = nil,
      timestamp: UTCTimestamp? = nil
    ) -> SiteVerdict {
      SiteVerdict(
        url: Self.url, kind: .failed, stage: stage, error: SiteError(error, "no"), address: address,
        timings: SiteVerdict.Timings(total: total), timestamp: timestamp ?? time)
    }
    let verdict = failed()
    #expect(verdict == failed())
    for other in [
      failed(error: .timedOut), failed(address: IPAddress("192.0.2.1")), failed(total: .seconds(1)),
      failed(timestamp: time.advanced(by: .seconds(1))),
    ] {
      #expect(other.isSameState(as: verdict))
      #expect(other != verdict)
      #expect(SiteGroup.Summary([other], quorum: 1).isSameState(as: SiteGroup.Summary([verdict], quorum: 1)))
    }
    #expect(!failed(stage: .connect).isSameState(as: verdict))
  }

  @Test(arguments: [(-1, 1), (0, 1), (1, 1), (2, 2), (3, 2), (Int.max, 2)])
  func aSummaryHasAQuorumThatItsSitesCouldReach(_ quorum: Int, _ found: Int) {
    let verdicts = [made(.available), made(.failed)]
    #expect(SiteGroup.Summary(verdicts, quorum: quorum).quorum == found)
    #expect(!SiteGroup.Summary([], quorum: quorum).isOnline)
  }
}
