// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneSites

struct RedirectTargetTests {
  private static let site: SiteURL = "http://example.com/a/b?c"

  @Test(arguments: [
    ("http://example.com/x", "http://example.com/x", false),
    ("https://www.example.com", "https://www.example.com/", false),
    ("http://EXAMPLE.com.:81/", "http://EXAMPLE.com.:81/", false),
    ("//example.com/x", "http://example.com/x", false),
    ("x", "http://example.com/a/x", false),
    ("../x", "http://example.com/x", false),
    ("../../../x?y#z", "http://example.com/x?y#z", false),
    ("/x/./y/..", "http://example.com/x/", false),
    ("?d", "http://example.com/a/b?d", false),
    ("", "http://example.com/a/b?c", false),
    ("http:x", "http://example.com/a/x", false),
    ("http://login.example/?u=http://example.com/", "http://login.example/?u=http://example.com/", true),
    ("//login.example", "http://login.example/", true),
    ("https:login.example", "https://login.example/", true),
    ("\\\\login.example\\x", "http://login.example/x", true),
    ("ht\ttp://login.example/", "http://login.example/", true),
    ("  http://login.example/ ", "http://login.example/", true),
    ("http://example.com@login.example/", "http://example.com@login.example/", true),
    ("http://a@example.com:x@login.example/", "http://a@example.com:x@login.example/", true),
    ("http://169.254.169.254/latest", "http://169.254.169.254/latest", true),
    ("http://[::1]/", "http://[::1]/", true),
    ("http://wwwexample.com/", "http://wwwexample.com/", true),
    ("http://b\u{FC}cher.example/\u{1B}[2J", "http://b%C3%BCcher.example/%1B[2J", true),
  ])
  func readsATargetAsABrowserDoes(_ header: String, _ location: String, _ isOtherHost: Bool) {
    let target = RedirectTarget(header, from: Self.site)
    #expect(target.location == location)
    #expect(target.isOtherHost == isOtherHost)
  }

  @Test(arguments: [
    "file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "http://", "https://:80/", "ftp://example.com/",
  ])
  func reportsNoTargetThatIsNoSite(_ header: String) {
    #expect(RedirectTarget(header, from: Self.site) == RedirectTarget("file:x", from: Self.site))
    #expect(RedirectTarget(header, from: Self.site).location == nil)
    #expect(RedirectTarget(header, from: Self.site).isOtherHost)
  }

  @Test func cutsWhatIsLong() {
    let long = "http://login.example/" + String(repeating: "ü", count: 10_000)
    let location = RedirectTarget(long, from: Self.site).location
    #expect(location?.count ?? 0 <= 2_048)
    #expect(location?.count ?? 0 > 2_040)
    #expect(location?.utf8.allSatisfy { (0x21...0x7E).contains($0) } == true)
  }

  @Test func comparesAddressesAsAddresses() {
    #expect(!RedirectTarget("http://[2001:0DB8::0:1]/", from: "http://[2001:db8::1]/").isOtherHost)
  }
}
