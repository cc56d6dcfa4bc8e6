// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// The words of the error: they say what is wrong and what to write instead, and never repeat a secret.
struct HostTargetErrorTests {
  private static func message(_ text: String) throws -> String {
    let error = #expect(throws: ReachabilityError.self) { try ReachabilityTarget.host(text) }
    return try #require(error).message
  }

  @Test(arguments: [
    ("", "empty"), ("a b.example", "a space"), ("a\0b", "a NUL character"), ("a\nb", "a line break"), ("a\tb", "a tab"),
    ("example.com:0", "1 to 65535"), ("example.com:65536", "1 to 65535"),
    ("example.com/path", "give the host alone: example.com"),
    ("user@example.com", "give the host alone: example.com"), ("fe80::1", "write fe80::1%eth0"),
    ("0.0.0.0", "ask for the target internet"), ("1.2.3", "four numbers"),
    ("https://2001:db8::1/", "https://[2001:db8::1]/"),
    ("https://[2001:db8::1", "closing bracket"), ("https://example.com:99999/", "1 to 65535"),
    ("192.0.2.1%eth0", "an IPv4 address has no zone"), ("2001:db8::1%eth0", "only a link-local address has a zone"),
    ("fe80::1%", "the zone after the % is empty"), ("fe80::1%0123456789abcdef", "1 to 15 bytes"), ("a..b", "two dots"),
    ("-a.example", "hyphen"), ("a!b", "\"!\""), ("://example.com", "https://example.com/"),
    ("https:///x", "https://example.com/"), ("１０.１", "digits of ASCII"),
    // The text has more than the host.
    ("[::1]:99999", "is not a port; give a number from 1 to 65535"),
    ("[2001:db8::1]/x", "has a path; give the host alone: 2001:db8::1"), ("[::1]x", "behind the bracket"),
    ("[::1", "has no closing bracket"), ("::1]", "has no opening bracket"), ("::1]:80", "has no opening bracket"),
    ("[fe80::1]:80", "needs its interface as a zone"), ("1.2.3.4:http", "no port behind it"),
    ("example.com:", "no port behind it"), ("example.com:80/x?y", "write a URL with its scheme"),
    ("example.com:x", "no port behind it"),
    ("2001:db8::/32", "has the length of a prefix; give the host alone: 2001:db8::"),
    ("192.0.2.0/24", "has the length of a prefix; give the host alone: 192.0.2.0"),
    ("0.0.0.0/0", "has the length of a prefix; give the host alone, such as example.com"),
    ("//host/path", "begins with a slash; give the host alone: host"),
    ("//[2001:db8::1]:80/", "begins with a slash; give the host alone: 2001:db8::1"),
    ("/", "begins with a slash; give the host alone, such as example.com"),
    ("/etc/hosts", "begins with a slash"),
    ("example.com?q", "has a query or a fragment; give the host alone: example.com"),
    ("example.com#f", "has a query or a fragment; give the host alone: example.com"), ("?", "what follows a host"),
    ("http:example.com", "write http://example.com"), ("HTTPS:/example.com:80/x", "write https://example.com:80/x"),
    ("https//example.com", "write https://example.com"),
    ("http:", "no port behind it"), ("tel:x", "no port behind it"),
    ("user@", "give the host alone, such as example.com"),
    ("user@[::1]:80", "give the host alone: ::1"), ("user@2001:db8::1", "give the host alone: 2001:db8::1"),
    ("a b@", "a space"),
    // Characters that are invisible.
    ("\u{200B}example.com", "the invisible character U+200B"),
    ("example.com\u{200B}", "the invisible character U+200B"),
    ("\u{202E}moc.elpmaxe", "the invisible character U+202E"), ("exam\u{AD}ple.com", "the invisible character U+00AD"),
    ("\u{FEFF}example.com", "the invisible character U+FEFF"), ("a\u{2066}b", "the invisible character U+2066"),
    ("a\u{85}b", "the control character U+0085"), ("❤\u{FE0F}.example", "the invisible character U+FE0F"),
    ("a\u{200D}b", "the invisible character U+200D"), ("a\u{200C}b", "the invisible character U+200C"),
    ("\u{200C}ا", "the invisible character U+200C"), ("1\u{34F}0.1", "the invisible character U+034F"),
    ("10.1\u{FE00}", "the invisible character U+FE00"), ("192.0.2.1\u{200B}", "the invisible character U+200B"),
    ("https://exa\u{202E}mple.com/", "the invisible character U+202E"), ("a\u{3000}b", "the space U+3000"),
    ("a\u{E0041}b", "the invisible character U+E0041"), ("a：b", "\"：\" (U+FF1A)"),
  ])
  func saysWhatIsWrongAndWhatToWrite(text: String, words: String) throws {
    let message = try Self.message(text)
    #expect(message.contains(words))
    #expect(!message.unicodeScalars.contains { $0.isInvisible })
    // What the error says to write is accepted.
    for introduction in ["give the host alone: ", "write http"] {
      guard let start = message.firstRange(of: introduction)?.upperBound else { continue }
      let remedy = message[start...].prefix { $0 != "," }
      _ = try ReachabilityTarget.host(introduction == "write http" ? "http" + remedy : String(remedy))
    }
  }

  /// User information, in each place in which the rest is wrong, too.
  @Test(arguments: [
    "https://user:sEcReT@-bad.example/", "https://user:sEcReT@/", "https://user:sEcReT@example.com:99999/",
    "https://user:sEcReT@[2001:db8::1/", "https://user:sEcReT@2001:db8::1/", "https://user:sEcReT@[fe80::1]/",
    "https://user:sEcReT@exa mple.com/", "https://user:sEc ReT@example.com/", "https://user:sEcReT@example.com/a b",
    "https://user:sEcReT@exa!mple.com/", "https://user:sEcReT@1.2.3/", "https://user:sEcReT@a..b/",
    "1https://user:sEcReT@example.com/", "https://user:sEcReT/@example.com/", "https://user:sEcReT#@example.com/",
    "https://user:sEcReT@\u{301}exa!mple.com/", "https:/\u{301}/user:sEcReT@example.com/",
    "user:sEcReT@example.com", "user:sEcReT@example.com/", "user:sEcReT@example.com:80", "user:sEc%25ReT@example.com",
    "user:sEcReT@exa mple.com", "user:sEcReT@[2001:db8::1]", "user:sEcReT@1.2.3", "sEcReT@exa!mple.com", "sEcReT@a/b",
    "https://sEcReT*/@example.com", "https://sEcReT*?@example.com", "https://-sEcReT#/@example.com",
  ])
  func neverRepeatsUserInformation(text: String) throws {
    let message = try Self.message(text)
    #expect(!message.contains("sEc") && !message.contains("ReT"))
  }

  @Test(arguments: ["user@example.com", "user:word@example.com", "user:word@example.com:80", "user:word@example.com/x"])
  func namesTheHostBehindAUser(text: String) throws {
    let message = try Self.message(text)
    #expect(message.contains("example.com"))
    #expect(!message.contains("give the host alone: user"))
  }
}
