// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dialtone
import DialtoneSites
import Testing

@testable import DialtoneCLI

struct TargetRequestTests {
  private func configuration(
    family: IPAddress.Family? = nil, interface: String? = nil
  ) -> ReachabilityConfiguration {
    var configuration = ReachabilityConfiguration()
    configuration.family = family
    configuration.interface = interface
    return configuration
  }

  private func message(_ body: () throws -> TargetRequest) -> String {
    do {
      _ = try body()
      return "no error"
    } catch {
      return (error as? ValidationError)?.message ?? "\(error)"
    }
  }

  @Test func isTheInternetIfNothingIsTyped() throws {
    #expect(try TargetRequest([]).targets == [.usual])
  }

  @Test func readsEachKindOfTarget() throws {
    let texts = [
      "internet", "Local-Network", "example.com", "192.0.2.7", "fe80::1%eth0", "https://a.example:8080/x?y",
      "http://[2001:db8::1]/", "internet.", "example.com:22", "[2001:db8::1]:443", "192.0.2.7:53",
    ]
    let request = try TargetRequest(texts)
    #expect(
      try request.targets.map(\.target) == [
        .internet, .localNetwork, .host("example.com"), .host("192.0.2.7"), .host("fe80::1%eth0"),
        .host("a.example:8080"), .host("[2001:db8::1]:80"), .host("internet"), .host("example.com:22"),
        .host("[2001:db8::1]:443"), .host("192.0.2.7:53"),
      ])
    #expect(request.targets.map(\.target.port) == [nil, nil, nil, nil, nil, 8080, 80, nil, 22, 443, 53])
    #expect(request.targets.map(\.typed) == texts)
  }

  @Test func countsATargetOnce() throws {
    let request = try TargetRequest(["b", "a", "b", "a", "b"])
    #expect(request.targets.map(\.typed) == ["b", "a"])
  }

  @Test(arguments: [
    ["internet", "INTERNET"], ["local-network", "Local-Network"], ["example.com", "EXAMPLE.com"],
    ["::1", "0:0:0:0:0:0:0:1"], ["example.com:443", "EXAMPLE.COM:443"], ["192.0.2.7", "192.0.2.7"],
    ["bücher.example", "xn--bcher-kva.example", "BÜCHER.example"],
  ])
  func countsATargetOnceHoweverItIsWritten(texts: [String]) throws {
    #expect(try TargetRequest(texts).targets.map(\.typed) == Array(texts.prefix(1)))
  }

  @Test func tellsTargetsApartByTheirPorts() throws {
    let texts = ["example.com", "example.com:80", "example.com:443", "https://example.com/", "https://example.com/x"]
    #expect(try TargetRequest(texts).targets.map(\.typed) == texts)
  }

  @Test(arguments: ["example.com:443", "[2001:db8::1]:443", "192.0.2.7:443", "https://example.com/", "http://a:8080/"])
  func refusesAPortBesideATargetThatHasOne(text: String) {
    var configuration = ReachabilityConfiguration()
    configuration.port = 443
    let problem = message { try TargetRequest(["example.com", text], configuration: configuration) }
    #expect(problem.hasPrefix("--port: ") && problem.contains(text) && problem.contains("leave one of them out"))
  }

  @Test func keepsThePortOfATargetWithASource() throws {
    let source = try #require(IPAddress("192.0.2.1"))
    let remote = try #require(IPAddress("192.0.2.7"))
    let request = try TargetRequest(["192.0.2.7:53"], source: source)
    #expect(request.targets.map(\.target) == [.address(remote, from: source, port: 53)])
  }

  @Test func namesTheLineOfAFileThatIsWrong() throws {
    let entries = try ListFile.entries(of: Array("# hosts\nexample.com\n\n  a..b # no\n".utf8), list: "hosts")
    let problem = message { try TargetRequest(entries: entries) }
    #expect(problem.hasPrefix("--from-file: hosts, line 4: ") && problem.contains("a..b"), "\(problem)")
    let sites = #expect(throws: ValidationError.self) { try SiteRequest(entries: entries, configuration: .init()) }
    #expect(sites?.message.hasPrefix("--from-file: hosts, line 2: URL (\"example.com\"): ") == true)
    let other = message {
      try TargetRequest(
        entries: ListFile.entries(of: Array("127.0.0.1".utf8), list: "-"), configuration: configuration(family: .ipv6))
    }
    #expect(other.hasPrefix("--from-file: standard input, line 1: -6: "), "\(other)")
  }

  @Test(arguments: [
    ("http://user:secret@example.com:443/x", "http://example.com:443/x"),
    ("ftp://u@[2001:db8::1]", "ftp://[2001:db8::1]"),
    ("http://a@b:secret@example.com?q", "http://example.com?q"), ("http://:secret@a#f", "http://a#f"),
    ("https://example.com/@me", "https://example.com/@me"), ("https://example.com?a@b", "https://example.com?a@b"),
    ("https://us\u{301}er:secret@a.example/", "https://a.example/"), ("http://user:secret@/", nil),
    ("https://us\u{301}er:secret@\u{301}a.example/", nil),
    ("example.com", "example.com"),
  ])
  func showsNoUserInformation(text: String, shown: String?) throws {
    if let shown {
      let request = try TargetRequest([text])
      #expect(request.targets.map(\.typed) == [shown])
    } else {
      #expect(throws: (any Error).self) { try TargetRequest([text]) }
    }
    #expect(!message { try TargetRequest([text]) }.contains("secret"))
  }

  @Test func countsAURLOnceWhateverItsUserInformation() throws {
    let request = try TargetRequest(["http://a:1@example.com/", "http://b:2@example.com/", "http://example.com/"])
    #expect(request.targets.map(\.typed) == ["http://example.com/"])
  }

  @Test(arguments: [
    "", " ", "a b", "a\0b", "a\u{1B}[31m", "a..b", ".a", "-a", "a-", String(repeating: "a", count: 64),
    String(repeating: "a.", count: 127) + "a", "1.2.3", "256.1.1.1", "1.2.3.4.5", "fe80::1", "fe80::1%", "fe80::1%a/b",
    "fe80::1%abcdefghijklmnop", "2001:db8::1%eth0", "1.2.3.4%eth0", "::", "0.0.0.0", "[::1", "host:http", "host:0",
    "host:x", "host/path", "internet:443", "Local-Network:1",
    "user@host", "http://", "://a", "http://a:99999/", "http://a:x/", "http://::1/", "1:2:3",
  ])
  func refusesWhatIsNoTarget(text: String) {
    #expect(message { try TargetRequest(["example.com", text]) }.hasPrefix("TARGET: "))
  }

  @Test func takesTheInterfaceForAZone() throws {
    for (text, port) in [("fe80::1", UInt16?.none), ("[fe80::1]:443", 443)] {
      let request = try TargetRequest([text], configuration: configuration(interface: "eth0"))
      #expect(request.targets.map(\.address) == [IPAddress("fe80::1")])
      #expect(request.targets.map(\.target.port) == [port])
    }
    #expect(throws: Never.self) {
      try TargetRequest(["fe80::1%eth0", "fe80::1%2"], configuration: configuration(interface: "eth0"))
    }
    let problem = message { try TargetRequest(["fe80::1%eth1"], configuration: configuration(interface: "eth0")) }
    #expect(problem.contains("--interface") && problem.contains("eth1"))
  }

  @Test(arguments: [
    ("2001:db8::1", IPAddress.Family.ipv4, "-4"), ("192.0.2.1", .ipv6, "-6"), ("::ffff:1.2.3.4", .ipv6, "-6"),
  ])
  func refusesAnAddressOfTheOtherFamily(text: String, family: IPAddress.Family, option: String) {
    let problem = message { try TargetRequest([text], configuration: configuration(family: family)) }
    #expect(problem.hasPrefix(option) && problem.contains(text))
  }

  @Test func takesAMappedAddressForIPv4() throws {
    #expect(throws: Never.self) { try TargetRequest(["::ffff:1.2.3.4"], configuration: configuration(family: .ipv4)) }
  }

  @Test func pairsTargetsWithASource() throws {
    let source = try #require(IPAddress("192.0.2.1"))
    let remote = try #require(IPAddress("192.0.2.7"))
    let request = try TargetRequest(["192.0.2.7"], source: source)
    #expect(request.targets.map(\.target) == [.address(remote, from: source)])
    #expect(request.targets.map(\.typed) == ["192.0.2.7"])
  }

  @Test(arguments: [[], ["internet"], ["local-network"], ["example.com"], ["192.0.2.7", "2001:db8::1"]])
  func refusesASourceForWhatIsNoAddressOfItsFamily(texts: [String]) throws {
    let source = try #require(IPAddress("192.0.2.1"))
    #expect(message { try TargetRequest(texts, source: source) }.hasPrefix("--from"))
  }

  @Test func refusesASourceOfTheOtherFamily() throws {
    let source = try #require(IPAddress("192.0.2.1"))
    let problem = message {
      try TargetRequest(["192.0.2.7"], source: source, configuration: configuration(family: .ipv6))
    }
    #expect(problem.hasPrefix("-6"))
  }
}
