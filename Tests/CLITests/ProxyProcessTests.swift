// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import NetworkLab
import TestSupport
import Testing

/// Proxies are asked only if the command is told to.
@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct ProxyProcessTests {
  /// A site that is reached only through a proxy.
  private let site = "http://192.0.2.9/x"

  private func variables(_ proxy: LabSite, _ more: [String: String?] = [:]) -> [String: String?] {
    let text = "http://Aladdin:open%20sesame@127.0.0.1:\(proxy.port)"
    return ["http_proxy": text, "https_proxy": text, "no_proxy": nil, "NO_PROXY": nil].merging(more) { $1 }
  }

  @Test func asksTheProxyForTheWholeURL() async throws {
    let lab = try NetworkLab()
    let proxy = try await LabSite(LabSite.fine, in: lab)
    let result = try await Tool.run(["check", "--use-proxy", "--json", site], in: lab, environment: variables(proxy))
    #expect(result.ending == .exited(0))
    #expect(result.output.contains(#""url":"http://192.0.2.9/x","verdict":"available","status":204"#))
    #expect(result.output.contains(#""address":"127.0.0.1""#), "the proxy's")
    let request = try #require(proxy.requests.first)
    #expect(request.hasPrefix("HEAD http://192.0.2.9/x HTTP/1.1\r\nHost: 192.0.2.9\r\n"), "\(request)")
    #expect(request.contains("\r\nProxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"))
    #expect(proxy.requests.count == 1)
  }

  @Test(arguments: [[], ["--use-proxy"]]) func asksNoProxyUnlessAskedTo(_ option: [String]) async throws {
    let lab = try NetworkLab()
    let proxy = try await LabSite(LabSite.fine, in: lab)
    let exceptions = option.isEmpty ? nil : "192.0.2.0/24"
    let result = try await Tool.run(
      ["check", "--json", site] + option, in: lab, environment: variables(proxy, ["no_proxy": exceptions]))
    #expect(result.ending == .exited(1) && result.output.contains(#""verdict":"offline""#))
    #expect(proxy.requests.isEmpty)
  }

  @Test func aProxyThatRefusesIsNoAnswerOfTheSite() async throws {
    let lab = try NetworkLab()
    let proxy = try await LabSite(LabSite.login, in: lab)
    let urls = [site, "https://site.example/"]
    let result = try await Tool.run(
      ["check", "--use-proxy", "--json"] + urls, in: lab, environment: variables(proxy))
    #expect(result.ending == .exited(1))
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 2)
    for line in lines {
      #expect(line.contains(#""verdict":"failed","status":null,"location":null,"stage":"connect","#), "\(line)")
      #expect(!line.contains("sesame"))
    }
    let tunnel = try #require(proxy.requests.first { $0.hasPrefix("CONNECT") })
    #expect(tunnel.hasPrefix("CONNECT site.example:443 HTTP/1.1\r\nHost: site.example:443\r\n"), "\(tunnel)")
  }

  @Test func aProxyThatCannotBeReadIsWrongUsage() async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(
      ["check", "--use-proxy", site], in: lab, environment: ["http_proxy": "socks5://u:secret@127.0.0.1"])
    #expect(result.ending == .exited(64) && result.error.contains("http_proxy") && !result.error.contains("secret"))
  }

  @Test func saysThatItIsTheProxyWhoseNameIsNotFound() async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(
      ["check", "--use-proxy", "http://192.0.2.1/"], in: lab, environment: ["http_proxy": "http://nobody.invalid:3128"])
    #expect(result.output.contains("the proxy's name"), "\(result.output)")
  }
}
