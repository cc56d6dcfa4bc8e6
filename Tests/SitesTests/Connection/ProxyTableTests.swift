// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneSites

/// Settings of proxies: which hosts they leave alone, and what stands in a proxy's URL.
struct ProxyTableTests {
  // MARK: Exceptions

  /// As curl(1) has it: domains with or without dots around them, networks, and what separates them.
  @Test(arguments: [
    ("http://a.example/", "b.example a.example", true), ("http://a.example/", "b.example\ta.example", true),
    ("http://a.example/", "b.example,a.example", true), ("http://a.example/", "b.examplea.example", false),
    ("http://a.example/", "b.example,", false), ("http://a.example/", ",", false), ("http://a.example/", " *", false),
    ("http://a.example/", "b.example,*", false), ("http://a.example/", "*", true),
    ("http://a.example/", "example.", true), ("http://a.example/", "..example..", true),
    ("http://a.example/", ".", false), ("http://a.example/", "*.", false), ("http://a.example/", "..", false),
    ("http://a.example/", "A.EXAMPLE", true), ("http://example/", "a.example", false),
    ("http://aexample/", "example", false), ("http://a.example/", "**", false), ("http://a.example/", "a*", false),
    ("http://a.example/", "10.0.0.0/8", false), ("http://a.example/", "0.0.0.0/0", false),
  ])
  func leavesNamesAlone(_ url: String, _ exceptions: String, _ isException: Bool) throws {
    try expect(url, exceptions, isException)
  }

  @Test(arguments: [
    ("http://10.1.2.3/", "10.1.2.3/32", true), ("http://10.1.2.3/", "10.1.2.2/32", false),
    ("http://10.1.2.3/", "10.1.2.2/31", true), ("http://10.1.2.3/", "10.1.2.0/31", false),
    ("http://10.1.2.3/", "0.0.0.0/0", false), ("http://10.1.2.3/", "10.1.2.3/0", true),
    ("http://10.1.2.3/", "10.1.2.3/33", false),
    ("http://10.1.2.3/", "10.1.2.3/-1", false), ("http://10.1.2.3/", "10.1.2.3/", false),
    ("http://10.1.2.3/", "10.1.2.3/x", false), ("http://10.1.2.3/", "10.1.2.0/24/1", false),
    ("http://10.1.2.3/", "/8", false), ("http://10.1.2.3/", "10.0.0.0/+8", false),
    ("http://10.1.2.3/", "[10.1.2.3", false), ("http://10.1.2.3/", "::/0", false),
    ("http://10.1.2.3/", "example", false), ("http://10.1.2.3/", "2.3", false), ("http://10.1.2.3/", "*", true),
    ("http://10.1.2.3/", "10.1.2.4,10.1.2.3", true), ("http://10.1.2.3/", "10.1.2.2", false),
    ("http://[2001:db8::1]/", "2001:db8::1/128", true), ("http://[2001:db8::1]/", "2001:db8::/128", false),
    ("http://[2001:db8::1]/", "2001:db8::/127", true), ("http://[2001:db8::1]/", "2001:db8::1/129", false),
    ("http://[2001:db8::1]/", "::/0", false), ("http://[2001:db8::1]/", "0.0.0.0/0", false),
    ("http://[2001:db8::1]/", "[2001:db8::2]", false), ("http://[2001:db8::1]/", "2001:db8::1", true),
  ])
  func leavesAddressesAlone(_ url: String, _ exceptions: String, _ isException: Bool) throws {
    try expect(url, exceptions, isException)
  }

  /// With a port, an entry is about that one alone.
  @Test(arguments: [
    ("http://a.test:8080/", ".test:8080", true), ("https://a.test/", "a.test:443", true),
    ("http://a.test/", "a.test:443", false), ("http://a.test/", "a.test:", false),
    ("http://a.test/", "a.test:x", false), ("http://a.test/", "a.test:+80", false),
    ("http://10.1.2.3/", "10.0.0.0/8:80", true), ("http://10.1.2.3/", "10.0.0.0/8:81", false),
    ("http://b.test:8080/", "a.test:8080", false), ("http://a.test:8080/", "b.test:8080,a.test:8080", true),
    ("http://a.test:8080/", "*:8080", false), ("http://a.test:8080/", "*.test:8080", true),
    ("http://[2001:db8::1]/", "[2001:db8::1]:80", true), ("http://[2001:db8::1]/", "[2001:db8::2]:80", false),
    ("http://[2001:db8::]/", "2001:db8:::80", false),
  ])
  func leavesPortsAlone(_ url: String, _ exceptions: String, _ isException: Bool) throws {
    try expect(url, exceptions, isException, curl: false)
  }

  private func expect(_ url: String, _ exceptions: String, _ isException: Bool, curl: Bool? = nil) throws {
    let settings = ProxySettings(http: "p:1", https: "p:2", exceptions: exceptions, all: "p:3")
    let url = try SiteURL(url)
    #expect(settings.isException(url.host, port: url.port) == isException)
    #expect(try (settings.proxy(for: url) == nil) == isException)
    #expect((settings.setting(for: url) == nil) == curl ?? isException)
  }

  @Test func eachSchemeHasItsVariable() throws {
    var settings = ProxySettings(http: "a:1", https: "b:2", exceptions: nil, all: "c:3")
    #expect(try #require(settings.setting(for: "http://x/")) == ("http_proxy", "a:1"))
    #expect(try #require(settings.setting(for: "https://x/")) == ("https_proxy", "b:2"))
    settings.http = nil
    settings.https = nil
    #expect(try #require(settings.setting(for: "http://x/")) == ("all_proxy", "c:3"))
    #expect(try #require(settings.setting(for: "https://x/")) == ("all_proxy", "c:3"))
    // A check does not ask for it.
    #expect(try settings.proxy(for: "http://x/") == nil && settings.proxy(for: "https://x/") == nil)
    settings.all = nil
    #expect(settings.setting(for: "http://x/") == nil)
    settings.https = "ftp://b"
    let error = #expect(throws: SiteError.self) { try settings.proxy(for: "https://x/") }
    #expect(error?.message == "the proxy in https_proxy has to be an http URL")
    settings.http = "http://"
    let other = #expect(throws: SiteError.self) { try settings.proxy(for: "http://x/") }
    #expect(other?.message == "the proxy in http_proxy has no host and port that could be read")
  }

  // MARK: A proxy's URL

  /// RFC 3986, 3.2; without a port it is 1080, as curl has it.
  @Test(
    arguments: [
      ("p.example", "p.example", 1_080), ("HTTP://p.example:80", "p.example", 80),
      ("p.example:81/a:b", "p.example", 81),
      ("[::1]", "[::1]", 1_080), ("http://[::1]:81", "[::1]", 81), ("http://u@[::1]/", "[::1]", 1_080),
      ("u:1@192.0.2.1", "192.0.2.1", 1_080), ("192.0.2.1:65535", "192.0.2.1", 65_535),
      ("http://192.0.2.1:", "192.0.2.1", 1_080), ("p.example:81?a:b@c", "p.example", 81),
    ] as [(String, String, UInt16)])
  func hasAHostAndAPort(_ text: String, _ host: String, _ port: UInt16) throws {
    let server = try ProxySettings.server(text, variable: "http_proxy")
    #expect(try server.host == SiteURL("http://\(host)/").host && server.port == port)
    #expect(server.socks == nil && !server.wantsAddress)
  }

  /// What stands before the @, as the proxy gets it. By RFC 7617, 2, a password may have colons, a user may not, and
  /// the colon between them is always there.
  @Test(
    arguments: [
      ("me", "me", "", "bWU6"), ("me:", "me", "", "bWU6"), ("me:a:b", "me", "a:b", "bWU6YTpi"),
      (":pw", "", "pw", "OnB3"), ("me::", "me", ":", "bWU6Og=="), ("m%3Ae:x", "m:e", "x", "bTplOng="),
    ])
  func hasAUserAndAPassword(_ text: String, _ user: String, _ password: String, _ encoded: String) throws {
    let server = try ProxySettings.server("socks5h://\(text)@p:1", variable: "all_proxy", socksTo: [])
    #expect(server.socks?.user == Array(user.utf8) && server.socks?.password == Array(password.utf8))
    #expect(server.authorization == "Basic \(encoded)")
    #expect(try ProxySettings.server("\(text)@p:1", variable: "http_proxy").authorization == "Basic \(encoded)")
  }

  @Test func withoutAUserNothingIsToldOfOne() throws {
    let server = try ProxySettings.server("socks5h://p:1", variable: "all_proxy", socksTo: [])
    #expect(server.socks == ProxyServer.Socks(target: nil, user: nil, password: []) && server.authorization == nil)
  }

  /// RFC 3986, 2.1: a percent sign and two hexadecimal digits. Anything else stays.
  @Test(
    arguments: [
      ("a%41", [0x61, 0x41]), ("%41a", [0x41, 0x61]), ("%e4%F6", [0xE4, 0xF6]), ("%2525", [0x25, 0x32, 0x35]),
      ("%00%ff", [0, 255]), ("%4", [0x25, 0x34]), ("%", [0x25]), ("a%", [0x61, 0x25]), ("%zz", [0x25, 0x7A, 0x7A]),
      ("%4g", [0x25, 0x34, 0x67]), ("%+5", [0x25, 0x2B, 0x35]), ("%%41", [0x25, 0x41]), ("%10", [0x10]),
    ] as [(String, [UInt8])])
  func decodesPercentSigns(_ text: String, _ bytes: [UInt8]) throws {
    let server = try ProxySettings.server("socks5h://\(text):\(text)@p:1", variable: "all_proxy", socksTo: [])
    #expect(server.socks?.user == bytes && server.socks?.password == bytes)
  }

  /// The test vectors of RFC 4648, 10, and the end of the alphabet.
  @Test(
    arguments: [
      ([], ""), (Array("f".utf8), "Zg=="), (Array("fo".utf8), "Zm8="), (Array("foo".utf8), "Zm9v"),
      (Array("foob".utf8), "Zm9vYg=="), (Array("fooba".utf8), "Zm9vYmE="), (Array("foobar".utf8), "Zm9vYmFy"),
      ([0xFB, 0xFF, 0xBF], "+/+/"), ([0x00], "AA=="), ([0xFF], "/w=="), ([0x00, 0x10, 0x83], "ABCD"),
      ([0xFF, 0xFF], "//8="), ([0xFF, 0xFF, 0xFF, 0x00], "////AA=="),
    ] as [([UInt8], String)])
  func encodesBase64(_ bytes: [UInt8], _ text: String) { #expect(Base64.encode(bytes) == text) }

  @Test func aProxyThatIsGivenComesBeforeTheEnvironments() throws {
    var configuration = SiteCheckConfiguration()
    configuration.proxyServer = .proxy
    for proxy in [SiteProxy.direct, .environment] {
      configuration.proxy = proxy
      #expect(try configuration.proxyServer(for: "http://x/") == .proxy)
    }
  }
}
