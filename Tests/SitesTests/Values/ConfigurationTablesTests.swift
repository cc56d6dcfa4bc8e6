// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import Testing

@testable import DialtoneSites

/// Where configurations begin to contradict themselves, and what they say by default.
struct ConfigurationTablesTests {
  private static let site: SiteURL = "http://example.com/"

  private func isValid(_ change: (inout SiteCheckConfiguration) -> Void) -> Bool {
    var configuration = SiteCheckConfiguration()
    change(&configuration)
    do {
      try configuration.validate(for: Self.site)
      return true
    } catch {
      #expect(error.code == .invalidConfiguration && !error.message.isEmpty)
      return false
    }
  }

  @Test func aTimeoutIsAboveZero() {
    #expect(isValid { $0.timeout = Duration(attoseconds: 1) } && !isValid { $0.timeout = .zero })
  }

  /// HEAD has no body (RFC 9110, 9.3.2); 64 KiB are read of one.
  @Test func aTextIsLookedForWhereItCanBe() {
    let text = SiteExpectation.body(containing: "x")
    #expect(isValid { $0.expectation = text })
    for (method, isRight) in [(.get, true), (.head, false)] as [(SiteCheckConfiguration.Method, Bool)] {
      let isTaken = isValid {
        $0.expectation = text
        $0.method = method
      }
      #expect(isTaken == isRight && isValid { $0.method = method })
    }
    #expect(isValid { $0.expectation = .body(containing: String(repeating: "x", count: 65_536)) })
    #expect(!isValid { $0.expectation = .body(containing: String(repeating: "x", count: 65_537)) })
  }

  @Test(
    arguments: [
      ([200], true), ([999], true), ([200, 404, 999], true), ([199], false), ([1_000], false), ([200, 100], false),
      ([-1], false), ([], false), ([1_000, 200], false),
    ] as [(Set<Int>, Bool)])
  func statusesAreThoseOfFinalAnswers(_ statuses: Set<Int>, _ isTaken: Bool) {
    #expect(isValid { $0.expectation = .statuses(statuses) } == isTaken)
  }

  @Test func aCertificateLastsForZeroOrMore() {
    for least in [Duration.zero, .seconds(1)] { #expect(isValid { $0.minimumCertificateLifetime = least }) }
    #expect(!isValid { $0.minimumCertificateLifetime = Duration(attoseconds: -1) })
  }

  /// RFC 9110, 5.5: what a field's value may have without anybody objecting.
  @Test(arguments: [
    (" ", true), ("~", true), ("a/1 (b)", true), ("", false), ("\u{1F}", false), ("\u{7F}", false), ("a\tb", false),
    ("\u{E9}", false), ("a\n", false),
  ])
  func aUserAgentIsPrintableASCII(_ agent: String, _ isTaken: Bool) {
    #expect(isValid { $0.userAgent = agent } == isTaken)
  }

  /// A connection that traffic makes counts only if the configuration says so (SCNetworkReachability's flags).
  @Test(
    arguments: [
      (.reachable, [.reachable], true, true), (.undetermined, [], true, true), (.unreachable, [], false, false),
      (.requiresConnection, [.reachable, .connectionRequired, .connectionOnTraffic], false, true),
      (.requiresConnection, [.reachable, .connectionRequired, .connectionOnDemand], false, true),
      (.requiresConnection, [.reachable, .connectionRequired], false, false),
      (
        .requiresConnection, [.reachable, .connectionRequired, .connectionOnTraffic, .interventionRequired], false,
        false
      ),
    ] as [(Reachability.Status, ReachabilityFlags, Bool, Bool)])
  func aPathIsUsable(
    _ status: Reachability.Status, _ flags: ReachabilityFlags, _ usually: Bool, _ onDemand: Bool
  ) {
    var configuration = SiteCheckConfiguration()
    let path = Reachability(status: status, flags: flags)
    #expect(configuration.isUsable(path) == usually)
    configuration.acceptsConnectionOnDemand = true
    #expect(configuration.isUsable(path) == onDemand)
  }

  @Test func thePathIsOfTheInterfaceAndTheFamily() {
    var configuration = SiteCheckConfiguration()
    #expect(configuration.path.interface == nil && configuration.path.family == nil)
    configuration.interface = "eth0"
    configuration.family = .ipv6
    #expect(configuration.path.interface == "eth0" && configuration.path.family == .ipv6)
  }

  @Test func defaultsAreAsDocumented() {
    let check = SiteCheckConfiguration()
    #expect(check.timeout == .seconds(15) && check.expectation == .answer && check.proxy == .direct)
    #expect(!check.acceptsConnectionOnDemand && !check.requiresPublicAddress && check.method == nil)
    let monitor = SiteMonitorConfiguration()
    #expect(monitor.interval == .seconds(300) && monitor.expensiveInterval == .seconds(3_600))
    #expect(monitor.retryDelay == .seconds(1) && monitor.maximumRetryDelay == .seconds(300))
    #expect(monitor.failuresBeforeLoss == 2 && monitor.settling == .milliseconds(500) && monitor.check == check)
  }

  private func isValid(_ change: (inout SiteMonitorConfiguration) -> Void) -> Bool {
    var configuration = SiteMonitorConfiguration()
    change(&configuration)
    do {
      try configuration.validate()
      return true
    } catch {
      #expect(error.code == .invalidConfiguration && !error.message.isEmpty)
      return false
    }
  }

  @Test func aMonitorsTimesAreAboveZero() {
    let least = Duration(attoseconds: 1)
    let times: [WritableKeyPath<SiteMonitorConfiguration, Duration>] = [
      \.interval, \.expensiveInterval, \.retryDelay,
    ]
    for time in times {
      #expect(isValid { (c: inout SiteMonitorConfiguration) in c[keyPath: time] = least })
      #expect(!isValid { (c: inout SiteMonitorConfiguration) in c[keyPath: time] = .zero })
    }
    #expect(isValid { (c: inout SiteMonitorConfiguration) in c.maximumRetryDelay = c.retryDelay })
    #expect(!isValid { (c: inout SiteMonitorConfiguration) in c.maximumRetryDelay = c.retryDelay - least })
    #expect(isValid { (c: inout SiteMonitorConfiguration) in c.failuresBeforeLoss = 1 })
    #expect(!isValid { (c: inout SiteMonitorConfiguration) in c.failuresBeforeLoss = 0 })
    #expect(!isValid { (c: inout SiteMonitorConfiguration) in c.check.timeout = .zero })
  }

  // MARK: Groups

  @Test(arguments: [
    (0, 1, false), (-1, 1, false), (1, 1, true), (2, 1, false), (1, 0, false), (0, 0, false), (1, 3, true),
    (3, 3, true), (4, 3, false),
  ])
  func aQuorumCanBeHadOfTheSites(_ quorum: Int, _ count: Int, _ isTaken: Bool) throws {
    let environment = SiteEnvironment(reachability: ScriptedNetwork().environment)
    let urls = try (0..<count).map { try SiteURL("http://\($0).example/") }
    do {
      let group = try SiteGroup(urls, quorum: quorum, environment: environment)
      #expect(isTaken && group.quorum == quorum && group.urls == urls)
    } catch {
      #expect(!isTaken && error.code == .invalidConfiguration)
      #expect(error.message == "a quorum of \(quorum) cannot be had of \(count) sites")
    }
  }

  /// Two URLs that ask the same of the same site are one, however they are written.
  @Test(arguments: [
    ("http://a.example/", "HTTP://A.example:80", false), ("http://a.example/", "http://a.example/#b", false),
    ("http://a.example/", "http://a.example/b", true), ("http://a.example/", "https://a.example/", true),
    ("http://a.example/", "http://a.example:81/", true), ("http://a.example/?b", "http://a.example/", true),
  ])
  func noSiteIsGivenTwice(_ first: String, _ second: String, _ isTaken: Bool) {
    let environment = SiteEnvironment(reachability: ScriptedNetwork().environment)
    do {
      _ = try SiteGroup([first, second], quorum: 1, environment: environment)
      #expect(isTaken)
    } catch {
      #expect(!isTaken && error.message == "a site is given twice; its answer would count twice")
    }
  }

  private func summary(_ kinds: [SiteVerdict.Kind], _ quorum: Int) -> SiteGroup.Summary {
    SiteGroup.Summary(kinds.map { SiteVerdict(url: Self.site, kind: $0) }, quorum: quorum)
  }

  /// It is determined as soon as what is not known yet can change nothing.
  @Test(
    arguments: [
      ([.available], 1, true, true), ([.failed], 1, false, true), ([.undetermined], 1, false, false),
      ([.available, .undetermined], 1, true, true), ([.available, .undetermined], 2, false, false),
      ([.failed, .undetermined], 2, false, true), ([.failed, .undetermined], 1, false, false),
      ([.available, .failed, .undetermined], 2, false, false),
      ([.available, .captivePortal, .offline], 2, false, true),
      ([.available, .available, .failed], 2, true, true), ([], 1, false, true),
    ] as [([SiteVerdict.Kind], Int, Bool, Bool)])
  func aGroupIsOnlineWithItsQuorum(
    _ kinds: [SiteVerdict.Kind], _ quorum: Int, _ isOnline: Bool, _ isDetermined: Bool
  ) {
    let found = summary(kinds, quorum)
    #expect(found.isOnline == isOnline && found.isDetermined == isDetermined && found.isKnown == isDetermined)
    #expect(found.availableCount == kinds.count { $0 == .available })
    let word = isOnline ? "online" : isDetermined ? "offline" : "undetermined"
    let count = found.availableCount
    #expect("\(found)" == "\(word): \(count) of \(kinds.count) sites are available, and \(quorum) are enough")
  }

  @Test func summariesOfAnotherQuorumAreOfAnotherState() {
    let kinds: [SiteVerdict.Kind] = [.available, .failed]
    #expect(summary(kinds, 1).isSameState(as: summary(kinds, 1)))
    #expect(summary(kinds, 1).isIdentical(to: summary(kinds, 1)))
    #expect(!summary(kinds, 1).isSameState(as: summary(kinds, 2)))
    #expect(!summary(kinds, 1).isIdentical(to: summary(kinds, 2)))
    #expect(!summary(kinds, 1).isSameState(as: summary(kinds.reversed(), 1)))
    #expect(!summary(kinds, 1).isIdentical(to: summary([.available], 1)))
  }
}
