// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneFoundation
import DialtoneTesting
import Foundation
import TestSupport
import Testing

/// Targets from URLs.
struct URLTargetTests {
  @Test(arguments: [
    ("https://example.com/a?b#c", "example.com:443"),
    ("HTTP://Example.com:8080", "Example.com:8080"),
    ("ftp://user:secret@example.com/", "example.com"),
    ("https://example.com./", "example.com.:443"),
    ("http://ex%61mple.com/", "example.com:80"),
    ("//example.com/without/scheme", "example.com"),
    ("https://b\u{FC}cher.example/", "xn--bcher-kva.example:443"),
    ("http://192.0.2.1/", "192.0.2.1:80"),
    ("http://[2001:db8::1]:8080/", "[2001:db8::1]:8080"),
    ("http://[fe80::1%25eth0]/", "[fe80::1%eth0]:80"),
    ("http://[::ffff:192.0.2.1]/", "[::ffff:192.0.2.1]:80"),
  ])
  func takesHostAndPort(text: String, target: String) throws {
    #expect(try ReachabilityTarget(url: #require(URL(string: text))) == .host(target))
  }

  @Test func takesHostAndPortOfTheBaseOfARelativeURL() throws {
    let base = try #require(URL(string: "https://example.com/a/"))
    let url = try #require(URL(string: "b", relativeTo: base))
    #expect(try ReachabilityTarget(url: url) == .host("example.com:443"))
  }

  @Test(arguments: [
    "file:///etc/hosts", "mailto:someone@example.com", "data:,text", "a/path", "https://user:secret@/", "http:///a",
    "http://a%2Fb/", "http://http%3A%2F%2Fexample.com/", "http://a%3A80/", "http://a%20b/", "http://a%00b/",
    "http://u%40example.com/", "http://-example.com/",
  ])
  func refusesAURLWithoutAUsableHost(text: String) throws {
    let url = try #require(URL(string: text))
    let error = try #require(throws: ReachabilityError.self) { try ReachabilityTarget(url: url) }
    #expect(error.code == .invalidHost)
    #expect(!error.message.contains("secret"))
  }

  @Test(arguments: ["http://10.1/", "http://[fe80::1]/", "http://0.0.0.0/", "http://ex%E4mple/"])
  func refusesAnAddressThatCannotBeReached(text: String) throws {
    let url = try #require(URL(string: text))
    let error = try #require(throws: ReachabilityError.self) { try ReachabilityTarget(url: url) }
    #expect(error.code == .invalidAddress)
  }

  @Test(.timeLimit(.minutes(5)))
  func theTargetIsWatchedAsAnyOther() async throws {
    let network = ScriptedNetwork()
    network.set(.wifi)
    network.set(.addresses([IPAddress(ipv4: 0xC000_0207)]), forName: "example.com")
    let target = try ReachabilityTarget(url: #require(URL(string: "https://example.com/")))
    #expect(try await network.monitor(target).waitUntilReachable().destination == IPAddress(ipv4: 0xC000_0207))
  }
}
