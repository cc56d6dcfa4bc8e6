// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dialtone
import DialtoneSites
import Foundation
import Testing

@testable import DialtoneCLI

struct ArgumentTests {
  @Test(arguments: [
    ("0.5", Duration.milliseconds(500)), (".5", .milliseconds(500)), ("10", .seconds(10)),
    ("2.50", .milliseconds(2500)), ("007", .seconds(7)),
    ("0.000000001", .nanoseconds(1)), ("1.9999999999", .nanoseconds(1_999_999_999)),
    ("999999999", .seconds(999_999_999)), ("30s", .seconds(30)), ("5m", .seconds(300)), ("5min", .seconds(300)),
    ("1h30m", .seconds(5400)), ("250ms", .milliseconds(250)), ("2d", .seconds(172_800)), ("1.5h", .seconds(5400)),
    ("0.5ms", .microseconds(500)), ("1d2h3m4s5ms", .milliseconds(93_784_005)), (".5m", .seconds(30)),
    ("0m5s", .seconds(5)), ("999999999999ms", .milliseconds(999_999_999_999)),
  ])
  func readsDurations(text: String, duration: Duration) throws {
    #expect(try DurationArgument.positive(text) == duration)
  }

  @Test(arguments: [
    "", "-1", "-0.5", "nan", "NaN", "inf", "infinity", "1e3", "0x10", "1,5", "1.", ".", ".x", "1.2.3", " 5", "5 ", "+5",
    "s", "m5", "5x", "5S", "5sec", "1m30", "30s5m", "5s5s", "1m2min", "5 s", "1h 30m", "1e3s", "0s", "0h0m", "1.s",
    "s5",
    "-5s", "11575d", "1000000000s", "99999999999999999999d", "1000000000000ms", "٣s", "5µs", "5m.",
    "1000000000", "9223372036854775807", "99999999999999999999", "1e300", "٣", "0", "0.0", "0.0000000001",
  ])
  func refusesWhatIsNoTimeout(text: String) {
    #expect(throws: ValidationError.self) { try DurationArgument.positive(text) }
  }

  @Test(arguments: ["-1", "x", "1m30", "30s5m", "0", "1000000000", "5 s"])
  func saysHowADurationIsWritten(text: String) throws {
    let error = try #require(#expect(throws: ValidationError.self) { try DurationArgument.positive(text) })
    #expect(error.message.contains("; give "), "\(error.message)")
  }

  @Test func takesZeroIfItIsAllowed() throws {
    #expect(try DurationArgument.any("0") == .zero)
    #expect(try DurationArgument.any("0s") == .zero)
    #expect(throws: ValidationError.self) { try DurationArgument.any("-1") }
  }

  /// RFC 9110, 15: three digits, of which those from 200 on are final.
  @Test(arguments: [
    ("answer", SiteExpectation.answer), ("success", .success), ("200", .statuses([200])),
    ("999,204", .statuses([204, 999])),
    ("body:a,b", .body(containing: "a,b")),
  ])
  func readsExpectations(text: String, expectation: SiteExpectation) throws {
    #expect(try ExpectationText.parse(text) == expectation)
  }

  @Test(arguments: ["", "body:", "199", "100,200", "1000", "20", "200,", ",200", "200 ", "٢٠٠", "+20", "answers"])
  func refusesWhatIsNoExpectation(text: String) {
    #expect(throws: ValidationError.self) { try ExpectationText.parse(text) }
  }

  /// A day begins here when another library says so.
  @Test(arguments: ["2026-11-24", "2024-02-29", "1999-12-31"])
  func readsDays(text: String) throws {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = "yyyy-MM-dd"
    let begin = try #require(formatter.date(from: text)).timeIntervalSince1970
    #expect(try JournalTime.parse(text) == .at(Int64(begin) * 1_000_000))
  }

  /// Without a zone a time is local, when another library says so.
  @Test(arguments: ["2026-11-24 12:00", "2026-07-24 12:00:07", "2026-07-24T00:30", "1969-12-31T23:59:59"])
  func readsLocalTimes(text: String) throws {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = text.count == 16 ? "yyyy-MM-dd HH:mm" : "yyyy-MM-dd HH:mm:ss"
    let date = try #require(formatter.date(from: text.replacing("T", with: " ")))
    #expect(try JournalTime.parse(text) == .at(Int64(date.timeIntervalSince1970) * 1_000_000))
  }

  /// RFC 3339, also with a blank and without seconds.
  @Test(arguments: [
    "2026-11-24 13:30+01:30", "2026-11-24T12:00Z", "2026-11-24T04:00:00-08:00", "2026-11-24 12:00:00 Z",
  ])
  func readsZones(text: String) throws {
    let date = try Date("2026-11-24T12:00:00Z", strategy: .iso8601)
    #expect(try JournalTime.parse(text) == .at(Int64(date.timeIntervalSince1970) * 1_000_000))
  }

  @Test func readsTimesOfAJournal() throws {
    let noon = try JournalTime.parse("2026-11-24T12:00:00Z")
    let date = try Date("2026-11-24T12:00:00Z", strategy: .iso8601)
    #expect(noon.microseconds(before: 5) == Int64(date.timeIntervalSince1970) * 1_000_000)
    #expect(try JournalTime.parse("1d").microseconds(before: 100_000_000_000) == 13_600_000_000)
    #expect(try JournalTime.parse("@1795521600") == noon)
    for text in [
      "", "0", "x", "2026-13-01", "2026-11-2", "2026-11-24 ", "24.11.2026", "2026-11-24 12", "2026-11-24 25:00",
      "2026-11-24 12:00  Z", "2026-11-24T12:00+1", "@", "@x", "@-1", "1@5",
    ] {
      #expect(throws: ValidationError.self, "\(text)") { try JournalTime.parse(text) }
    }
  }

  @Test(arguments: [("1", 1), ("42", 42), ("1000000000", 1_000_000_000)])
  func readsLineCounts(text: String, count: Int) throws {
    #expect(try LineCount.parse(text) == count)
  }

  @Test(arguments: [
    "", "0", "-1", "1.5", "x", "0x1", "+1", "1000000001", "99999999999999999999", "-99999999999999999999",
  ])
  func refusesWhatIsNoLineCount(text: String) {
    #expect(throws: ValidationError.self) { try LineCount.parse(text) }
  }

  @Test(arguments: [
    ("0", UInt32(0)), ("51820", 51820), ("0xca6c", 0xCA6C), ("0XFF", 255), ("4294967295", .max), ("0xffffffff", .max),
  ])
  func readsMarks(text: String, mark: UInt32) throws {
    #expect(try FirewallMark.parse(text) == mark)
  }

  @Test(arguments: ["", "-1", "0x", "zz", "1.0", "+1", "4294967296", "0x100000000", "0xg", "1/0xff", "٣"])
  func refusesWhatIsNoMark(text: String) {
    #expect(throws: ValidationError.self) { try FirewallMark.parse(text) }
  }

  @Test(arguments: ["010", "00", "051820"])
  func refusesALeadingZeroOfAMark(text: String) throws {
    let error = try #require(#expect(throws: ValidationError.self) { try FirewallMark.parse(text) })
    #expect(error.message.contains("zero"))
  }

  @Test(arguments: [
    "eth0", "a", "abcdefghijklmno", String(repeating: "a", count: 127), "wlp2s0.100", "é", "a\u{1B}[31m", "a\u{7F}",
  ])
  func takesInterfaceNames(text: String) throws {
    #expect(try InterfaceName.parse(text) == text)
  }

  @Test(arguments: [
    // ALTIFNAMSIZ of linux/if.h is 128, with the NUL that ends a name.
    "", String(repeating: "a", count: 128), "a b", "a/b", "a:b", "a\nb", "a\0b", "a\tb", "a\u{C}b", "à", ".", "..",
    String(repeating: "é", count: 64),
  ])
  func refusesNamesThatNoInterfaceCanHave(text: String) {
    #expect(throws: ValidationError.self) { try InterfaceName.parse(text) }
  }

  @Test(arguments: [("1", UInt16(1)), ("443", 443), ("65535", .max), ("0443", 443)])
  func readsPorts(text: String, port: UInt16) throws {
    #expect(try PortArgument.parse(text) == port)
  }

  @Test(arguments: ["", "0", "65536", "-1", "+1", "1.0", "http", "0x50", "٣", "80 "])
  func refusesWhatIsNoPort(text: String) {
    #expect(throws: ValidationError.self) { try PortArgument.parse(text) }
  }

  @Test func readsSourceAddresses() throws {
    #expect(try SourceAddress.parse("192.0.2.1") == IPAddress("192.0.2.1"))
    #expect(try SourceAddress.parse("fe80::1%eth0") == IPAddress("fe80::1%eth0"))
  }

  @Test(arguments: ["", "eth0", "example.com", "0.0.0.0", "::", "224.0.0.1", "ff02::1%eth0", "fe80::1", "1.2.3.4/24"])
  func refusesWhatIsNoSource(text: String) {
    #expect(throws: ValidationError.self) { try SourceAddress.parse(text) }
  }

  @Test(arguments: [
    ("statsu", "status"), ("stats", "status"), ("wacth", "watch"), ("interface", "interfaces"), ("Wait", "wait"),
    ("waitt", "wait"), ("stat漢s", "status"),
  ])
  func recognisesMistypedCommands(text: String, command: String) {
    #expect(CommandWord.isNear(text, command))
    #expect(throws: ValidationError.self) { try CommandWord.check(implicitTargets: [text]) }
  }

  @Test(arguments: [
    ("local_network", "local-network"), ("localnetwork", "local-network"), ("local network", "local-network"),
    ("Local_Network", "local-network"), ("intenret", "internet"), ("version", "--version"),
  ])
  func recognisesMistypedWords(text: String, word: String) throws {
    let error = try #require(
      #expect(throws: ValidationError.self) { try CommandWord.check(implicitTargets: ["example.com", text]) })
    #expect(error.message.contains(word))
    let remedy = text == "version" ? "write: dialtone watch \(text)" : "write: \(text)."
    #expect(error.message.contains(remedy) == (text != "local network"))
  }

  @Test func recognisesMistypedWordsBehindACommand() throws {
    for command in ["watch", "status", "wait", "record", "export", "explain"] {
      let arguments = [command, "lcoal-network"]
      let error = try #require(#expect(throws: UsageError.self) { try DialtoneCommand.prepare(arguments) })
      #expect(error.description.contains("did you mean local-network?"))
      _ = try DialtoneCommand.prepare([command, "lcoal-network."])
    }
    #expect(throws: UsageError.self) { try StatusRequest(simple: ["status", "lcoal-network"]) }
  }

  @Test func anExecWithoutAProgramIsAMistake() throws {
    for arguments in [["--exec"], ["watch", "internet", "--exec"]] {
      let error = try #require(#expect(throws: UsageError.self) { try DialtoneCommand.prepare(arguments) })
      #expect(error.description.contains("--exec: no program"))
    }
    _ = try DialtoneCommand.prepare(["watch", "--exec", "echo", "--exec"])
  }

  @Test(arguments: ["intranet", "Internet", "internet.", "local-network.", "network"])
  func takesHostsThatResembleWordsAsHosts(text: String) throws {
    try CommandWord.check(implicitTargets: [text])
  }

  @Test func refusesWhatIsNotUTF8() throws {
    #expect(try unsafe TypedArguments.text("é漢\u{FFFD}", position: 1) == "é漢\u{FFFD}")
    let bytes: [CChar] = [97, -1, -2, 0]
    let error = try #require(
      #expect(throws: UsageError.self) { try unsafe TypedArguments.text(bytes, position: 2) })
    #expect(error.description.hasPrefix("Error: argument 2, ") && error.description.contains("'dialtone --help'"))
  }

  @Test(arguments: ["router", "localhost", "example.com", "status.example", "internet", "local-network", "a", "tstaus"])
  func takesOtherTextAsHosts(text: String) throws {
    try CommandWord.check(implicitTargets: [text])
  }

  @Test(arguments: ["status", "watch", "check", "explain", "help"])
  func doesNotWatchAHostNamedAsACommandUnasked(text: String) {
    #expect(throws: ValidationError.self) { try CommandWord.check(implicitTargets: ["example.com", text]) }
  }

  @Test(arguments: [
    ("the value 'a@b' is bad", ["--x=a@b"], "the value '…' is bad"), ("no '--x=a@b'", ["--x=a@b"], "no '…'"),
    ("no 'a=b@c=d'", ["a=b@c=d"], "no '…'"), ("no b@c", ["a"], "no b@c"), ("no a", ["a", "b"], "no a"),
  ])
  func leavesOutArgumentsThatMayContainASecret(_ message: String, _ arguments: [String], _ shown: String) {
    #expect(TypedArguments.withoutSecrets(message, arguments) == shown)
  }
}
