// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Foundation
import NetworkLab
import SiteLab
import TestSupport
import Testing

@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct CheckProcessTests {
  /// A port of 127.0.0.1 without a listener, in a lab of its own.
  private let nobody = "http://127.0.0.1:1/"

  @Test func exitsWithZeroIfAllAreAvailable() async throws {
    let lab = try NetworkLab()
    let site = try await LabSite(LabSite.fine, in: lab)
    let result = try await Tool.run(["check", site.url], in: lab)
    #expect(result.ending == .exited(0) && result.error == "")
    let line = /http:\/\/127.0.0.1:\d+\/  available  204 in [\d.]+ m?s, via loopback \(lo\)\n/
    #expect(result.output.wholeMatch(of: line) != nil, "\(result.output)")
  }

  @Test func exitsWithOneIfSomeAreNotAvailable() async throws {
    let lab = try NetworkLab()
    let site = try await LabSite(LabSite.fine, in: lab)
    let portal = try await LabSite(LabSite.portal, in: lab)
    let urls = [site.url, portal.url, nobody, "http://192.0.2.7/", site.url]
    let result = try await Tool.run(["check"] + urls, in: lab)
    #expect(result.ending == .exited(1))
    let lines = result.output.split(separator: "\n").sorted()
    #expect(lines.count == 4, "a URL given twice counts once: \(result.output)")
    func has(_ url: String, _ text: String) -> Bool { lines.contains { $0.hasPrefix(url) && $0.contains(text) } }
    #expect(has(site.url, "  available"))
    #expect(has(portal.url, "  captive-portal  302 to http://login.example/a%20b in "))
    #expect(has(nobody, "  failed") && has(nobody, "  connect: connection refused"))
    #expect(has("http://192.0.2.7/", "  offline"))
  }

  @Test func printsAllKeysAsJSON() async throws {
    let lab = try NetworkLab()
    let portal = try await LabSite(LabSite.portal, in: lab)
    let result = try await Tool.run(["check", "--json", portal.url], in: lab)
    #expect(result.ending == .exited(1))
    let number = #"\d+(\.\d+)?"#
    let expected = try Regex(
      #"\{"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z","url":"http://127\.0\.0\.1:\d+/","#
        + #""verdict":"captive-portal","status":302,"location":"http://login\.example/a%20b","stage":null,"#
        + #""error":null,"address":"127\.0\.0\.1","interface":\{"name":"lo","index":1,"#
        + #""kind":"loopback"\},"certificateExpires":null,"#
        + #""timings":\{"name":null,"connect":\#(number),"tls":null,"firstByte":\#(number),"total":\#(number)\}\}\n"#)
    #expect(try expected.wholeMatch(in: result.output) != nil, "\(result.output)")
    let failed = try await Tool.run(["check", "--json", "http://192.0.2.7/"], in: lab)
    #expect(failed.output.contains(#""verdict":"offline","status":null,"location":null,"stage":null,"error":"no path"#))
    #expect(failed.output.contains(#""timings":{"name":null,"connect":null,"tls":null,"firstByte":null,"total":"#))
  }

  @Test func anErrorThatCountsAsAvailableNamesTheOptionThatMakesItFail() async throws {
    let lab = try NetworkLab()
    let site = try await LabSite(LabSite.broken, in: lab)
    let lenient = try await Tool.run(["check", site.url], in: lab)
    #expect(lenient.ending == .exited(0))
    #expect(lenient.output.contains("  available  500 (an error; see --expect success) in "), "\(lenient.output)")
    let strict = try await Tool.run(["check", "--expect", "success", site.url], in: lab)
    #expect(strict.ending == .exited(1) && strict.output.contains("  unexpected-response  500 in "), "\(strict.output)")
    // An expected status needs no hint.
    let expected = try await Tool.run(["check", "--expect", "500", site.url], in: lab)
    #expect(expected.ending == .exited(0) && expected.output.contains("  available  500 in "), "\(expected.output)")
  }

  @Test func tellsWhenACertificateEnds() async throws {
    let lab = try NetworkLab()
    let server = try await SiteServer(.answer(200), as: SiteIdentity("server"), in: lab)
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("dialtone-root-\(UUID()).pem")
    try SiteIdentity("root").certificates.write(to: file, atomically: true, encoding: .utf8)
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: file) } }
    func check(_ arguments: String...) async throws -> Tool.Result {
      try await Tool.run(
        ["check"] + arguments + ["https://127.0.0.1:\(server.port)/"], in: lab,
        environment: ["SSL_CERT_FILE": file.path])
    }
    let days = (SiteIdentity.end - time(nil)) / (24 * 60 * 60)
    let enough = try await check("--json", "--cert-expiry", "\(days - 1)d")
    #expect(enough.ending == .exited(0), "\(enough)")
    #expect(enough.output.contains(#""certificateExpires":"\#(SiteIdentity.endText)""#), "\(enough.output)")
    let short = try await check("--json", "--cert-expiry", "\(days + 1)d")
    #expect(short.ending == .exited(1) && short.output.contains(#""verdict":"unexpected-response","status":200"#))
    #expect(short.output.contains(#""error":"the certificate expires at \#(SiteIdentity.endText)""#), "\(short.output)")
    let text = try await check("--cert-expiry", "\(days + 1)d")
    #expect(text.output.contains("  unexpected-response  200 in "), "\(text.output)")
    #expect(text.output.contains(": the certificate expires at \(SiteIdentity.endText), via "), "\(text.output)")
  }

  @Test func endsEachCheckAtItsTimeout() async throws {
    let lab = try NetworkLab()
    let deaf = try await LabSite(nil, in: lab)
    // On a busy machine even the connection may take longer than the shortest timeout.
    for timeout in ["0.2", "1.5", "10"] {
      let result = try await Tool.run(["check", "--timeout", timeout, "--json", deaf.url], in: lab)
      #expect(result.ending == .exited(1) && result.output.contains(#""verdict":"failed""#))
      if result.output.contains(#""stage":"response""#) { return }
    }
    Issue.record("the request was never sent")
  }

  @Test func limitsTheChecksAtATime() async throws {
    let lab = try NetworkLab()
    let site = try await LabSite(LabSite.fine, in: lab)
    let urls = (0..<40).map { "\(site.url)\($0)" }
    let result = try await Tool.run(["check", "--concurrency", "3", "--expect", "204"] + urls, in: lab)
    #expect(result.ending == .exited(0))
    #expect(result.output.split(separator: "\n").count == 40)
  }

  @Test func showsWhatItWaitsForOnATerminal() async throws {
    let lab = try NetworkLab()
    let deaf = try await LabSite(nil, in: lab)
    let process = try Tool.start(["check", deaf.url], in: lab, terminal: LabTerminal())
    // The progress line has no end of its own; the terminal's echo ends it.
    try await eventually(within: .seconds(30), "it shows that it waits") {
      try process.type("\n")
      return try await process.output.nextLine().contains("waiting for \(deaf.url) to answer, ")
    }
    try process.signal(SIGINT)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGINT))
    // It stays, on a line of its own.
    let rest = try await process.output.text()
    #expect(rest.hasSuffix("\u{1B}[?7h\r\n") && !rest.hasSuffix("\u{1B}[?7h\r\n\r\n"), "\(rest.debugDescription)")
  }

  @Test(arguments: [
    (["check"], "none was given"), (["check", "example.com/x"], "https://example.com/x"),
    (["check", "http://user:secret@example.com/"], "user information"),
    (["check", "--method", "HEAD", "--expect", "body:OK", "http://127.0.0.1/"], "HEAD asks for no body"),
    (["check", "--expect", "100", "http://127.0.0.1/"], "final answer"),
    (["check", "--timeout", "0", "http://127.0.0.1/"], "--timeout"),
    (["check", "-4", "-6", "http://127.0.0.1/"], "exclude each other"),
    (["watch", "--site", "internet"], "scheme"), (["status", "--site", "http://127.0.0.1/"], "--site"),
    (["wait", "--expect", "204", "http://127.0.0.1/"], "add --site"),
    (["watch", "--site", "--mark", "1", "http://127.0.0.1/"], "--mark"),
  ])
  func refusesWrongUsage(_ arguments: [String], _ words: String) async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(arguments, in: lab)
    #expect(result.ending == .exited(64) && result.output == "")
    #expect(result.error.contains(words) && !result.error.contains("secret"), "\(result.error)")
  }

  @Test func checksNothingIfOneURLIsInvalid() async throws {
    let lab = try NetworkLab()
    let site = try await LabSite(LabSite.fine, in: lab)
    let result = try await Tool.run(["check", site.url, "ftp://127.0.0.1/"], in: lab)
    #expect(result.ending == .exited(64) && result.output == "")
  }

  // MARK: Monitors

  @Test func waitsForASite() async throws {
    let lab = try NetworkLab()
    let site = try await LabSite(LabSite.broken, in: lab)
    let process = try Tool.start(["wait", "--site", "--expect", "success", "--json", site.url], in: lab)
    try await eventually("it has been asked") { !site.requests.isEmpty }
    site.turn(LabSite.fine)
    #expect(try await process.exit(within: .seconds(60)) == .exited(0))
    let output = try await process.output.text()
    #expect(output.contains(#""url":"\#(site.url)","verdict":"available","status":204,"location":null,"stage":null"#))
    #expect(output.split(separator: "\n").count == 1)
  }

  @Test func tellsAtTheTimeoutHowFarASiteHasCome() async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(["wait", "--site", nobody], untilTimeoutIn: lab) { $0.ending != .exited(2) }
    #expect(result.ending == .exited(1))
    #expect(result.output.contains("failed"))
    let unavailable = try await Tool.run(["wait", "--unreachable", "--site", nobody], in: lab)
    #expect(unavailable.ending == .exited(0))
  }

  @Test func watchesASite() async throws {
    let lab = try NetworkLab()
    let far = try NetworkLab()
    try lab.addVeth("v0", "far", peerIn: far)
    try lab.up("v0")
    try far.up("far")
    try lab.addAddress("10.0.0.1/24", "v0")
    try far.addAddress("10.0.0.2/24", "far")
    let site = try await LabSite(LabSite.fine, in: far, at: "10.0.0.2")
    let process = try Tool.start(["watch", "--site", "--json", site.url], in: lab)
    let keys = #""location":null,"stage":null,"error":"#
    let first = try await process.output.nextLine()
    #expect(first.contains(#""verdict":"available","status":204,"# + keys))
    try lab.down("v0")
    let second = try await process.output.nextLine()
    #expect(second.contains(#""verdict":"offline","status":null,"# + keys), "\(second)")
    try process.signal(SIGTERM)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGTERM))
  }
}
