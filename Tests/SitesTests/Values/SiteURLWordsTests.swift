// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneSites

/// What is said of a URL that cannot be checked, and what is just not refused.
struct SiteURLWordsTests {
  @Test(arguments: [
    ("", "the URL is empty"), ("://", "the URL has no scheme and no host"), ("//", "no scheme and no host"),
    ("/", "no scheme and no host"), ("://example.com/", "the URL has no scheme; write it as https://example.com/"),
    ("/a://b/", "the URL has no scheme"), ("a?b://c/", "the URL has no scheme"), ("a#b://c/", "the URL has no scheme"),
    ("httpx://a/", "only http and https can be checked; write it as https://a/"),
    ("HTTP:a", "colon and two slashes; write it as http://a"), ("HTTPS//a", "two slashes; write it as https://a"),
    ("http://", "the URL has no host"), ("http://:80/", "the URL has no host"), ("https://?a", "no host"),
    ("http://a\\b", "the URL has a backslash after its host"), ("http://a/\u{7F}", "the URL contains "),
    ("http://a/\u{80}", "the URL contains "), ("http://a/\u{9F}", "the URL contains "),
    ("http://a/\u{1F}", "the URL contains "), ("http://a/ ", "the URL contains "), (" http://a/", "the URL contains "),
    ("http://a:1:2/", "an IPv6 address stands in brackets; write it as http://[2001:db8::1]/"),
    ("http://::/", "in brackets; write it as http://[2001:db8::1]/"),
    ("http://::1/", "in brackets; write it as http://[::1]/"),
    ("https://[::1", "the IPv6 address has no closing bracket"),
    ("http://[0.0.0.0]/", "in brackets is no IPv6 address; write it as http://[2001:db8::1]/"),
    ("http://[192.0.2.1%25eth0]:81/", "in brackets is no IPv6 address; write it as http://[2001:db8::1]:81/"),
    ("http://[fe80::1%25a%25b]/", "cannot be an interface's name; write it as http://[fe80::1%25eth0]/"),
    ("http://[::%25lo]:81/", ":: is the unspecified address"), ("http://a:b/", "what follows the host is no port"),
    ("http://[::1]81/", "what follows the host is no port"), ("http://a:0/", "what follows the host is no port"),
    ("http://a:65536/", "what follows the host is no port"), ("http://a%41/", "has a percent sign"),
    ("http://a:b@c/", "the URL has user information before the host"),
    ("http://a/ b@c", "the URL contains "), ("a/b@c", "its @ may follow user information"),
  ])
  func saysWhatIsWrong(_ text: String, _ words: String) {
    let error = #expect(throws: SiteError.self) { try SiteURL(text) }
    #expect(error?.code == .invalidURL)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test func saysHowLongATextIs() throws {
    let text = "http://example.com/" + String(repeating: "a", count: 8_000)
    let error = #expect(throws: SiteError.self) { try SiteURL(text) }
    #expect(error?.message == "the URL has 8019 bytes, and 8000 is the most")
  }

  @Test(arguments: [
    ("http://169.254.1.1/", "169.254.1.1", "/"), ("http://a/\u{A0}\u{BF}", "a", "/%C2%A0%C2%BF"),
    ("http://[fe80::1%lo]/", "[fe80::1]", "/"), ("http://[::1]:/", "[::1]", "/"), ("https://[::1]:443/", "[::1]", "/"),
    ("http://a/b@c", "a", "/b@c"), ("http://a?b@c", "a", "/?b@c"), ("http://a/b://c", "a", "/b://c"),
    ("http://a/!~", "a", "/!~"), ("http://a:65535/", "a:65535", "/"), ("http://a:00080/", "a", "/"),
  ])
  func takesWhatIsRight(_ text: String, _ authority: String, _ target: String) {
    do {
      let url = try SiteURL(text)
      #expect(url.authority == authority && url.target == target && url.text == text)
    } catch {
      Issue.record("\(error)")
    }
  }

  /// The same thing asked of the same site, however it is written.
  @Test(arguments: [
    ("http://a/", "HTTP://A:80", true), ("http://a/#b", "http://a/", true), ("https://a/", "https://a:443/", true),
    ("http://a/", "http://a/?", false), ("http://a/", "https://a:80/", false), ("http://a/b", "http://a/B", false),
    ("http://[::1]/", "http://[0::1]/", true), ("http://\u{E4}.example/", "http://xn--4ca.example/", true),
  ])
  func anIdentityIsOfWhatIsAsked(_ first: String, _ second: String, _ isSame: Bool) throws {
    let (first, second) = (try SiteURL(first), try SiteURL(second))
    #expect((first.identity == second.identity) == isSame && first != second)
  }
}
