// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneSites

/// What is said to a SOCKS proxy, byte by byte (RFC 1928, RFC 1929). Scripts/faults asks a real one.
struct SocksConversationTests {
  private let url: SiteURL = "https://a.example/"
  private let answer: [UInt8] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]
  private let request: [UInt8] = [5, 1, 0, 3, 9] + Array("a.example".utf8) + [1, 187]

  @Test func asksForAName() {
    var conversation = SocksConversation(to: url, ProxyServer.Socks())
    #expect(conversation.greeting == [5, 1, 0])
    #expect(conversation.take([5]) == .wait)
    #expect(conversation.take([0]) == .send(request))
    for byte in answer.dropLast() { #expect(conversation.take([byte]) == .wait) }
    #expect(conversation.take([0]) == .connected)
  }

  @Test func asksForAnAddress() {
    for (address, bytes) in [
      ("192.0.2.7", [1, 192, 0, 2, 7]), ("2001:db8::1", [4, 32, 1, 13, 184] + [UInt8](repeating: 0, count: 11) + [1]),
    ]
      as [(String, [UInt8])]
    {
      var conversation = SocksConversation(to: url, ProxyServer.Socks(target: IPAddress(address)))
      #expect(conversation.take([5, 0]) == .send([5, 1, 0] + bytes + [1, 187]))
    }
  }

  @Test func provesWhoAsksIfThatIsWanted() {
    let socks = ProxyServer.Socks(user: Array("me".utf8), password: Array("open".utf8))
    var conversation = SocksConversation(to: url, socks)
    #expect(conversation.greeting == [5, 2, 0, 2])
    #expect(conversation.take([5, 2]) == .send([1, 2] + Array("me".utf8) + [4] + Array("open".utf8)))
    #expect(conversation.take([1, 0]) == .send(request))
    #expect(conversation.take(answer) == .connected)
  }

  @Test(
    "what a proxy refuses, or says beside the point, is its failure",
    arguments: [
      [[5, 0xFF]], [[5, 2]], [[72, 84, 84, 80]], [[5, 0], [5, 2, 0, 1, 0]],
      [[5, 0], [5, 0, 0, 1] + [UInt8](repeating: 0, count: 7)],
      [[5, 0], [4, 0, 0, 1, 0]], [[5, 0], [UInt8](repeating: 5, count: 600)],
    ] as [[[UInt8]]])
  func tellsARefusal(answers: [[UInt8]]) {
    var conversation = SocksConversation(to: url, ProxyServer.Socks())
    var last = TunnelStep.wait
    for answer in answers { last = conversation.take(answer) }
    guard case .failed(let error) = last else {
      Issue.record("\(last)")
      return
    }
    #expect(error.code == .proxyFailed)
  }

  @Test func readsSettingsAsCurlDoes() throws {
    var settings = ProxySettings(http: "a:1", https: nil, exceptions: "b.example")
    settings.all = "socks5h://me:open%20it@p.example:9"
    #expect(settings.setting(for: "http://x/")?.variable == "http_proxy")
    #expect(settings.setting(for: "https://x/")?.variable == "all_proxy")
    #expect(settings.setting(for: "https://b.example/") == nil)
    let server = try ProxySettings.server(try #require(settings.all), variable: "all_proxy", socksTo: [])
    #expect(server.socks == ProxyServer.Socks(user: Array("me".utf8), password: Array("open it".utf8)))
    #expect(!server.wantsAddress && server.port == 9)
    let address = try #require(IPAddress("192.0.2.7"))
    let local = try ProxySettings.server("socks5://p.example", variable: "all_proxy", socksTo: [address])
    #expect(local.socks?.target == address && local.wantsAddress && local.port == 1_080)
    // A check asks no proxy of SOCKS.
    #expect(throws: SiteError.self) { try ProxySettings.server("socks5h://p.example", variable: "all_proxy") }
  }
}
