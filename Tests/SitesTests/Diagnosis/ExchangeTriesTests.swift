// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSites
import Glibc
import SiteLab
import TestSupport
import Testing

@testable import DialtoneDiagnosis

@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct ExchangeTriesTests {
  /// Of several backends one may hang, and loopback loses nothing: four usual checks and three of small packets have to
  /// agree before those are blamed (`SiteRules`). Here the first alone has no answer, for two fifths of the time.
  @Test func severalHaveToAgreeIfNothingIsLost() async throws {
    var counts: [[Int]] = []
    // On a busy machine an answer may come too late. One round that is quick is enough.
    for _ in 0..<5 where counts.last != [4, 3] {
      let asked = Box(0)
      let server = try await SiteServer(
        SiteBehaviour { request in
          asked.update { $0 += 1 }
          return asked.value == 1 ? [.stall] : [.answer(200, to: request, body: Array("a whole page".utf8)), .close]
        }, .plain)
      let inquiry = DiagnosisInquiry(
        subject: DiagnosisSubject(try server.url(.plain)), configuration: DiagnosisConfiguration(), findings: [],
        deadline: TimeSource.system.now() + 3_000_000_000)
      let found = await SiteExchange(inquiry: inquiry).findings()
      guard case .site(let site)? = found.first else { continue }
      counts.append([site.usual.count, site.smallVerdicts.count])
    }
    #expect(counts.last == [4, 3], "\(counts)")
  }

  /// pthread_create(3), EAGAIN: that this machine has no thread for a check is not the site's fault.
  @Test(arguments: [(EAGAIN, true), (EMFILE, true), (ENFILE, true), (ECONNREFUSED, false), (0, false)])
  func aShortageIsNobodyElses(errno: Int32, isShort: Bool) {
    func verdict(_ errno: Int32) -> SiteVerdict {
      SiteVerdict(
        url: "https://a.example/", kind: .failed, stage: .connect, error: SiteError(.cannotConnect, "w", errno: errno))
    }
    #expect(SiteFinding(verdict(errno)).isShort == isShort)
    #expect(SiteFinding(verdict(ECONNREFUSED), later: [verdict(errno)]).isShort == isShort)
  }

  /// Events come when they happen, and have no end (HTML, 9.2): that they begin is an answer.
  @Test func eventsThatHaveBegunAreAnAnswer() async throws {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\ndata: 1\n\n"
    let server = try await SiteServer(SiteBehaviour { _ in [.send(Array(head.utf8)), .stall] }, .plain)
    var found: [Finding] = []
    // On a busy machine the answer may not even begin within two fifths of the first.
    for seconds in [8, 60] as [Int64] {
      let inquiry = DiagnosisInquiry(
        subject: DiagnosisSubject(try server.url(.plain)), configuration: DiagnosisConfiguration(), findings: [],
        deadline: TimeSource.system.now() + seconds * 1_000_000_000)
      found = await SiteExchange(inquiry: inquiry).findings()
      if case .site(let site)? = found.first, SiteFinding.isGood(site.verdict) { return }
    }
    Issue.record("\(found)")
  }
}
#endif
