// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneSites
import Testing

struct SiteURLTests {
  @Test(arguments: [
    ("http://example.com", "example.com", "/"),
    // RFC 9110, 7.2: identical to the URL's authority.
    ("HTTPS://Example.COM./a?b#c", "example.com.", "/a?b"),
    ("http://example.com.:8080/", "example.com.:8080", "/"),
    ("http://日本語。jp。/", "xn--wgv71a119e.jp.", "/"),
    ("http://example.com:80/", "example.com", "/"),
    ("http://example.com:8080", "example.com:8080", "/"),
    ("https://example.com:80/", "example.com:80", "/"),
    ("https://example.com:/x", "example.com", "/x"),
    ("http://example.com?q=1", "example.com", "/?q=1"),
    ("http://[2001:DB8::1]:81/", "[2001:db8::1]:81", "/"),
    ("http://[fe80::1%25eth0]/", "[fe80::1]", "/"),
    ("http://192.0.2.1/", "192.0.2.1", "/"),
    ("http://bücher.example/ä", "xn--bcher-kva.example", "/%C3%A4"),
    ("http://BÜCHER.example/", "xn--bcher-kva.example", "/"),
    ("http://한국.example/", "xn--3e0b707e.example", "/"),
    ("http://क\u{94D}\u{200D}ष.example/", "xn--11b2ezcw70k.example", "/"),
    ("http://日本語。jp/", "xn--wgv71a119e.jp", "/"),
    ("http://日本語．example｡jp/", "xn--wgv71a119e.example.jp", "/"),
    ("http://example.com/a|b\"", "example.com", "/a%7Cb%22"),
    ("http://example.com/%41", "example.com", "/%41"),
    // RFC 3986, 5.2.4.
    ("http://example.com/a/b/c/./../../g", "example.com", "/a/g"),
    ("http://example.com/a/..?b/../c#d/../e", "example.com", "/?b/../c"),
  ])
  func readsWhatIsSent(_ text: String, authority: String, target: String) throws {
    let url = try SiteURL(text)
    #expect(url.text == text)
    #expect(url.authority == authority)
    #expect(url.target == target)
  }

  @Test(arguments: [
    ("example.com/health", "https://example.com/health"),
    ("localhost:8080", "https://localhost:8080"),
    ("example.com:80", "http://example.com:80"),
    ("http:/example.com", "http://example.com"),
    ("https:example.com/x", "https://example.com/x"),
    ("//example.com/x", "https://example.com/x"),
    ("ftp://example.com/x", "https://example.com/x"),
    ("http//example.com/x", "http://example.com/x"),
    ("http://0.0.0.0:8080/", "http://127.0.0.1:8080/"),
    ("http://0。0。0。0/", "full stops"),
    ("https://[::]:81/", "https://[::1]:81/"),
    ("http://[::%25lo]/", "http://[::1]/"),
    ("http://[fe80::1]:8080/", "http://[fe80::1%25eth0]:8080/"),
    ("http://[fe80::1%25]/", "http://[fe80::1%25eth0]/"),
    ("http://[fe80::1%25a%20b]/", "http://[fe80::1%25eth0]/"),
    ("http://[2001:db8::1%25lo]/", "http://[2001:db8::1]/"),
    ("http://[192.0.2.1]:81/", "http://192.0.2.1:81/"),
    ("http://[example.com]/", "http://[2001:db8::1]/"),
    ("http://2001:db8::7/", "http://[2001:db8::7]/"),
    ("http://fe80::1/", "http://[2001:db8::1]/"),
    ("http://fe80::1%eth0/", "http://[fe80::1%eth0]/"),
    ("http://[2001:db8::1/", "http://[2001:db8::1]/"),
    ("http://ex%61mple.com/", "percent sign"),
    ("http://example.com:0/", "1 to 65535"),
    ("http://example.com:65536/", "1 to 65535"),
    ("example.com:65536", "besides, what follows the host is no port; give a colon and a number from 1 to 65535"),
    ("ftp://0.0.0.0/", "besides, 0.0.0.0 is the unspecified address, which no site has"),
  ])
  func saysWhatToWriteInstead(_ text: String, meant: String) throws {
    let error = #expect(throws: SiteError.self) { try SiteURL(text) }
    #expect(error?.code == .invalidURL)
    let message = try #require(error?.message)
    #expect(message.contains(meant))
    // A text corrected as it says is not refused again.
    for url in message.matches(of: /\bwrite (?:it as )?(https?:[^ ,]+)/) {
      #expect(throws: Never.self, "\(message)") { try SiteURL(String(url.1)) }
    }
  }

  @Test(arguments: [
    "http://user:secret@example.com/", "user:secret@example.com", "http:user:secret@example.com",
    "https://secret@example.com", "ftp://user:secret@example.com/", "http://user:sec ret@example.com/secret",
    "https://a:secret\u{301}@example.com/", "http://user:secret/@example.com", "http://secret\u{0}@example.com/",
    "user:pass/secret@example.com", "user:secret?@example.com", "http:/user:pass/secret@example.com/",
    "xhttp//user:secret@example.com", "http//user:secret@example.com", "user:pass://secret/@example.com",
    "ftp://user:secret/@example.com/", "http://secret*/@example.com/", "http://secret\u{2603}/@example.com/",
    "http://[secret]/@example.com/", "http://[fe80::1%25secret%secret]/@example.com", "http://secret%/@example.com/",
    "http://a.b.c.secret.1/@example.com/", "http://secret\\@example.com/", "//user:secret@example.com",
    "http://user:1/secret@example.com/ ", "http://secret..a/@example.com",
  ])
  func neverRepeatsUserInformation(_ text: String) throws {
    do {
      // Everything after the first slash is a path, whatever it looks like.
      let url = try SiteURL(text)
      Issue.record("\(url) was taken")
    } catch {
      #expect(!error.message.contains("secret"), "\(error)")
    }
  }

  @Test(arguments: [
    "", "http://", "https:///path", "http://?x", "http://example.com:0/", "http://example.com:65536/",
    "http://example.com:x/", "http://exa mple.com/", "http://example.com/a b", "http://example.com/\u{7}",
    "http://2001:db8::1/", "http://[2001:db8::1/", "http://[fe80::1]/", "http://0.0.0.0/", "http://10.1/",
    "http://-a.example/", "http://a..b/", "http://example.com\\x", "http://e\u{301}.example/", "http://a☃.example/",
    "http://ｅxample.com/", "http://\u{1112}\u{1161}\u{11AB}.example/", "http://a\u{200D}b.example/", "http://127。1/",
    "http://127。0。0。1/", "https://10。0。0。1:8443/", "http://127．0．0．1/",
    "http://127｡0｡0｡1/", "http://１２７。0。0。1/", "http://０x7f。1/", "http://example。0x7f/", "http://１２７.0.0.1/",
    "http://①⓪.①/", "http://﹕﹕1/", "http://exa\u{202E}mple.com/", "http://example.com\u{200B}/", "http://10.1\u{FE00}/",
    "mailto:a@example.com",
  ])
  func refusesWhatCannotBeChecked(_ text: String) {
    #expect(throws: SiteError(.invalidURL, "")) { try SiteURL(text) }
  }

  @Test func refusesWhatIsLongerThanServersTake() throws {
    _ = try SiteURL("http://example.com/" + String(repeating: "a", count: 8_000 - 19))
    #expect(throws: SiteError.self) { try SiteURL("http://example.com/" + String(repeating: "a", count: 8_000 - 18)) }
  }

  @Test func aLiteralIsAURL() {
    let url: SiteURL = "https://example.com/health"
    #expect(url.isSecure && url.description == "https://example.com/health")
  }
}
