// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dialtone
import DialtoneSites
import Testing

@testable import DialtoneCLI

/// Whole command lines, as far as they can be read without a network.
struct ParsingTests {
  @Test(arguments: [[], ["-4"], ["example.com"], ["--json", "--count", "1"], ["watch"], ["watch", "status"]])
  func watchesByDefault(arguments: [String]) throws {
    #expect(try DialtoneCommand.prepare(arguments).command is WatchCommand)
  }

  @Test func findsCommands() throws {
    #expect(try DialtoneCommand.prepare(["status"]).command is StatusCommand)
    #expect(try DialtoneCommand.prepare(["wait", "--any", "a", "b"]).command is WaitCommand)
    #expect(try DialtoneCommand.prepare(["interfaces", "--json"]).command is InterfacesCommand)
  }

  @Test func readsAllOptions() throws {
    let command = try DialtoneCommand.prepare([
      "example.com", "-6", "--json", "--interface", "wlan0", "--mark", "0x10", "--no-nat64", "--count", "3",
      "--timeout",
      "1.5", "--settling", "2s", "--udp", "--port", "53",
    ]).command
    let watch = try #require(command as? WatchCommand)
    let request = try watch.targetRequest(settling: #require(watch.settling))
    #expect(watch.options.json && watch.count == 3 && watch.timeout == .milliseconds(1500))
    var expected = ReachabilityConfiguration()
    expected.family = .ipv6
    expected.interface = "wlan0"
    expected.mark = 16
    expected.usesNAT64 = false
    expected.settling = .seconds(2)
    expected.transport = .udp
    expected.port = 53
    #expect(request.configuration == expected)
    #expect(request.targets.map(\.typed) == ["example.com"])
  }

  @Test func readsOptionsBeforeAndAfterTargets() throws {
    let status = try #require(
      try DialtoneCommand.prepare(["status", "-4", "a", "--timeout=3", "b"]).command as? StatusCommand)
    #expect(status.options.targets == ["a", "b"] && status.timeout == .seconds(3))
  }

  @Test(arguments: [["-t", "5m", "-i", "eth0"], ["-t5m", "-ieth0"], ["--timeout", "300", "--interface=eth0"]])
  func readsShortOptions(arguments: [String]) throws {
    for command in ["watch", "status", "wait"] {
      let parsed = try #require(try DialtoneCommand.prepare([command, "-4"] + arguments).command as? any TargetCommand)
      #expect(parsed.options.interface == "eth0" && parsed.families.onlyIPv4)
      let timeouts = [
        (parsed as? WatchCommand)?.timeout, (parsed as? StatusCommand)?.timeout, (parsed as? WaitCommand)?.timeout,
      ]
      #expect(timeouts.compactMap { $0 } == [.seconds(300)])
    }
    let check = try #require(
      try DialtoneCommand.prepare(["check", "http://a"] + arguments).command as? CheckCommand)
    #expect(check.interface == "eth0" && check.timeout == .seconds(300))
  }

  @Test func asksSitesAsOftenAsItIsTold() throws {
    let command = try DialtoneCommand.prepare(["watch", "--site", "--every", "90s", "http://a"]).command
    let watch = try #require(command as? WatchCommand)
    let configuration = try #require(try watch.siteRequest()).configuration
    #expect(configuration.interval == .seconds(90) && configuration.expensiveInterval == .seconds(90))
    let usual = try #require(try DialtoneCommand.prepare(["watch", "--site", "http://a"]).command as? WatchCommand)
    #expect(try usual.siteRequest()?.configuration == SiteMonitorConfiguration())
  }

  @Test(arguments: [["nosuch"], ["statsu"], ["elucidate"], ["example.com", "status"]])
  func refusesHelpOnWhatIsNoCommand(words: [String]) throws {
    let word = try #require(words.first)
    let error = try #require(#expect(throws: UsageError.self) { try DialtoneCommand.prepare(["help"] + words) })
    #expect(error.message.contains(word) && error.message.contains("status"), "\(error.message)")
  }

  @Test(arguments: [
    [], ["internet"], ["--json"], ["-q"], ["a", "--json", "b", "a"], ["--quiet", "--json", "::1"], ["help"], ["status"],
    ["--json", "-q", "--json", "--quiet"], ["A.example", "a.example:80", "http://b/"], (0..<300).map { "host\($0)" },
  ])
  func readsASimpleStatusAsArgumentParserDoes(arguments: [String]) throws {
    let line = ["status"] + arguments
    let parsed = try #require(try DialtoneCommand.prepare(line).command as? StatusCommand)
    #expect(try StatusRequest(simple: line) == parsed.request())
  }

  @Test(arguments: [[""], ["fe80::1"], ["a", "a b"], ["internet:443"], ["--json", "a:65536"]])
  func refusesASimpleStatusAsItRefusesAnyOther(arguments: [String]) throws {
    let line = ["status"] + arguments
    let error = #expect(throws: UsageError.self) { try DialtoneCommand.prepare(line) }
    let simple = #expect(throws: UsageError.self) { try StatusRequest(simple: line) }
    #expect(try #require(simple).description == #require(error).description)
  }

  @Test(arguments: [
    [], ["watch"], ["statsu"], ["--json", "status"], ["status", "--"], ["status", "-"], ["status", "-4"],
    ["status", "-qq"], ["status", "--json=1"], ["status", "--help"], ["status", "a", "-t", "5"],
  ])
  func leavesOtherLinesToArgumentParser(line: [String]) throws {
    #expect(try StatusRequest(simple: line) == nil)
  }

  /// The length of the command line does not matter.
  @Test func readsManyTargetsAmongOptions() throws {
    let names = (0..<3000).map { "host\($0)" }
    let line =
      ["-4", "status", "--timeout", "5"] + names.prefix(1000) + ["--json", "--interface", "eth0"]
      + names.dropFirst(1000) + ["--", "x"]
    let status = try #require(try DialtoneCommand.prepare(Array(line.dropFirst())).command as? StatusCommand)
    #expect(status.options.targets == names + ["x"])
    #expect(status.options.json && status.options.interface == "eth0" && status.timeout == .seconds(5))
  }

  @Test(arguments: [(["status", "--count", "3"], "--count"), (["chekc"], "check")])
  func saysWhatIsWrongWithALongCommandLine(beginning: [String], name: String) throws {
    let line = beginning + (0..<3000).map { "host\($0)" }
    let error = try #require(#expect(throws: (any Error).self) { try DialtoneCommand.prepare(line) })
    let message = (error as? UsageError)?.message ?? (error as? WholeMessage)?.description ?? ""
    #expect(message.contains(name) && !message.contains("\0"), "\(message.prefix(200))")
  }

  /// A command line, and what names the argument in the message. `ArgumentTests` has more of what a value may not be.
  static let refused: [(arguments: [String], name: String)] = [
    ([""], "TARGET"), (["a b"], "a b"), ([String(repeating: "a.", count: 127) + "a"], "TARGET"), (["a..b"], "a..b"),
    (["host:0"], "host:0"), (["host/path"], "host/path"), (["1.2.3"], "1.2.3"), (["fe80::1"], "fe80::1%eth0"),
    (["http://"], "http://"), (["watch", "127.0.0.1", "256.1.1.1"], "256.1.1.1"), (["--timeout", "-5"], "--timeout"),
    (["--timeout"], "--timeout"), (["--count", "0"], "--count"), (["--mark", "0x100000000"], "--mark"),
    (["--settling", "-1"], "--settling"), (["--interface", ""], "--interface"), (["--from", "10.0.0.1"], "--from"),
    (["--from", "10.0.0.1", "::1"], "--from"), (["--from", "x", "::1"], "--from"), (["-4", "-6"], "-4 and -6"),
    (["-4", "2001:db8::1"], "-4"), (["-6", "192.0.2.1"], "-6"), (["-7"], "-7"), (["--nonsense"], "--nonsense"),
    (["statsu"], "statsu"), (["--json", "status"], "status"), (["check"], "check"),
    (["local_network"], "local-network"), (["version"], "--version"), (["status", "--count", "1"], "--count"),
    (["interfaces", "eth/0"], "eth/0"), (["--port", "80", "host:80"], "--port"), (["--port", "0"], "--port"),
    (["help", "nosuch"], "nosuch"), (["wait", "-t", "1m30"], "-t"),
    (["wait", "--unreachable", "--not-cellular"], "--not-cellular"),
    (["wait", "--unreachable", "--accept-on-demand"], "--accept-on-demand"), (["-46"], "-4 and -6"),
    (["check", "example.com"], "example.com"), (["interfaces", "-4"], "-4"),
    (["--port", "80", "http://example.com/"], "--port"), (["internet:443"], "internet:443"),
    (["wait", "--every", "5s", "http://a"], "--every"),
    (["watch", "--site", "--every", "0.5", "http://a"], "--every"),
    (["watch", "--site", "--udp", "http://a"], "--udp"), (["watch", "--site", "--port", "1", "http://a"], "--port"),
  ]

  @Test(arguments: refused)
  func saysWhatIsWrong(arguments: [String], name: String) throws {
    let error = try #require(
      #expect(throws: (any Error).self) {
        _ = try StatusRequest(simple: arguments)?.run ?? DialtoneCommand.prepare(arguments).work
      })
    let (text, status) = DialtoneCommand.described(error)
    #expect(status.rawValue == ExitStatus.usage.rawValue)
    #expect(text.hasPrefix("Error: ") && text.contains(name), "\(text)")
    #expect(text.contains("--help"), "\(text)")
  }

  /// A command line, and how the line on standard error begins.
  static let wrong: [(arguments: [String], beginning: String)] = [
    (["check", "http://a", "http://b", "http://c "], "URL 3 (\"http://c \"): the URL contains a space"),
    (["check", "http://a", "http://b:0/"], "URL 2 (\"http://b:0/\"): what follows the host is no port"),
    (["check", "http://a", "http://a", "b"], "URL 3 (\"b\"): the URL has no scheme"),
    (["check", "b"], "URL (\"b\"): the URL has no scheme"),
    (["check", "http://a", "http://u:secret@b/"], "URL 2: the URL has user information"),
    (["check", "http://a", "u:secret@b"], "URL 2: the URL cannot be read, and is not repeated"),
    (["check", "http://a", ""], "URL 2: the URL is empty"),
    (["watch", "--site", "http://a", "b"], "URL 2 (\"b\"): "),
    (["check", "--user-agent", "", "http://a"], "--user-agent: the user agent has to be"),
    (["wait", "--site", "--user-agent", "a\u{E4}", "http://a"], "--user-agent: the user agent has to be"),
    (["watch", "--cert-expiry", "14d", "http://a"], "--cert-expiry"),
    (["check", "--method", "HEAD", "--expect", "body:x", "http://a"], "--method and --expect: HEAD asks for no body"),
    (["check", "-6", "http://a", "http://127.0.0.1/"], "-6: the host of \"http://127.0.0.1/\" is an IPv4 address"),
    (["check", "-4", "http://[::1]/"], "-4: the host of \"http://[::1]/\" is an IPv6 address"),
    (["check", "-i", "eth0", "http://[fe80::1%25eth1]/"], "--interface: the host of"),
    (["watch", "--site", "--port", "1", "http://a"], "--port and --site exclude each other"),
    (["wait", "--every", "5s", "http://a"], "--every is about sites; add --site"),
    (["check", "--expect", "body:" + String(repeating: "x", count: 65_537), "http://a"], "--expect: the text"),
    (["wait", "--site", "--routable", "http://a"], "--routable and --site exclude each other"),
    (["wait", "--site", "--dns", "a", "http://a"], "--dns and --site exclude each other"),
    (["wait", "--site", "--not-cellular", "http://a"], "--not-cellular and --site exclude each other"),
    (["wait", "--unreachable", "--dns", "a"], "--dns and --unreachable exclude each other"),
    (["wait", "--unreachable", "--routable"], "--routable and --unreachable exclude each other"),
    (["wait", "--unreachable", "--give-up-early"], "--give-up-early and --unreachable exclude each other"),
    (["wait", "--grace", "5s"], "--grace is about --give-up-early"),
    (["wait", "--dns", "a..b"], "--dns: "), (["wait", "--dns", "192.0.2.1"], "--dns: \"192.0.2.1\" is an address"),
  ]

  @Test(arguments: wrong)
  func namesWhatIsWrongWithOptions(arguments: [String], beginning: String) throws {
    let error = #expect(throws: UsageError.self) { try DialtoneCommand.prepare(arguments) }
    let message = try #require(error?.message)
    #expect(message.hasPrefix(beginning) && !message.contains("secret"), "\(message)")
  }

  @Test func namesAnUnknownOptionBeforeItsValue() throws {
    let error = try #require(
      #expect(throws: (any Error).self) { try DialtoneCommand.prepare(["status", "--count", "3"]) })
    #expect(DialtoneCommand.fullMessage(for: error).contains("--count"))
  }
}
