// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneSites

struct ProxySettingsTests {
  @Test(
    arguments: [
      ("http://proxy.example:3128", 3_128, nil), ("proxy.example:3128/", 3_128, nil),
      ("http://proxy.example", 1_080, nil),
      ("http://Aladdin:open%20sesame@proxy.example:80", 80, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
    ] as [(String, UInt16, String?)])
  func readsAProxy(_ text: String, _ port: UInt16, _ authorization: String?) throws {
    let server = try ProxySettings.server(text, variable: "http_proxy")
    #expect(server.port == port && server.authorization == authorization)
    let expected: SiteURL = "http://proxy.example/"
    #expect(server.host == expected.host)
  }

  @Test(arguments: [
    "https://user:secret@proxy", "socks5://user:secret@proxy", "http://user:secret@", "user:secret@a b:80",
    // An @ of a password is written %40 (RFC 3986, 3.2.1); curl takes no other.
    "http://user:a@secret@proxy:80",
  ])
  func neverRepeatsASecret(_ text: String) {
    let error = #expect(throws: SiteError.self) { try ProxySettings.server(text, variable: "http_proxy") }
    #expect(error?.code == .invalidConfiguration && error?.message.contains("secret") == false)
  }

  @Test(arguments: [
    ("http://a.example/", "example", true), ("http://a.example/", ".example", true),
    ("http://example/", "example", true),
    ("http://notexample/", "example", false), ("http://a.example/", "b.example, a.example", true),
    ("http://a.example/", "*", true), ("http://a.example/", "", false), ("http://10.1.2.3/", "10.0.0.0/8", true),
    ("http://11.1.2.3/", "10.0.0.0/8", false), ("http://10.1.2.3/", "10.1.2.3", true),
    ("http://[2001:db8::1]/", "2001:db8::/32", true), ("http://[2001:db8::1]/", "[2001:db8::1]", true),
    ("http://site.test:8080/", "site.test:8080", true), ("http://site.test:8081/", "site.test:8080", false),
    ("http://a.site.test/", "site.test:80", true), ("http://10.5.0.1:8080/", "10.5.0.1:8080", true),
    ("http://10.5.0.1/", "10.5.0.1:8080", false), ("http://10.5.0.1/", "10.5.0.0/16:80", true),
    ("http://[2001:db8::1]:8080/", "[2001:db8::1]:8080", true),
    ("http://[2001:db8::1]:8080/", "2001:db8::1:8080", false),
    ("http://a.test/", "*.test", true), ("http://a.b.test/", "*.test", true), ("http://test/", "*.test", false),
    ("http://a.test:81/", "*.test:80", false), ("http://a.test/", "a.*", false),
    ("http://[2001:db9::1]/", "2001:db8::/32", false), ("http://10.1.2.3/", "10.0.0.0/99", false),
  ])
  func leavesExceptionsAlone(_ url: String, _ exceptions: String, _ isException: Bool) throws {
    let settings = ProxySettings(http: "proxy:80", https: nil, exceptions: exceptions)
    #expect(try (settings.proxy(for: SiteURL(url)) == nil) == isException)
  }

  @Test func eachSchemeHasItsOwn() throws {
    let settings = ProxySettings(http: "a:1", https: "b:2", exceptions: nil)
    #expect(try settings.proxy(for: "http://x/")?.port == 1)
    #expect(try settings.proxy(for: "https://x/")?.port == 2)
    #expect(try ProxySettings().proxy(for: "http://x/") == nil)
  }
}
