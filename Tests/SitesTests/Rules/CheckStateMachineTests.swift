// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import Testing

@testable import DialtoneSites

/// Each transition of a check, and late events.
struct CheckStateMachineTests {
  /// Over TLS the site itself has answered, whatever stands between.
  @Test(arguments: [502, 407, 500]) func anErrorThroughATunnelIsTheSites(_ status: Int) throws {
    var check = ScriptedCheck("https://192.0.2.1/", by: .proxy).exchanging()
    #expect(check.take(.tunnelOpened) == [.startTLS])
    _ = check.take(.tlsAgreed(.good))
    let verdict = try check.verdict(of: .head(.status(status), isHTTP: true))
    #expect(verdict.kind == .available && verdict.status == status)
  }

  @Test func plainSiteFromTheNameToTheVerdict() throws {
    var check = ScriptedCheck("http://site.example/")
    #expect(check.start().suffix(3) == [.watchPathToInternet, .lookUp(check.name, [.ipv6, .ipv4]), .deadline(15)])
    #expect(check.take(.lookupBegan(at: check.uptime, servers: [])) == [.deadline(15)])
    #expect(check.take(.lookupEnded(.ipv6, .noAddress)) == [])
    #expect(
      check.take(.lookupEnded(.ipv4, .addresses([.four])))
        == [.leaveNames, .findPaths([.four], isTranslated: false)])
    #expect(check.take(.pathsKnown([.four], [.wifi])) == [.race([.four], isOpen: false)])
    #expect(check.take(.connected(.four)) == [.ask(.head)])
    #expect(check.take(.requestSent) == [])
    #expect(check.take(.firstByte) == [])
    let verdict = try check.verdict(of: .head(.status(200), isHTTP: true))
    #expect(verdict.kind == .available && verdict.status == 200 && verdict.address == .four)
    #expect(verdict.interface?.name == "wlan0" && verdict.error == nil)
    #expect(verdict.timings.name != nil && verdict.timings.connect != nil && verdict.timings.firstByte != nil)
    #expect(verdict.timings.tls == nil)
  }

  @Test func secureSiteReadsItsTrustFirst() throws {
    var check = ScriptedCheck("https://192.0.2.1/")
    #expect(check.start() == [.deadline(15), .findTrust])
    #expect(check.take(.trustFound(nil)) == [.findPaths([.four], isTranslated: true)])
    #expect(check.take(.pathsKnown([.four], [.wifi])) == [.race([.four], isOpen: false)])
    #expect(check.take(.connected(.four)) == [.startTLS])
    #expect(check.take(.tlsAgreed(.good)) == [.ask(.head)])
    let verdict = try check.verdict(of: .head(.status(404), isHTTP: true))
    #expect(
      verdict.kind == .available && verdict.certificateExpires?.durationSince1970 == .seconds(1_000)
        && verdict.timings.tls != nil)
  }

  /// An address needs no lookup, and may be reached through a NAT64 translator.
  @Test func anAddressIsNotLookedUp() {
    var check = ScriptedCheck("http://192.0.2.1/")
    #expect(check.start() == [.deadline(15), .findPaths([.four], isTranslated: true)])
  }

  // MARK: Names

  @Test func addressesThatAreKnownNeedNoThread() {
    var check = ScriptedCheck("http://site.example/")
    _ = check.start()
    #expect(
      check.take(.lookupEnded(nil, .addresses([.four])))
        == [.deadline(15), .leaveNames, .findPaths([.four], isTranslated: false)])
  }

  @Test func timeInTheQueueIsNoPartOfTheCheck() throws {
    var check = ScriptedCheck("http://site.example/")
    _ = check.start()
    check.pass(10)
    #expect(check.take(.lookupBegan(at: check.uptime, servers: [])) == [.deadline(25)])
    check.pass(1)
    #expect(check.take(.lookupBegan(at: check.uptime, servers: [])) == [], "the other family's thread changes nothing")
    let verdict = try check.verdict(of: .deadlinePassed)
    #expect(verdict.timings.total == .seconds(1))
  }

  @Test func ipv4WaitsForTheResolutionDelay() {
    var check = ScriptedCheck("http://site.example/").lookingUp()
    #expect(check.take(.lookupEnded(.ipv4, .addresses([.four]))) == [.setResolutionDelay])
    #expect(
      check.take(.resolutionDelayPassed)
        == [.leaveNames, .setNamePatience, .findPaths([.four], isTranslated: false)])
    #expect(check.take(.resolutionDelayPassed) == [], "once")
  }

  @Test func aFamilyThatAnswersLateJoinsTheRace() {
    var check = ScriptedCheck("http://site.example/").lookingUp()
    #expect(
      check.take(.lookupEnded(.ipv6, .addresses([.six])))
        == [.leaveNames, .setNamePatience, .findPaths([.six], isTranslated: false)])
    #expect(check.take(.pathsKnown([.six], [.wifi])) == [.race([.six], isOpen: true)])
    #expect(check.take(.lookupEnded(.ipv4, .addresses([.four]))) == [.findPaths([.four], isTranslated: false)])
    #expect(check.take(.pathsKnown([.four], [.wifi])) == [.addRoutes([.four]), .closeRace])
  }

  @Test func aFamilyThatNeverAnswersIsGivenUp() {
    var check = ScriptedCheck("http://site.example/").lookingUp()
    _ = check.take(.lookupEnded(.ipv6, .addresses([.six])))
    _ = check.take(.pathsKnown([.six], [.wifi]))
    #expect(check.take(.namesTookLong) == [.stopLookups, .closeRace])
  }

  @Test(arguments: [
    (NameLookupResult.noAddress, "the name has no address"), (.failed, "the name could not be looked up"),
    (.addresses([.zero]), "the name leads only to 0.0.0.0, which is no destination"),
  ])
  func aNameThatIsNotFoundFailsOnceThePathsAreKnown(_ result: NameLookupResult, _ words: String) throws {
    var check = ScriptedCheck("http://site.example/").lookingUp()
    #expect(check.take(.lookupEnded(nil, result)) == [.waitForNamePaths])
    check.namePaths = [.wifi]
    let verdict = try check.verdict(of: .namePathsKnown)
    #expect(verdict.kind == .failed && verdict.stage == .name && verdict.error?.code == .nameNotResolved)
    #expect(verdict.error?.message == words)
  }

  @Test func aNameThatNoServerCouldBeAskedForIsOffline() throws {
    var check = ScriptedCheck("http://site.example/")
    _ = check.start()
    _ = check.take(.lookupBegan(at: check.uptime, servers: [.server]))
    check.namePaths = [.gone]
    #expect(check.take(.namePathsKnown) == [.watchPathsToNameServers([.server])])
    check.namePaths = [.gone, nil]
    #expect(check.take(.lookupEnded(nil, .failed)) == [.waitForNamePaths])
    check.namePaths = [.gone, .gone]
    let verdict = try check.verdict(of: .namePathsKnown)
    #expect(verdict.kind == .offline && verdict.error?.code == .noPath && verdict.stage == nil)
  }

  @Test func aServerThatIsReachedCountsAsAPath() throws {
    var check = ScriptedCheck("http://site.example/").lookingUp(servers: [.server])
    check.namePaths = [.gone, .wifi]
    _ = check.take(.lookupEnded(nil, .failed))
    #expect(try check.verdict(of: .namePathsKnown).kind == .failed)
  }

  @Test func aNameThatLeadsToNoPublicAddressIsIntercepted() throws {
    var check = ScriptedCheck("http://site.example/") { $0.requiresPublicAddress = true }.lookingUp()
    let verdict = try check.verdict(of: .lookupEnded(nil, .addresses([IPAddress(ipv4: 0x0A00_0001)])))
    #expect(verdict.kind == .intercepted && verdict.error?.code == .privateAddress)
    #expect(verdict.address == IPAddress(ipv4: 0x0A00_0001))
  }

  // MARK: Paths and connections

  @Test func aSiteWithoutAnyPathIsOffline() throws {
    var check = ScriptedCheck("http://192.0.2.1/") { $0.interface = "eth9" }
    _ = check.start()
    let verdict = try check.verdict(of: .pathsKnown([.four], [.gone]))
    let message = "no path to the site over eth9: \(Reachability.Reason.noCarrier)"
    #expect(verdict.kind == .offline && verdict.error?.message == message)
  }

  @Test func aPathThatIsFoundLateIsTaken() {
    var check = ScriptedCheck("http://site.example/").lookingUp()
    _ = check.take(.lookupEnded(.ipv6, .addresses([.six])))
    #expect(check.take(.pathsKnown([.six], [.gone])) == [], "the other family may have one")
    _ = check.take(.lookupEnded(.ipv4, .addresses([.four])))
    #expect(check.take(.pathsKnown([.four], [.wifi])) == [.race([.four], isOpen: false)])
  }

  @Test func aConnectionThatIsRefusedFails() throws {
    var check = ScriptedCheck("http://192.0.2.1/").connecting()
    let verdict = try check.verdict(of: .notConnected(SiteError(.cannotConnect, "refused"), last: .four))
    #expect(verdict.kind == .failed && verdict.stage == .connect && verdict.address == .four)
  }

  @Test func aProxyIsAskedForATunnel() {
    var check = ScriptedCheck("https://192.0.2.1/", by: .proxy)
    _ = check.start()
    #expect(check.take(.trustFound(nil)) == [.findPaths([.server], isTranslated: true)])
    _ = check.take(.pathsKnown([.server], [.wifi]))
    #expect(check.take(.connected(.server)) == [.openTunnel])
    #expect(check.take(.tunnelOpened) == [.startTLS])
  }

  @Test(arguments: [(407, SiteVerdict.Kind.failed), (502, .failed), (511, .captivePortal), (404, .available)])
  func aProxysOwnAnswerIsNotTheSites(_ status: Int, _ kind: SiteVerdict.Kind) throws {
    var check = ScriptedCheck("http://192.0.2.1/", by: .proxy).exchanging()
    let verdict = try check.verdict(of: .head(.status(status), isHTTP: true))
    #expect(verdict.kind == kind)
    if kind == .failed { #expect(verdict.stage == .connect && verdict.error?.code == .proxyFailed) }
  }

  // MARK: TLS

  @Test func withoutTrustTLSDoesNotBegin() throws {
    var check = ScriptedCheck("https://192.0.2.1/")
    _ = check.start()
    #expect(check.take(.trustFound(SiteError(.trustUnreadable, "none"))) == [.findPaths([.four], isTranslated: true)])
    _ = check.take(.pathsKnown([.four], [.wifi]))
    let verdict = try check.verdict(of: .connected(.four))
    #expect(verdict.kind == .failed && verdict.stage == .tls && verdict.error?.code == .trustUnreadable)
  }

  @Test(arguments: [
    (
      CheckStateMachine.PeerCertificate(expires: UTCTimestamp(durationSince1970: .seconds(1)), isForSite: false),
      SiteError.Code.certificateNameMismatch
    ),
    (.init(isForSite: true, weakness: SiteError(.certificateUntrusted, "weak")), .certificateUntrusted),
  ])
  func anInvalidCertificateIsIntercepted(
    _ certificate: CheckStateMachine.PeerCertificate, _ code: SiteError.Code
  ) throws {
    var check = ScriptedCheck("https://192.0.2.1/").exchanging()
    let verdict = try check.verdict(of: .tlsAgreed(certificate))
    #expect(verdict.kind == .intercepted && verdict.error?.code == code)
    #expect(verdict.certificateExpires == certificate.expires)
  }

  @Test(arguments: [
    (SiteError.Code.certificateExpired, SiteVerdict.Kind.intercepted), (.tlsFailed, .failed),
    (.connectionLost, .failed),
  ])
  func aHandshakeThatFailsIsJudgedByItsCause(_ code: SiteError.Code, _ kind: SiteVerdict.Kind) throws {
    var check = ScriptedCheck("https://192.0.2.1/").exchanging()
    let verdict = try check.verdict(of: .tlsFailed(SiteError(code, ""), certificateExpires: nil))
    #expect(verdict.kind == kind && verdict.stage == (kind == .failed ? .tls : nil))
  }

  /// In TLS 1.3 a client finishes before the server has accepted it.
  @Test func aRefusalAfterTheHandshakeBelongsToTLS() throws {
    var check = ScriptedCheck("https://192.0.2.1/").exchanging()
    _ = check.take(.tlsAgreed(.good))
    #expect(try check.verdict(of: .lost(SiteError(.tlsFailed, "alert"))).stage == .tls)
  }

  @Test func aCertificateThatEndsSoonIsNotAvailable() throws {
    var check = ScriptedCheck("https://192.0.2.1/") { $0.minimumCertificateLifetime = .seconds(2_000) }.exchanging()
    _ = check.take(.tlsAgreed(.good))
    let verdict = try check.verdict(of: .head(.status(200), isHTTP: true))
    #expect(verdict.kind == .unexpectedResponse && verdict.error?.code == .certificateExpiresSoon)
  }

  // MARK: The answer

  @Test func aRequestThatCannotBeSentFails() throws {
    var check = ScriptedCheck("http://192.0.2.1/").exchanging()
    #expect(try check.verdict(of: .requestNotSent(SiteError(.connectionLost, ""))).stage == .request)
  }

  @Test func anAnswerMayComeBeforeTheRequestIsSent() {
    var check = ScriptedCheck("http://192.0.2.1/").exchanging()
    _ = check.take(.firstByte)
    #expect(check.take(.requestNotSent(SiteError(.connectionLost, ""))) == [])
  }

  @Test(arguments: [(101, true), (200, false)])
  func onlyAFinalAnswerOfHTTP1Counts(_ status: Int, _ isHTTP: Bool) throws {
    var check = ScriptedCheck("http://192.0.2.1/").exchanging()
    let verdict = try check.verdict(of: .head(.status(status), isHTTP: isHTTP))
    #expect(verdict.kind == .failed && verdict.error?.code == .malformedResponse)
  }

  @Test func aBodyIsReadUntilItDecides() throws {
    var check = ScriptedCheck("http://192.0.2.1/") { $0.expectation = .body(containing: "x") }.exchanging()
    #expect(check.take(.head(.status(200, .get), isHTTP: true)) == [.readBody])
    #expect(check.take(.body(VerdictRules.Body(length: 10))) == [])
    #expect(try check.verdict(of: .body(VerdictRules.Body(length: 20, hasText: true))).kind == .available)
  }

  @Test func aConnectionThatIsLostInTheBodyFails() throws {
    var check = ScriptedCheck("http://192.0.2.1/") { $0.expectation = .body(containing: "x") }.exchanging()
    _ = check.take(.head(.status(200, .get), isHTTP: true))
    #expect(try check.verdict(of: .lost(SiteError(.connectionLost, ""))).stage == .body)
  }

  @Test(arguments: [SiteCheckConfiguration.Method.head, .get])
  func aTrustedCertificateIsBelievedOnAnotherConnection(_ method: SiteCheckConfiguration.Method) {
    var check = ScriptedCheck("https://192.0.2.1/") { $0.method = method }.exchanging()
    #expect(check.take(.certificateIsTrusted) == [.closeConnection])
    #expect(check.take(.tlsFailed(SiteError(.tlsFailed, ""), certificateExpires: nil)) == [])
    #expect(check.take(.connectionClosed) == [.race([.four], isOpen: false)])
    #expect(check.take(.connected(.four)) == [.startTLS])
    #expect(check.take(.tlsAgreed(.good)) == [.ask(method)])
  }

  @Test func getFollowsHeadOnAnotherConnection() throws {
    var check = ScriptedCheck("http://192.0.2.1/").exchanging()
    _ = check.take(.firstByte)
    #expect(check.take(.head(.status(405), isHTTP: true)) == [.closeConnection])
    #expect(check.take(.head(.status(200), isHTTP: true)) == [], "nothing counts while it is closed")
    #expect(check.take(.lost(SiteError(.connectionLost, ""))) == [])
    #expect(check.take(.connectionClosed) == [.race([.four], isOpen: false)])
    #expect(check.take(.connected(.four)) == [.ask(.get)])
    #expect(try check.verdict(of: .head(.status(200, .get), isHTTP: true)).kind == .available)
  }
}
