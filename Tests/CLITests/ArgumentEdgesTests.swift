// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dialtone
import DialtoneSites
import Testing

@testable import DialtoneCLI

/// What is just taken, and what is just refused, and in which words.
struct ArgumentEdgesTests {
  private func message(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "no error"
    } catch {
      return (error as? ValidationError)?.message ?? (error as? UsageError)?.message ?? "\(error)"
    }
  }

  /// Of the control characters, white space alone is refused: 0x09 to 0x0D (lib/ctype.c of the kernel).
  @Test func anInterfaceHasNoWhiteSpaceInItsName() {
    for byte: UInt8 in 1..<0x7F {
      let name = "a\(Character(Unicode.Scalar(byte)))b"
      let isRefused = (0x09...0x0D).contains(byte) || [0x20, 0x2F, 0x3A].contains(byte)
      #expect((message { _ = try InterfaceName.parse(name) } == "no error") != isRefused, "\(byte)")
    }
  }

  /// A `#` begins a comment behind a blank, whatever follows it.
  @Test(arguments: [
    ("a #one\n", ["a"]), ("a\t#one\n", ["a"]), ("a# one\n", ["a# one"]), ("#one\n#\nb", ["b"]), ("a #b #c", ["a"]),
    ("a#b #c", ["a#b"]), ("\ta\r\n\tb c \n", ["a", "b c"]),
  ])
  func aCommentFollowsABlank(text: String, entries: [String]) throws {
    #expect(try ListFile.entries(of: Array(text.utf8), list: "l").map(\.text) == entries)
  }

  @Test(arguments: ["", "s", "ms", "min", "d", ".", "..", "m5", "1.2.3", "5s."])
  func aSpanOfTimeHasANumber(text: String) {
    #expect(message { _ = try DurationArgument.any(text) }.hasPrefix("that is not a span of time; "))
  }

  @Test(arguments: [
    ("", "that is not a whole number; "), ("x", "that is not a whole number; "),
    ("1.5", "that is not a whole number; "),
    ("-", "that is not a whole number; "), ("-x", "that is not a whole number; "),
    ("0", "there is no such number of lines; "), ("-1", "there is no such number of lines; "),
    ("1000000001", "that is too much; "), ("99999999999999999999", "that is too much; "),
  ])
  func saysWhatIsWrongWithANumberOfLines(text: String, beginning: String) {
    #expect(message { _ = try LineCount.parse(text) }.hasPrefix(beginning))
  }

  @Test(arguments: [
    ("zz", "that is not a mark; "), ("0xg", "that is not a mark; "), ("", "that is not a mark; "),
    ("4294967296", "a mark has 32 bits; "), ("0x100000000", "a mark has 32 bits; "),
    ("00", "a number that begins with a zero "),
  ])
  func saysWhatIsWrongWithAMark(text: String, beginning: String) {
    #expect(message { _ = try FirewallMark.parse(text) }.hasPrefix(beginning))
  }

  /// Leading zeros of hexadecimal digits are not octal.
  @Test func takesLeadingZerosOfHexadecimalDigits() throws { #expect(try FirewallMark.parse("0x0010") == 16) }

  /// Whatever follows the port of a link-local address is no part of it.
  @Test(arguments: ["[fe80::1]:443]:", "[fe80::1]:443]:1", "[fe80::1]:", "[fe80::1]", "[fe80::1]443", "[fe80::1]:443 "])
  func takesALinkLocalAddressWithAPortAlone(text: String) {
    #expect(message { _ = try WatchedTarget(text, interface: "eth0") }.hasPrefix("TARGET: "))
  }

  /// Only what an option has changed is its fault.
  @Test func blamesTheProxyForNothingElse() {
    var configuration = SiteMonitorConfiguration()
    configuration.interval = .zero
    #expect(
      message { _ = try SiteRequest(["http://a/"], configuration: configuration) }.hasPrefix("intervals and delays "))
  }

  /// As the help of both commands says.
  @Test func tellsOfTheLastDaysByDefault() {
    for (command, days) in [(["outages"], 7), (["report", "-o", "-"], 30)] {
      let problem = message { _ = try DialtoneCommand.prepare(command + ["--until", "2020-01-01"]) }
      #expect(problem == "--until is before --since, which is \(days) d ago by default; give --since, too")
    }
    #expect(
      message { _ = try DialtoneCommand.prepare(["report", "--output", ""]) }.hasPrefix("--output: the name is "))
    #expect(
      message { _ = try DialtoneCommand.prepare(["explain", "a", "b"]) }
        == "TARGET: 2 were given; one at a time can be explained")
  }
}
