// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

/// The texts that a person may write for a host.
struct HostTargetTextTests {
  private static let label63 = String(repeating: "a", count: 63)
  private static let name253 = [label63, label63, label63, String(repeating: "b", count: 61)].joined(separator: ".")

  @Test(arguments: [
    ("example.com", "example.com"), ("example.com.", "example.com"), ("localhost", "localhost"), ("a", "a"),
    ("EXAMPLE.com", "EXAMPLE.com"), ("_dmarc.example.com", "_dmarc.example.com"), ("1and1.com", "1and1.com"),
    ("4.example", "4.example"), ("x--y.example", "x--y.example"), ("xn--bcher-kva.example", "xn--bcher-kva.example"),
    ("bücher.example", "bücher.example"), ("例え.テスト", "例え.テスト"), (label63 + ".example", label63 + ".example"),
    (name253, name253), (name253 + ".", name253), ("例え。テスト", "例え。テスト"), ("例え．テスト。", "例え．テスト"),
    ("straße", "straße"), ("ß", "ß"), ("Ä.Ö", "Ä.Ö"), ("example.٣", "example.٣"), ("三", "三"),
    ("نامه\u{200C}ای.example", "نامه\u{200C}ای.example"), ("ක්\u{200D}ෂ.example", "ක්\u{200D}ෂ.example"),
  ])
  func takesAName(text: String, description: String) throws {
    #expect(try ReachabilityTarget.host(text).description == description)
  }

  @Test(arguments: [
    ("https://example.com", "example.com:443"), ("https://example.com/", "example.com:443"),
    ("HTTP://example.com:8080/a/b?c=d#e", "example.com:8080"), ("https://example.com?q", "example.com:443"),
    ("https://example.com#f", "example.com:443"), ("https://example.com:/", "example.com:443"),
    ("http://example.com", "example.com:80"), ("https://example.com:65535", "example.com:65535"),
    ("ftp://user@example.com/x", "example.com"), ("ssh://example.com:2222", "example.com:2222"),
    ("https://user:pass@example.com:1/x", "example.com:1"),
    ("https://user:p%40ss@example.com", "example.com:443"), ("https://a@b@example.com", "example.com:443"),
    ("git+ssh://example.com", "example.com"), ("https://192.0.2.1:80/x", "192.0.2.1:80"),
    ("https://[2001:db8::1]", "[2001:db8::1]:443"), ("https://[2001:db8::1]:8443/x", "[2001:db8::1]:8443"),
    ("https://user@[2001:db8::1]:443/x", "[2001:db8::1]:443"), ("ftp://[fe80::1%25eth0]/", "fe80::1%eth0"),
    ("https://[fe80::1%25eth0]:80/", "[fe80::1%eth0]:80"), ("https://example.com./", "example.com:443"),
    ("https://example.com\\@evil.example/", "example.com:443"),
    ("https://example.com/\u{301}@evil.example/", "example.com:443"),
    ("https://example.com?\u{301}@evil.example/", "example.com:443"),
    ("https://bücher.example/ü", "bücher.example:443"),
  ])
  func takesHostAndPortOfAURL(text: String, description: String) throws {
    #expect(try ReachabilityTarget.host(text).description == description)
  }

  @Test(arguments: [
    ("example.com:443", "example.com", UInt16(443)), ("localhost:1", "localhost", 1),
    ("example.com.:65535", "example.com", 65535),
    ("192.0.2.1:80", "192.0.2.1", 80), ("[2001:db8::1]:443", "2001:db8::1", 443),
    ("[fe80::1%eth0]:22", "fe80::1%eth0", 22),
    ("http:80", "http", 80), ("example.com:0443", "example.com", 443),
  ])
  func takesAPortBehindAHost(text: String, host: String, port: UInt16) throws {
    let target = try ReachabilityTarget.host(text)
    #expect(target.port == port)
    // Targets that differ in their ports are different.
    #expect(try target != .host(host))
    #expect(try target.storage == ReachabilityTarget.host(host).storage)
    // Its description can be typed.
    #expect(try ReachabilityTarget.host(target.description) == target)
  }

  @Test(arguments: ["192.0.2.1", "2001:db8::1", "fe80::1%eth0", "::ffff:192.0.2.1", "::1", "169.254.1.1"])
  func takesTheTextOfAnAddress(text: String) throws {
    #expect(try ReachabilityTarget.host(text) == .address(ip(text)))
  }

  @Test(arguments: ["[2001:db8::1]", "[fe80::1%eth0]"])
  func takesAnIPv6AddressInBrackets(text: String) throws {
    #expect(try ReachabilityTarget.host(text) == .address(ip(String(text.dropFirst().dropLast()))))
  }

  @Test(arguments: [
    "", " ", ".", "..", ".com", "a..b", "example.com..", "-a.example", "a-.example", "a b", "a\tb", "a\nb", "a\r\nb",
    "a\0b", "example.com ", " example.com", "a!b", "a*b", "a,b", "a\\b", "a\u{7F}b", "a\u{85}b", "a\u{A0}b", "(a)", "[",
    "a=b", "a&b",
    "example.com:", "example.com:0", "example.com:65536", "example.com:x", "example.com:\u{301}80",
    "https://example.com:\u{301}80/", "example.com:80/", "example.com/path",
    "user@example.com", "https://", "https:///path", "https://:80/",
    "https://user@/",
    "://example.com", "1https://example.com", "ht tp://example.com", "https://exa mple.com", "https://example.com:x/",
    "https://example.com:65536/", "https://example.com:-1/", "https://example.com:0",
    "https://example.com:٨٠/", "https://example.com:8 0/",
    "https://-a.example/", "https://a..b/", "https://192.0.2.1x:99999/",
  ])
  func refusesWhatIsNoHost(text: String) {
    #expect(throws: ReachabilityError(.invalidHost, "")) { try ReachabilityTarget.host(text) }
  }

  @Test(arguments: [
    "1.2.3", "1", "0", "127.1", "256.1.1.1", "1.2.3.4.5", "1.2.3.4.", "0x7f000001", "0x7f.1", "0177.0.0.1", "example.1",
    "a.0x1f", "fe80::1", "ff02::1", "ff12::1", "0.0.0.0", "::", "[::]", "1::2::3", "a:b:c", "[192.0.2.1]",
    "[example.com]", "[]",
    "fe80::1%", "fe80::1%0123456789abcdef", "fe80::1%a/b", "2001:db8::1%eth0", "192.0.2.1%eth0", "example.com%eth0",
    "https://[2001:db8::1", "https://2001:db8::1/", "https://[fe80::1]/", "https://[fe80::1%25]/", "https://1.2.3/",
    "https://[example.com]/", "https://[192.0.2.1]/",
  ])
  func refusesWhatLooksLikeAnAddressButIsNone(text: String) {
    #expect(throws: ReachabilityError(.invalidAddress, "")) { try ReachabilityTarget.host(text) }
  }

  /// With libidn2, getaddrinfo(3) answers each of these with an address.
  @Test(arguments: [
    "１０.１", "１２７.0.0.1", "127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "１", "１。", "10。1", "０ｘ7f.1", "10.０ｘ1", "¹²⁷.¹", "①⓪.①",
    "𝟏𝟎.𝟏", "0ⓧ7f000001", "10.0ⅹ1", "0xﬀ", "0xＦＦ", "0x𝐚", "0xⒶ", "1℀",
  ])
  func refusesANumberInOtherForms(text: String) {
    #expect(throws: ReachabilityError(.invalidAddress, "")) { try ReachabilityTarget.host(text) }
    #expect(throws: ReachabilityError(.invalidAddress, "")) { try ReachabilityTarget.host("https://\(text)/") }
  }

  /// A lookup would write them in another way, or refuse them (RFC 5891, 4.2).
  @Test(arguments: ["ｅｘａｍｐｌｅ.com", "ﾃｽﾄ.ﾃｽﾄ", "１.example", "😀.example", "cafe\u{301}.example"])
  func refusesLettersInOtherForms(text: String) {
    #expect(throws: ReachabilityError(.invalidHost, "")) { try ReachabilityTarget.host(text) }
    #expect(throws: ReachabilityError(.invalidHost, "")) { try ReachabilityTarget.host("https://\(text)/") }
  }

  @Test(arguments: [
    "：：１", "﹕﹕1", "fe80：：1", "︓︓1", "⩴1", "example.com／path", "user＠example.com", "a．．b", "－a.example", "a\u{3000}b",
  ])
  func refusesSignsInOtherForms(text: String) {
    #expect(throws: ReachabilityError(.invalidHost, "")) { try ReachabilityTarget.host(text) }
    #expect(throws: ReachabilityError(.invalidHost, "")) { try ReachabilityTarget.host("https://\(text)/") }
  }

  @Test func refusesWhatIsTooLong() {
    let cases = [
      String(repeating: "a", count: 64) + ".example", Self.name253 + "b", String(repeating: "a.", count: 50_000),
    ]
    for text in cases {
      do throws(ReachabilityError) {
        _ = try ReachabilityTarget.host(text)
        Issue.record("taken: \(text.prefix(80))")
      } catch {
        #expect(error.code == .invalidHost)
        // The error shortens the text that it repeats.
        #expect(error.message.utf8.count < 400)
      }
    }
  }

  @Test func namesOutsideASCIIAreMeasuredByTheirALabels() throws {
    // 32 letters, 64 bytes, but a shorter A-label (RFC 5890).
    let text = String(repeating: "ü", count: 32) + ".example"
    #expect(try ReachabilityTarget.host(text).description == text)
  }

  @Test func nilAndEmptyAreTheInternetIfAsked() throws {
    #expect(try ReachabilityTarget(hostOrInternet: nil) == .internet)
    #expect(try ReachabilityTarget(hostOrInternet: "") == .internet)
    #expect(try ReachabilityTarget(hostOrInternet: "example.com") == .host("example.com"))
    #expect(throws: ReachabilityError(.invalidHost, "")) { try ReachabilityTarget(hostOrInternet: " ") }
  }
}
