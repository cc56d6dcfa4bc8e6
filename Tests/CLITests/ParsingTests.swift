// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dialtone
import Testing

@testable import DialtoneCLI

/// Whole command lines, as far as they can be read without a network.
struct ParsingTests {
  @Test(arguments: [[], ["-4"], ["example.com"], ["--json", "--count", "1"], ["watch"], ["watch", "status"]])
  func watchesByDefault(arguments: [String]) throws {
    #expect(try DialtoneCommand.parse(arguments) is WatchCommand)
  }

  @Test func findsCommands() throws {
    #expect(try DialtoneCommand.parse(["status"]) is StatusCommand)
    #expect(try DialtoneCommand.parse(["wait", "--any", "a", "b"]) is WaitCommand)
    #expect(try DialtoneCommand.parse(["interfaces", "--json"]) is InterfacesCommand)
  }

  @Test func readsAllOptions() throws {
    let command = try DialtoneCommand.parse([
      "example.com", "-6", "--json", "--interface", "wlan0", "--mark", "0x10", "--no-nat64", "--count", "3",
      "--timeout",
      "1.5", "--settling", "2",
    ])
    let watch = try #require(command as? WatchCommand)
    let request = try watch.request()
    #expect(watch.options.json && watch.count == 3 && watch.timeout == .milliseconds(1500))
    var expected = ReachabilityConfiguration()
    expected.family = .ipv6
    expected.interface = "wlan0"
    expected.mark = 16
    expected.nat64 = .off
    expected.settling = .seconds(2)
    #expect(request.configuration == expected)
    #expect(request.targets.map(\.typed) == ["example.com"])
  }

  @Test func readsOptionsBeforeAndAfterTargets() throws {
    let status = try #require(DialtoneCommand.parse(["status", "-4", "a", "--timeout=3", "b"]) as? StatusCommand)
    #expect(status.options.targets == ["a", "b"] && status.timeout == .seconds(3))
  }

  @Test(arguments: [
    ["--timeout", "-5"], ["--timeout=nan"], ["--timeout"], ["--count", "0"], ["--mark", "-1"], ["--interface", ""],
    ["--from", "x", "192.0.2.1"], ["--from", "192.0.2.1"], ["-4", "-6"], ["-46"], ["-4", "::1"], ["-7"], ["--nonsense"],
    ["statsu"], ["--json", "status"], ["check"], ["check", "example.com"], ["status", "--count", "1"],
    ["status", "--settling", "1"], ["interfaces", "eth0"], ["interfaces", "-4"],
    ["wait", "--unreachable", "--not-cellular"],
    ["wait", "a b"], ["watch", "--settling", "-1"], ["status", "fe80::1"],
  ])
  func refuses(arguments: [String]) {
    let error = #expect(throws: (any Error).self) { try DialtoneCommand.parse(arguments) }
    let isUsage = error is UsageError || error.map { DialtoneCommand.exitCode(for: $0) } == .validationFailure
    #expect(isUsage)
    #expect(ExitCode.validationFailure.rawValue == ExitStatus.usage.rawValue)
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
    (["check", "--expect", "body:" + String(repeating: "x", count: 65_537), "http://a"], "--expect: the text"),
  ]

  @Test(arguments: wrong)
  func namesWhatIsWrongWithSites(arguments: [String], beginning: String) throws {
    let error = #expect(throws: UsageError.self) { try DialtoneCommand.parse(arguments) }
    let message = try #require(error?.message)
    #expect(message.hasPrefix(beginning) && !message.contains("secret"), "\(message)")
  }

  @Test func namesTheOptionThatThereIsNotBeforeWhatIsBesideIt() throws {
    let error = try #require(
      #expect(throws: (any Error).self) { try DialtoneCommand.parse(["status", "--count", "3"]) })
    #expect(DialtoneCommand.fullMessage(for: error).contains("--count"))
  }
}
