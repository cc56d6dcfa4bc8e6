// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneSites

/// What a check does beyond judging an answer, if it has an inspection.
struct CheckInspectionTests {
  private func exchanging(
    _ url: SiteURL = "http://192.0.2.1/", _ method: SiteCheckConfiguration.Method? = .get,
    _ expectation: SiteExpectation = .answer, _ change: (inout SiteInspection) -> Void = { _ in }
  ) -> ScriptedCheck {
    var inspection = SiteInspection()
    change(&inspection)
    return ScriptedCheck(url) {
      $0.method = method
      $0.expectation = expectation
      $0.inspection = inspection
    }.exchanging()
  }

  private func body(_ length: Int, isComplete: Bool = false, hasEnded: Bool = false, hasText: Bool = false)
    -> CheckStateMachine.Event
  {
    var body = VerdictRules.Body(length: length, hasText: hasText, isComplete: isComplete)
    body.hasEnded = hasEnded
    return .body(body)
  }

  @Test func aConnectionIsEnoughIfWanted() throws {
    func check(_ url: SiteURL, _ isEnough: Bool) -> ScriptedCheck {
      ScriptedCheck(url) {
        var inspection = SiteInspection()
        inspection.endsWithConnection = isEnough
        $0.inspection = inspection
      }.connecting()
    }
    var plain = check("http://192.0.2.1/", true)
    #expect(try plain.verdict(of: .connected(.four)).kind == .available)
    var asking = check("http://192.0.2.1/", false)
    #expect(asking.take(.connected(.four)) == [.ask(.head)])
    var secure = check("https://192.0.2.1/", true)
    #expect(secure.take(.connected(.four)) == [.startTLS])
    var other = secure
    #expect(try secure.verdict(of: .tlsAgreed(.good)).kind == .available)
    #expect(try other.verdict(of: .tlsAgreed(.init(isForSite: false))).kind == .intercepted)
  }

  @Test func aWholeBodyIsReadWhateverTheHeadSays() throws {
    for (status, kind) in [(200, .available), (404, .available), (511, .captivePortal)] as [(Int, SiteVerdict.Kind)] {
      var check = exchanging()
      #expect(check.take(.head(.status(status, .get), isHTTP: true)) == [.readBody])
      #expect(check.take(body(9)) == [])
      // That the beginning is there is not enough.
      #expect(check.take(body(65_536, isComplete: true)) == [])
      let verdict = try check.verdict(of: body(65_536, isComplete: true, hasEnded: true))
      #expect(verdict.kind == kind && verdict.status == status)
    }
  }

  @Test func theBeginningIsEnoughIfWanted() throws {
    var check = exchanging { $0.readsBeginning = true }
    #expect(check.take(.head(.status(200, .get), isHTTP: true)) == [.readBody])
    #expect(check.take(body(9)) == [])
    #expect(try check.verdict(of: body(65_536, isComplete: true)).kind == .available)
  }

  @Test func anAnswerToHeadHasNoBodyToRead() throws {
    var check = exchanging("http://192.0.2.1/", .head)
    #expect(try check.verdict(of: .head(.status(200), isHTTP: true)).kind == .available)
  }

  /// A body that decides is read to its end, too.
  @Test func theTextIsNotEnough() throws {
    var check = exchanging("http://192.0.2.1/", .get, .body(containing: "x"))
    #expect(check.take(.head(.status(200, .get), isHTTP: true)) == [.readBody])
    #expect(check.take(body(9, hasText: true)) == [])
    var other = check
    #expect(try check.verdict(of: body(9, isComplete: true, hasEnded: true, hasText: true)).kind == .available)
    #expect(try other.verdict(of: body(9, isComplete: true, hasEnded: true)).kind == .captivePortal)
  }

  @Test func aBodyThatCannotBeReadFailsAtItsEnd() throws {
    var check = exchanging("http://192.0.2.1/", .get, .body(containing: "x"))
    let head = VerdictRules.Head(method: .get, status: 200, coding: ContentCoding(["br"]))
    #expect(check.take(.head(head, isHTTP: true)) == [.readBody])
    let verdict = try check.verdict(of: body(9, isComplete: true, hasEnded: true))
    #expect(verdict.kind == .failed && verdict.stage == .body && verdict.error?.code == .unreadableBody)
  }

  /// Only these statuses lead on by themselves (RFC 9110, 15.4.2 to 15.4.4, 15.4.8 and 15.4.9).
  @Test(arguments: [
    (299, true, false), (300, true, false), (301, true, true), (302, true, true), (303, true, true), (304, true, false),
    (307, true, true), (308, true, true), (399, true, false), (302, false, false), (200, true, false),
  ])
  func aRedirectsBodyIsLeftUnreadIfWanted(_ status: Int, _ hasLocation: Bool, _ isLeft: Bool) throws {
    let head = VerdictRules.Head(method: .get, status: status, locations: hasLocation ? ["/x"] : [])
    var check = exchanging { $0.skipsBodyOfRedirects = true }
    if isLeft {
      let verdict = try check.verdict(of: .head(head, isHTTP: true))
      #expect(verdict.kind == .available && verdict.status == status)
    } else {
      #expect(check.take(.head(head, isHTTP: true)) == [.readBody])
    }
    var reading = exchanging()
    #expect(reading.take(.head(head, isHTTP: true)) == [.readBody], "without the wish all are read")
  }

  @Test func itsDefaultsChangeNothingElse() {
    let inspection = SiteInspection()
    #expect(!inspection.endsWithConnection && !inspection.skipsBodyOfRedirects && !inspection.readsBeginning)
    #expect(inspection.keptBody == 0 && inspection.fields.isEmpty && inspection.serverName == nil)
    #expect(inspection.verifiesCertificate && inspection.admission == nil)
    let details = CheckDetails()
    #expect(details.bodyLength == 0 && details.body.isEmpty && details.fields.isEmpty)
    let progress = StreamProgress(isUnacknowledged: false, hasGap: false, sinceReceived: .zero)
    #expect(progress.resent == 0)
  }

  /// RFC 9110, 5.1: names of fields have no case.
  @Test func theFirstFieldOfANameCounts() {
    var details = CheckDetails()
    details.fields = [.init(name: "B", value: "1"), .init(name: "A-b", value: "2"), .init(name: "a-B", value: "3")]
    #expect(details.value(of: "a-b") == "2" && details.value(of: "b") == "1" && details.value(of: "a") == nil)
  }
}
