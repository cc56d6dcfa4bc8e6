// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dialtone
import DialtoneSites
import Testing

@testable import DialtoneCLI

/// What each option does, and what is the case without it.
struct OptionTests {
  private func parsed<Command>(_ arguments: String..., as type: Command.Type = Command.self) throws -> Command {
    try #require(try DialtoneCommand.prepare(arguments).command as? Command)
  }

  private func message(_ body: () throws -> Void) throws -> String {
    do {
      try body()
      return "no error"
    } catch let error as ValidationError {
      return error.message
    } catch let error as UsageError {
      return error.message
    } catch let error as InputError {
      return error.description
    }
  }

  // MARK: Defaults

  @Test func wantsNothingThatIsNotAsked() throws {
    let watch: WatchCommand = try parsed("watch")
    #expect(!watch.notify && watch.count == nil && watch.timeout == nil && watch.settling == nil)
    #expect(!watch.options.json && !watch.options.udp && !watch.options.noNAT64 && !watch.site.isWanted)
    #expect(watch.families.family == nil && watch.site.given == nil && watch.siteOptions.given == nil)
    #expect(try watch.targetRequest().configuration == ReachabilityConfiguration())
    #expect(try watch.siteRequest() == nil && watch.hookOptions.hook() == nil)
    let wait: WaitCommand = try parsed("wait")
    #expect(!wait.any && !wait.unreachable && !wait.notCellular && !wait.acceptOnDemand && !wait.routable)
    #expect(!wait.giveUpEarly && wait.grace == nil && wait.questions.isEmpty && !wait.quiet.isQuiet)
    let status: StatusCommand = try parsed("status", "-t", "5")
    #expect(!status.quiet.isQuiet && status.timeout == .seconds(5))
    let check: CheckCommand = try parsed("check", "http://a/")
    #expect(!check.json && !check.quiet.isQuiet && check.concurrency == nil && check.site.given == nil)
    let explain: ExplainCommand = try parsed("explain")
    #expect(!explain.json && !explain.verbose && !explain.noProbe && !explain.quiet.isQuiet)
    let record: RecordCommand = try parsed("record", "--directory", "a")
    #expect(!record.beyond && record.megabytes == nil && record.every == nil && record.export == nil)
    let outages: OutagesCommand = try parsed("outages")
    #expect(!outages.json && !outages.openmetrics && outages.since == nil && outages.options.until == nil)
    let interfaces: InterfacesCommand = try parsed("interfaces")
    #expect(!interfaces.all && !interfaces.json && interfaces.names.isEmpty)
  }

  @Test func takesEachFlag() throws {
    let wait: WaitCommand = try parsed(
      "wait", "--any", "--accept-on-demand", "--routable", "--give-up-early", "--grace", "0", "--dns", "a", "-q",
      "--not-cellular", "--dns", "b")
    #expect(wait.any && !wait.unreachable && wait.notCellular && wait.acceptOnDemand && wait.routable)
    #expect(wait.giveUpEarly && wait.grace == .zero && wait.questions == ["a", "b"] && wait.quiet.isQuiet)
    let lost: WaitCommand = try parsed("wait", "--unreachable")
    #expect(lost.unreachable)
    let watch: WatchCommand = try parsed("watch", "--notify", "-6")
    #expect(watch.notify && watch.families.family == .ipv6)
    let check: CheckCommand = try parsed("check", "--json", "-q", "--concurrency", "3", "-4", "http://a/")
    #expect(check.json && check.quiet.isQuiet && check.concurrency == 3 && check.families.family == .ipv4)
    let explain: ExplainCommand = try parsed("explain", "-v", "--json", "--no-probe", "-q", "a")
    #expect(explain.json && explain.verbose && explain.noProbe && explain.quiet.isQuiet && explain.typed == ["a"])
    let record: RecordCommand = try parsed(
      "record", "--directory", "a", "--beyond", "--max-size", "7", "--every", "100ms")
    #expect(record.beyond && record.megabytes == 7 && record.every == .milliseconds(100))
    let outages: OutagesCommand = try parsed("outages", "--openmetrics")
    #expect(outages.openmetrics && !outages.json)
    let interfaces: InterfacesCommand = try parsed("interfaces", "-a", "--json", "eth0")
    #expect(interfaces.all && interfaces.json && interfaces.names == ["eth0"])
  }

  /// What would be refused beside another option is fine by itself.
  @Test(arguments: [
    ["--not-cellular"], ["--unreachable"], ["--unreachable", "--any"], ["--routable", "--dns", "a"],
    ["--give-up-early"], ["--give-up-early", "--grace", "1s"], ["--accept-on-demand", "--not-cellular"],
    ["--site", "http://a/"],
    ["--site", "--unreachable", "http://a/"], ["--site", "--accept-on-demand", "http://a/"],
    ["--site", "--give-up-early", "http://a/"],
  ])
  func waitTakesWhatExcludesNothing(options: [String]) throws {
    #expect(try message { _ = try DialtoneCommand.prepare(["wait"] + options) } == "no error")
  }

  @Test(arguments: [
    (["--expect", "200"], "--expect"), (["--method", "GET"], "--method"), (["--public-address"], "--public-address"),
    (["--use-proxy"], "--use-proxy"), (["--user-agent", "a"], "--user-agent"),
    (["--cert-expiry", "1d"], "--cert-expiry"),
    (["--every", "5s"], "--every"), (["--every", "5s", "--use-proxy", "--method", "GET"], "--method"),
  ])
  func asksForSiteWithWhatIsAboutSites(options: [String], name: String) throws {
    for command in ["watch", "wait"] {
      let problem = try message { _ = try DialtoneCommand.prepare([command, "http://a/"] + options) }
      #expect(problem == "\(name) is about sites; add --site, or leave it out")
    }
  }

  @Test(arguments: [
    (["--mark", "1"], "--mark"), (["--from", "192.0.2.1"], "--from"), (["--port", "1"], "--port"), (["--udp"], "--udp"),
    (["--no-nat64"], "--no-nat64"), (["--no-nat64", "--udp", "--from", "192.0.2.1"], "--from"),
  ])
  func asksSitesWithoutWhatIsAboutPackets(options: [String], name: String) throws {
    let problem = try message { _ = try DialtoneCommand.prepare(["watch", "--site", "http://a/"] + options) }
    #expect(problem == "\(name) and --site exclude each other; leave one of them out")
  }

  // MARK: Sites

  @Test func readsSiteOptions() throws {
    let options = try SiteOptions.parse([
      "--expect", "200,204", "--method", "get", "--public-address", "--use-proxy", "--user-agent", "a/1",
      "--cert-expiry", "14d",
    ])
    var expected = SiteCheckConfiguration()
    expected.expectation = .statuses([200, 204])
    expected.method = .get
    expected.requiresPublicAddress = true
    expected.proxy = .environment
    expected.userAgent = "a/1"
    expected.minimumCertificateLifetime = .seconds(14 * 86_400)
    expected.timeout = .seconds(3)
    expected.interface = "eth0"
    expected.family = .ipv4
    #expect(try options.configuration(timeout: .seconds(3), interface: "eth0", family: .ipv4) == expected)
    let none = try SiteOptions.parse([])
    #expect(try none.configuration(timeout: nil, interface: nil, family: nil) == SiteCheckConfiguration())
  }

  /// Both methods, however they are written (RFC 9110, 9.3 has them in capitals).
  @Test func readsMethods() {
    #expect(SiteMethod(argument: "HEAD")?.method == .head && SiteMethod(argument: "head")?.method == .head)
    #expect(SiteMethod(argument: "Get")?.method == .get && SiteMethod(argument: "POST") == nil)
  }

  @Test(arguments: [("1s", 1), ("2s", 2), ("10m", 600)])
  func asksAsOftenAsItIsTold(every: String, interval: Int) throws {
    let options = try WatchedSiteOptions.parse(["--site", "--every", every])
    let configuration = options.configuration(check: SiteCheckConfiguration())
    #expect(configuration.interval == .seconds(interval) && configuration.expensiveInterval == .seconds(interval))
  }

  @Test func asksEachSiteOnce() throws {
    #expect(try message { _ = try SiteRequest([], configuration: .init()) }.hasPrefix("URL: none was given"))
    let request = try SiteRequest(["http://b/", "http://a/", "http://b/"], configuration: .init())
    #expect(request.urls.map(\.text) == ["http://b/", "http://a/"])
  }

  // MARK: Programs for changes

  @Test func readsHooks() throws {
    let usual = try #require(try HookOptions.parse(["--exec", "/bin/sh", "-c", "--json"]).hook())
    #expect(usual.program == "/bin/sh" && usual.arguments == ["-c", "--json"] && usual.timeout == .seconds(60))
    let short = try HookOptions.parse(["--exec-on", "unreachable", "--exec-timeout", "5s", "--exec", "/bin/sh"])
    #expect(try short.hook()?.timeout == .seconds(5) && short.trigger == .unreachable)
    #expect(HookOptions.settling == .seconds(1), "as the help says")
    for (arguments, beginning) in [
      (["--exec-on", "change"], "--exec-on is about --exec; "),
      (["--exec-timeout", "5s"], "--exec-timeout is about --exec; "),
      (["--exec", "no-such-program"], "--exec: there is no program \"no-such-program\" in PATH"),
      (["--exec", "/bin"], "--exec: \"/bin\" is not a program that can be run"),
    ] {
      let problem = try message { _ = try HookOptions.parse(arguments).hook() }
      #expect(problem.hasPrefix(beginning), "\(problem)")
    }
  }

  // MARK: Values

  @Test func readsNumbersOfChecks() throws {
    #expect(try Concurrency.parse("1") == 1 && Concurrency.parse("256") == 256)
    for text in ["0", "257", "-1", "+1", "", "x", "1.0"] {
      #expect(throws: ValidationError.self, "\(text)") { try Concurrency.parse(text) }
    }
    #expect(CheckCommand.helpMessage(columns: 200).contains("(default: 64)"))
  }

  @Test func readsSpansOfAtLeastSoLong() throws {
    #expect(try DurationArgument.atLeast(.seconds(1), "1s") == .seconds(1))
    let problem = try message { _ = try DurationArgument.atLeast(.seconds(1), "999ms") }
    #expect(problem == "that is too short; give 1.0 s or more")
    #expect(try DurationArgument.any("1.123456789123") == .nanoseconds(1_123_456_789))
  }

  /// Only of an IPv6 address the link has to be known (RFC 4007).
  @Test func takesALinkLocalSource() throws {
    #expect(try SourceAddress.parse("169.254.0.7") == IPAddress("169.254.0.7"))
    #expect(try message { _ = try SourceAddress.parse("fe80::7") }.hasSuffix("write fe80::7%eth0"))
    #expect(try message { _ = try SourceAddress.parse("0.0.0.0") }.hasPrefix("nothing can be sent from"))
  }

  @Test(arguments: [("17", 17), ("0x11", 17), ("0X1F", 31), ("19", 19), ("0", 0), ("0x0", 0)])
  func readsMarksInTheirBase(text: String, mark: UInt32) throws {
    #expect(try FirewallMark.parse(text) == mark)
  }

  // MARK: Targets

  @Test func knowsSites() throws {
    #expect(try WatchedTarget.isSite("http://a") && WatchedTarget.isSite("HTTPS://a"))
    #expect(try !WatchedTarget.isSite("a") && !WatchedTarget.isSite("a:80") && !WatchedTarget.isSite("http:/a"))
    #expect(try message { _ = try WatchedTarget.isSite("ftp://a") }.hasSuffix("such as example.com:21"))
  }

  @Test(arguments: [
    ("a", true), ("a.example", true), ("internet.", true), ("a:80", false), ("http://a/", false), ("192.0.2.7", false),
    ("internet", false), ("local-network", false),
  ])
  func knowsPlainNames(text: String, isPlain: Bool) throws {
    let target = try WatchedTarget(text)
    #expect(target.isPlainName == isPlain && target.takesAnyInterface == (text == "local-network"))
  }

  @Test func saysThatWordsHaveNoPort() throws {
    let internet = try message { _ = try WatchedTarget("Internet:443") }
    #expect(internet.contains("write internet --port 443; for the host of that name, write internet.:443"))
    let local = try message { _ = try WatchedTarget("local-network:1") }
    #expect(local.contains("the local network has no port; write local-network; "))
  }

  /// An interface is the zone of an IPv6 address alone, and of no other address.
  @Test func completesALinkLocalAddress() throws {
    #expect(try WatchedTarget("[fe80::1]:443", interface: "eth0").target.port == 443)
    #expect(try WatchedTarget("[2001:db8::1]:443", interface: "eth0").target == .host("[2001:db8::1]:443"))
    for text in ["[169.254.0.1]:443", "fe80::1]:443", "[fe80::1]:0", "[fe80::1]:x"] {
      #expect(throws: ValidationError.self, "\(text)") { try WatchedTarget(text, interface: "eth0") }
    }
    #expect(throws: ValidationError.self) { try WatchedTarget("[fe80::1]:443") }
  }

  /// What does not go together is told by its families.
  @Test func tellsFamiliesApart() throws {
    var four = ReachabilityConfiguration()
    four.family = .ipv4
    var six = ReachabilityConfiguration()
    six.family = .ipv6
    let source4 = try #require(IPAddress("192.0.2.1"))
    let source6 = try #require(IPAddress("2001:db8::1"))
    func problem(_ text: String, _ source: IPAddress?, _ configuration: ReachabilityConfiguration = .init()) throws
      -> String
    {
      try message { _ = try TargetRequest([text], source: source, configuration: configuration) }
    }
    #expect(
      try problem("2001:db8::7", nil, four)
        == "-4: the target \"2001:db8::7\" is an IPv6 address; leave the option out, or give an IPv4 address")
    #expect(
      try problem("192.0.2.7", nil, six)
        == "-6: the target \"192.0.2.7\" is an IPv4 address; leave the option out, or give an IPv6 address")
    #expect(try problem("192.0.2.7", nil, four) == "no error" && problem("192.0.2.7", source4, four) == "no error")
    #expect(
      try problem("a", source6, four)
        == "--from: 2001:db8::1 is an IPv6 address, and -4 was given; leave one of them out")
    #expect(
      try problem("a", source4, six) == "--from: 192.0.2.1 is an IPv4 address, and -6 was given; leave one of them out")
    for (source, example) in [(source4, "192.0.2.1"), (source6, "2001:db8::1")] {
      let words = "\"a\" is not an IP address, and --from needs one; give an address such as \(example)"
      #expect(try problem("a", source) == "--from: the target \(words)")
    }
    #expect(
      try problem("2001:db8::7", source4)
        == "--from: the target \"2001:db8::7\" is an IPv6 address, and 192.0.2.1 is not; give an address of the same "
        + "family")
  }

  /// A zone may be an index (RFC 4007, 11.2), which is not compared with a name.
  @Test(arguments: [("eth0", true), ("2", true), ("eth1", false)])
  func aZoneIsTheInterface(zone: String, isFine: Bool) throws {
    var configuration = ReachabilityConfiguration()
    configuration.interface = "eth0"
    let problem = try message { _ = try TargetRequest(["fe80::1%\(zone)"], configuration: configuration) }
    #expect((problem == "no error") == isFine, "\(problem)")
    if !isFine { #expect(problem.hasSuffix("has the zone eth1, and the interface is eth0; leave one of them out")) }
  }

  /// As the help of each command says.
  @Test func endsByItselfUnlessItIsToldTo() throws {
    let status = StatusRequest(targets: try TargetRequest([]))
    #expect(status.timeout == .seconds(10) && !status.printsJSON && !status.isQuiet)
    let options = RunOptions()
    #expect(options.timeout == nil && !options.endsWithReader && !options.isQuiet && options.explainableCount == 0)
    let simple = try #require(try StatusRequest(simple: ["status", "a", "-q"]))
    #expect(simple.isQuiet && !simple.printsJSON && simple.targets.targets.map(\.typed) == ["a"])
    let json = try #require(try StatusRequest(simple: ["status", "--json"]))
    #expect(!json.isQuiet && json.printsJSON && json.targets.targets == [.usual])
  }
}
