// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import Testing

@testable import DialtoneSites

/// Times, stages and rarer turns of a check.
struct CheckTransitionTests {
  private static let lost = CheckStateMachine.Event.lost(SiteError(.connectionLost, "gone"))

  private func started(
    _ url: SiteURL, by proxy: ProxyServer? = nil, _ configure: (inout SiteCheckConfiguration) -> Void = { _ in }
  ) -> ScriptedCheck {
    var check = ScriptedCheck(url, by: proxy, configure)
    _ = check.start()
    return check
  }

  // MARK: Times

  /// Each stage's time is its own; what the paths and the trust take is in the total alone.
  @Test func eachStageHasItsTime() throws {
    var check = started("https://site.example/")
    check.pass(1)
    _ = check.take(.trustFound(nil))
    check.pass(2)
    _ = check.take(.lookupBegan(at: check.uptime, servers: []))
    check.pass(3)
    _ = check.take(.lookupEnded(nil, .addresses([.four])))
    check.pass(4)
    _ = check.take(.pathsKnown([.four], [.wifi]))
    check.pass(5)
    _ = check.take(.connected(.four))
    check.pass(6)
    _ = check.take(.tlsAgreed(.good))
    check.pass(7)
    _ = check.take(.requestSent)
    check.pass(8)
    _ = check.take(.firstByte)
    check.pass(9)
    let timings = try check.verdict(of: .head(.status(200), isHTTP: true)).timings
    #expect(timings.name == .seconds(3) && timings.connect == .seconds(5) && timings.tls == .seconds(6))
    #expect(timings.firstByte == .seconds(8), "since the request was sent")
    // Without the two seconds in the queue.
    #expect(timings.total == .seconds(43))
  }

  @Test func theQueueIsNoPartOfTheDeadline() {
    var check = started("https://site.example/")
    check.pass(3)
    // While it waits for a thread, the whole time is still its own.
    #expect(check.take(.trustFound(nil)).last == .deadline(18))
    check.pass(10)
    #expect(check.take(.lookupBegan(at: check.uptime, servers: [])) == [.deadline(25)], "3 seconds are used up")
  }

  /// Somebody waits for a check with an inspection: its deadline counts from the beginning.
  @Test func withAnInspectionTheQueueCounts() throws {
    var check = started("https://site.example/") { $0.inspection = SiteInspection() }
    check.pass(3)
    #expect(check.take(.trustFound(nil)).last == .deadline(15))
    check.pass(10)
    #expect(check.take(.lookupBegan(at: check.uptime, servers: [])) == [])
    check.pass(1)
    #expect(check.take(.lookupEnded(.ipv6, .noAddress)) == [])
    #expect(try check.verdict(of: .deadlinePassed).timings.total == .seconds(14))
  }

  @Test func timesOfTheFirstConnectionDoNotCount() throws {
    var check = started("http://192.0.2.1/")
    check.pass(1)
    _ = check.take(.pathsKnown([.four], [.wifi]))
    check.pass(2)
    _ = check.take(.connected(.four))
    check.pass(3)
    _ = check.take(.firstByte)
    check.pass(4)
    _ = check.take(.head(.status(501), isHTTP: true))
    var late = check
    let timings = try late.verdict(of: .deadlinePassed).timings
    #expect(timings.connect == nil && timings.firstByte == nil && timings.total == .seconds(10))
    check.pass(5)
    _ = check.take(.connectionClosed)
    check.pass(6)
    _ = check.take(.connected(.four))
    check.pass(7)
    _ = check.take(.firstByte)
    let second = try check.verdict(of: .head(.status(200, .get), isHTTP: true)).timings
    #expect(second.connect == .seconds(6) && second.firstByte == .seconds(7) && second.total == .seconds(28))
  }

  @Test func aTunnelIsPartOfTheConnection() throws {
    var check = started("https://192.0.2.1/", by: .proxy)
    _ = check.take(.trustFound(nil))
    _ = check.take(.pathsKnown([.server], [.wifi]))
    check.pass(1)
    _ = check.take(.connected(.server))
    check.pass(2)
    var late = check
    #expect(try late.verdict(of: .deadlinePassed).stage == .connect)
    _ = check.take(.tunnelOpened)
    check.pass(4)
    let verdict = try check.verdict(of: .deadlinePassed)
    #expect(verdict.timings.connect == .seconds(3) && verdict.stage == .tls)
  }

  // MARK: Stages

  @Test func whatIsLostIsLostInItsStage() throws {
    var check = ScriptedCheck("http://192.0.2.1/").exchanging()
    var copy = check
    #expect(try copy.verdict(of: Self.lost).stage == .request)
    _ = check.take(.requestSent)
    copy = check
    #expect(try copy.verdict(of: Self.lost).stage == .response)
    _ = check.take(.firstByte)
    copy = check
    #expect(try copy.verdict(of: Self.lost).stage == .response)
    // What the request comes to does not matter once the answer has begun.
    #expect(check.take(.requestSent) == [])
    #expect(try check.verdict(of: Self.lost).stage == .response)
  }

  @Test func theRequestOverTLSHasItsStage() throws {
    var check = ScriptedCheck("https://192.0.2.1/").exchanging()
    _ = check.take(.tlsAgreed(.good))
    #expect(try check.verdict(of: Self.lost).stage == .request)
  }

  @Test func aBodyThatCannotBeReadFailsInTheBody() throws {
    var check = ScriptedCheck("http://192.0.2.1/") { $0.expectation = .body(containing: "x") }.exchanging()
    _ = check.take(.firstByte)
    let head = VerdictRules.Head(method: .get, status: 200, coding: ContentCoding(["gzip"]))
    let verdict = try check.verdict(of: .head(head, isHTTP: true))
    #expect(verdict.kind == .failed && verdict.stage == .body && verdict.error?.code == .unreadableBody)
  }

  @Test func anotherHeadChangesNothing() throws {
    var check = ScriptedCheck("http://192.0.2.1/") { $0.expectation = .body(containing: "x") }.exchanging()
    #expect(check.take(.head(.status(200, .get), isHTTP: true)) == [.readBody])
    #expect(check.take(.head(.status(511, .get), isHTTP: true)) == [])
    #expect(check.take(.head(.status(200, .get), isHTTP: false)) == [])
    let body = VerdictRules.Body(length: 1, isComplete: true)
    #expect(try check.verdict(of: .body(body)).kind == .unexpectedResponse)
  }

  @Test func aBodyWithoutAHeadIsNone() {
    var check = ScriptedCheck("http://192.0.2.1/").exchanging()
    #expect(check.take(.body(VerdictRules.Body(length: 9, isComplete: true))) == [])
  }

  @Test(arguments: [(200, true), (999, true), (199, false), (100, false), (1_000, false)])
  func aFinalStatusIsFrom200To999(_ status: Int, _ isFinal: Bool) throws {
    var check = ScriptedCheck("http://192.0.2.1/").exchanging()
    #expect((try check.verdict(of: .head(.status(status), isHTTP: true)).kind == .available) == isFinal)
  }

  /// Servers that know GET alone say so in several ways (RFC 9110, 9.1).
  @Test(arguments: [400, 403, 404, 401, 410, 500])
  func anAnswerToHeadThatWasNotExpectedHasAHint(_ status: Int) throws {
    var check = ScriptedCheck("http://192.0.2.1/") { $0.expectation = .success }.exchanging()
    let verdict = try check.verdict(of: .head(.status(status), isHTTP: true))
    #expect(verdict.kind == .unexpectedResponse && verdict.status == status)
    #expect(verdict.error?.code == ([400, 403, 404].contains(status) ? .headRefused : nil))
    check = ScriptedCheck("http://192.0.2.1/").exchanging()
    #expect(try check.verdict(of: .head(.status(status), isHTTP: true)).error == nil, "it was expected")
    check = ScriptedCheck("http://192.0.2.1/") {
      $0.expectation = .success
      $0.method = .get
    }.exchanging()
    #expect(try check.verdict(of: .head(.status(status, .get), isHTTP: true)).error == nil, "GET was asked")
  }

  // MARK: Proxies

  /// A proxy's own address may be private; and it is the proxy's name that is not found.
  @Test func theProxysNameIsLookedUp() throws {
    let name: SiteURL = "http://proxy.example/"
    let proxy = ProxyServer(host: name.lookupHost, port: 8_080, authorization: nil)
    var check = started("http://site.example/", by: proxy) { $0.requiresPublicAddress = true }
    _ = check.take(.lookupBegan(at: 0, servers: []))
    var other = check
    let home = IPAddress(ipv4: 0x0A00_0001)
    #expect(check.take(.lookupEnded(nil, .addresses([home]))).last == .findPaths([home], isTranslated: false))
    _ = other.take(.lookupEnded(nil, .noAddress))
    other.namePaths = [.wifi]
    #expect(try other.verdict(of: .namePathsKnown).error?.message == "the proxy's name has no address")
  }

  @Test func noPathToTheProxysNameSaysSo() throws {
    let name: SiteURL = "http://proxy.example/"
    let proxy = ProxyServer(host: name.lookupHost, port: 8_080, authorization: nil)
    var check = started("http://site.example/", by: proxy)
    check.namePaths = [.gone]
    let message = try check.verdict(of: .deadlinePassed).error?.message
    #expect(message == "no path to look the proxy's name up: \(Reachability.Reason.noCarrier)")
    check = started("http://site.example/")
    check.namePaths = [.gone]
    let own = try check.verdict(of: .deadlinePassed).error?.message
    #expect(own == "no path to look the name up: \(Reachability.Reason.noCarrier)")
  }

  /// By HTTP only a site over TLS needs a tunnel; by SOCKS each does (RFC 1928), and what answers then is the site.
  @Test func bySOCKSEachSiteHasATunnel() throws {
    var socks = ProxyServer.proxy
    socks.socks = ProxyServer.Socks()
    var enough = started("http://192.0.2.1/", by: socks) {
      var inspection = SiteInspection()
      inspection.endsWithConnection = true
      $0.inspection = inspection
    }
    _ = enough.take(.pathsKnown([.server], [.wifi]))
    #expect(enough.take(.connected(.server)) == [.openTunnel])
    #expect(try enough.verdict(of: .tunnelOpened).kind == .available)
    for status in [502, 407] {
      var check = started("http://192.0.2.1/", by: socks)
      _ = check.take(.pathsKnown([.server], [.wifi]))
      #expect(check.take(.connected(.server)) == [.openTunnel])
      #expect(check.take(.tunnelOpened) == [.ask(.head)])
      let verdict = try check.verdict(of: .head(.status(status), isHTTP: true))
      #expect(verdict.kind == .available && verdict.status == status)
    }
    var plain = started("http://192.0.2.1/", by: .proxy)
    _ = plain.take(.pathsKnown([.server], [.wifi]))
    #expect(plain.take(.connected(.server)) == [.ask(.head)])
  }

  // MARK: Names and their paths

  @Test func nameServersAreWatchedOnlyIfTheInternetIsGone() {
    func watched(_ paths: [Reachability?], _ servers: [IPAddress] = [.server]) -> Bool {
      var check = started("http://site.example/")
      check.namePaths = paths
      let actions = check.take(.lookupBegan(at: 0, servers: servers))
      return actions.contains(.watchPathsToNameServers(servers))
    }
    #expect(watched([.gone]))
    #expect(!watched([.wifi]) && !watched([nil]) && !watched([]) && !watched([.gone], []))
    #expect(!watched([.gone, nil]), "they are watched already")
  }

  @Test func aNameThatFailedWaitsForTheServersPaths() {
    var check = started("http://site.example/")
    _ = check.take(.lookupBegan(at: 0, servers: [.server]))
    _ = check.take(.lookupEnded(nil, .failed))
    check.namePaths = [.gone]
    #expect(check.take(.namePathsKnown) == [.watchPathsToNameServers([.server]), .waitForNamePaths])
  }

  /// systemd-resolved(8) and others answer on this machine. That they are reached says nothing, unless they answer.
  @Test func aServerOnThisMachineCountsOnlyOnceItHasAnswered() throws {
    var local = Reachability.wifi
    local.flags.insert(.isLocalAddress)
    for (result, kind) in [
      (.failed, .offline), (.noAddress, .failed),
    ] as [(NameLookupResult, SiteVerdict.Kind)] {
      var check = ScriptedCheck("http://site.example/").lookingUp(servers: [.server])
      check.namePaths = [.gone, local]
      _ = check.take(.lookupEnded(nil, result))
      #expect(try check.verdict(of: .namePathsKnown).kind == kind)
    }
  }

  @Test(
    arguments: [
      ([.gone], .offline), ([.gone, nil], .failed), ([.gone, .gone], .offline), ([.gone, .gone, .wifi], .failed),
      ([.gone, .gone, nil], .failed), ([.wifi, .gone], .failed), ([nil, .gone], .failed), ([], .failed),
    ] as [([Reachability?], SiteVerdict.Kind)])
  func aNameIsOfflineOnlyWithoutAnyPath(_ paths: [Reachability?], _ kind: SiteVerdict.Kind) throws {
    var check = ScriptedCheck("http://site.example/").lookingUp()
    check.namePaths = paths
    let verdict = try check.verdict(of: .deadlinePassed)
    #expect(verdict.kind == kind && verdict.error?.code == (kind == .offline ? .noPath : .timedOut))
    #expect(check.machine.pathReason == (kind == .offline ? .noCarrier : nil))
  }

  // MARK: Routes

  @Test func theSecondRequestTriesTheFirstsAddressFirst() {
    var check = ScriptedCheck("http://site.example/").lookingUp()
    _ = check.take(.lookupEnded(nil, .addresses([.six, .four])))
    #expect(check.take(.pathsKnown([.six, .four], [.wifi, .wifi])) == [.race([.six, .four], isOpen: false)])
    _ = check.take(.connected(.four))
    _ = check.take(.head(.status(405), isHTTP: true))
    #expect(check.take(.connectionClosed) == [.race([.four, .six], isOpen: false)])
  }

  @Test func anAddressThatMayNotBeConnectedToFails() throws {
    var check = started("http://192.0.2.1/") {
      var inspection = SiteInspection()
      inspection.admission = AddressAdmission(networks: [])
      $0.inspection = inspection
    }
    let verdict = try check.verdict(of: .pathsKnown([.four], [.wifi]))
    #expect(verdict.kind == .failed && verdict.stage == .connect && verdict.address == .four)
    #expect(verdict.error?.message == "192.0.2.1 is no address to which this check may connect")
    #expect(check.machine.refused == .four && check.machine.pathReason == nil)
  }

  @Test func aMissingPathIsToldWithItsReason() throws {
    var check = started("http://192.0.2.1/")
    let verdict = try check.verdict(of: .pathsKnown([.four], [.gone]))
    #expect(verdict.address == .four && check.machine.pathReason == .noCarrier && check.machine.refused == nil)
  }

  @Test func theDeadlineSaysHowLongItWas() throws {
    var check = ScriptedCheck("http://192.0.2.1/") { $0.timeout = .seconds(7) }.exchanging()
    #expect(try check.verdict(of: .deadlinePassed).error?.message == "no answer within \(Duration.seconds(7))")
  }
}
