// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Foundation
import NetworkLab
import SiteLab
import TestSupport
import Testing

/// What only the command as a whole shows: what it asks at a time, what it leaves on a terminal, and how it ends.
@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct EdgesProcessTests {
  /// A lab with a list of name servers of its own.
  private final class ListedLab {
    let lab: NetworkLab
    private let folder: TemporaryFolder
    private var file: String { folder.path + "/resolv.conf" }

    init(_ list: String) throws {
      lab = try NetworkLab(ownMounts: true)
      folder = try TemporaryFolder()
      try list.write(toFile: folder.path + "/resolv.conf", atomically: false, encoding: .utf8)
      try lab.bindMount(folder.path + "/resolv.conf", over: "/etc/resolv.conf")
    }

    // The path is only read, during the call.
    deinit { _ = unsafe unlink(file) }
  }

  /// Sites that never answer: no more are asked than are told to be. Without a reader nobody waits for them.
  @Test func checksAFewSitesAtATimeForAsLongAsSomebodyReads() async throws {
    let lab = try NetworkLab()
    let deaf = try await LabSite(nil, in: lab)
    let urls = (0..<5).map { "\(deaf.url)\($0)" }
    let process = try Tool.start(["check", "--timeout", "1000", "--concurrency", "2"] + urls, in: lab)
    try await eventually("two are asked") { deaf.requests.count >= 2 }
    process.output.close()
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGPIPE))
    #expect(deaf.requests.count == 2)
  }

  /// An interface's own name has up to 15 bytes (IFNAMSIZ of linux/if.h). `internet` is the Internet, even if something
  /// else has that name.
  @Test func saysThatALongNameIsAnInterface() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("internet", "fifteen-letters")
    let result = try await Tool.run(["status", "-t", "0.2", "internet", "fifteen-letters"], in: lab)
    #expect(
      result.error == "dialtone: \"fifteen-letters\" is taken for a host name; for the interface of that name, write: "
        + "--interface fifteen-letters\n")
  }

  @Test(arguments: ["wait", "watch"])
  func saysOfSitesThatAnInterfaceIsNotThere(command: String) async throws {
    let result = try await Tool.run(
      [command, "--site", "-i", "lp", "-t", "0.2", "http://127.0.0.1:1/"], in: try NetworkLab())
    #expect(
      result.error.hasPrefix("dialtone: --interface: there is no interface \"lp\" yet; did you mean lo?\n"),
      "\(result.error)")
  }

  /// As the help of `watch` says: a hook has a change held back for a second, if nothing else is asked for.
  @Test func aHookHasToWaitASecond() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let process = try Tool.start(["watch", "--exec", "true"], in: lab)
    #expect(try await process.output.nextLine().contains("  reachable  "))
    let start = ContinuousClock.now
    try lab.down("v1")
    #expect(try await process.output.nextLine().contains("  unreachable  "))
    #expect(start.duration(to: .now) >= .milliseconds(990))
    try process.signal(SIGTERM)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGTERM))
  }

  /// connect(2), ENETUNREACH: there is no way to the name server. It is asked once a second, and nobody else waits.
  @Test func aNameServerThatCannotBeAskedHasNotAnswered() async throws {
    let listed = try ListedLab("nameserver 192.0.2.53\n")
    let result = try await Tool.run(["wait", "--dns", "a.example", "-t", "300ms", "127.0.0.1"], in: listed.lab)
    #expect(result.ending == .exited(1), "\(result)")
  }

  /// Each question is one of its own, behind the targets. A datagram without a byte is no answer, and the next one is.
  @Test func waitsForTheAnswerToEachQuestion() async throws {
    let listed = try ListedLab("nameserver 127.0.0.9\n")
    // RFC 1035, 4.1.1: a response, with recursion available. The name does not exist (3).
    let script = """
      import socket
      s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
      s.bind(("127.0.0.9", 53))
      print("ready", flush=True)
      while True:
          question, sender = s.recvfrom(512)
          s.sendto(b"", sender)
          s.sendto(question[:2] + b"\\x81\\x83" + question[4:], sender)
      """
    let server = try listed.lab.spawn("/usr/bin/python3", ["-c", script])
    #expect(try await server.output.nextLine() == "ready")
    let result = try await Tool.run(
      ["wait", "--dns", "a.example", "--dns", "b.example", "127.0.0.1"], in: listed.lab)
    #expect(result.ending == .exited(0), "\(result)")
    #expect(result.output == "127.0.0.1  reachable    via loopback (lo), this machine\n")
  }

  /// What several targets lack is one shortage.
  @Test func saysOnceWhatRanOut() async throws {
    let lab = try NetworkLab()
    let result = try await Tool.run(["status", "internet", "127.0.0.1"], in: lab, denying: .netlinkSockets(EMFILE))
    #expect(result.output.split(separator: "\n").count == 2, "\(result)")
    #expect(result.error == "dialtone: the process has no file descriptor left; raise its limit (ulimit -n)\n")
  }

  // MARK: Terminals

  /// Its time is over before anything is known.
  @Test func takesItsProgressAwayAtTheEnd() async throws {
    let lab = try NetworkLab()
    let deaf = try await LabSite(nil, in: lab)
    let result = try await Tool.run(["watch", "--site", deaf.url], untilTimeoutIn: lab, terminal: LabTerminal()) {
      $0.output.contains("waiting for ")
    }
    #expect(result.output.contains("waiting for \(deaf.url) to answer, "), "\(result.output.debugDescription)")
    #expect(result.output.hasSuffix("\u{1B}[?7h\r\r\u{1B}[K"), "\(result.output.debugDescription)")
  }

  /// The line of progress is replaced, not taken away, while the wait goes on, and only so often.
  @Test func replacesItsProgress() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    try lab.down("v1")
    let start = ContinuousClock.now
    let process = try Tool.start(["wait"], in: lab, terminal: LabTerminal())
    var text = ""
    // The progress line has no end of its own; the terminal's echo ends it.
    func reads(_ reason: String) async throws {
      try await eventually(within: .seconds(60), "it shows \(reason)") {
        try process.type("\n")
        let line = try await process.output.nextLine()
        text += line + "\n"
        return line.contains("waiting for internet to be reachable: \(reason), ")
      }
    }
    try await reads("wired (v0), no carrier")
    // With carrier and route it would be reachable for a moment, and the wait would end.
    try lab.deleteRoute("default")
    try lab.up("v1")
    try await reads("no route to the destination")
    try process.signal(SIGTERM)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGTERM))
    text += try await process.output.text()
    let erased = text.ranges(of: "\r\u{1B}[K").count
    let shown = text.ranges(of: "\r\u{1B}[K\u{1B}[?7l").count
    #expect(erased - shown == 1, "the signal alone takes it away: \(text.debugDescription)")
    let most = 2 * Int(start.duration(to: .now) / .seconds(1)) + 20
    #expect(shown <= most, "it was shown \(shown) times")
  }

  /// The verdict takes the place of the progress, has what was found, and says how long that took.
  @Test func explainsWhatItHasFoundWhenItIsInterrupted() async throws {
    let lab = try NetworkLab()
    let site = try await LabSite(nil, in: lab)
    let process = try Tool.start(
      ["explain", "--verbose", site.url], in: lab, environment: ["NO_COLOR": "1"], terminal: LabTerminal(columns: 200))
    try await eventually("the site was asked") { !site.requests.isEmpty }
    try process.signal(SIGINT)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGINT))
    let output = try await process.output.text()
    let head = /\r\e\[KInterrupted after (<?\d+ ms|\d+(\.\d)? s)\. What was known then:\r\n/
    #expect(output.contains(head), "\(output.debugDescription)")
    #expect(output.contains("(table local)"), "\(output.debugDescription)")
  }

  // MARK: Exporters

  /// A signal ends it once what is asked has been answered.
  @Test func answersWhatItIsAskedBeforeItEnds() async throws {
    let lab = try NetworkLab()
    let (isAsked, mayAnswer) = (Box(false), Box(false))
    let site = try await SiteServer(
      SiteBehaviour { request in
        [.perform { isAsked.value = true }, .hold { mayAnswer.value }, .answer(204, to: request), .close]
      }, in: lab)
    let process = try Tool.start(["export", "--listen", "127.0.0.1:9115"], in: lab)
    #expect(try await process.error.nextLine() == "dialtone: listening on http://127.0.0.1:9115/")
    let url = "http://127.0.0.1:9115/probe?target=http://127.0.0.1:\(site.port)/"
    let curl = try lab.spawn("/usr/bin/curl", ["-q", "-s", "--noproxy", "*", "--max-time", "60", url])
    try await eventually("the site is asked") { isAsked.value }
    try process.signal(SIGTERM)
    mayAnswer.value = true
    let answer = try await curl.output.text()
    #expect(answer.contains("\nprobe_success 1\n"), "\(answer)")
    #expect(try await process.exit() == .signalled(SIGTERM))
  }

  /// A second after its beginning it writes the file, and says that it cannot.
  @Test func saysThatItCannotWriteTheFile() async throws {
    let process = try Tool.start(["export", "--textfile", "/nonexistent/file", "127.0.0.1"], in: try NetworkLab())
    let line = try await process.error.nextLine(within: .seconds(60))
    #expect(line == "dialtone: --textfile: /nonexistent/file: No such file or directory")
    try process.signal(SIGTERM)
    #expect(try await process.exit(within: .seconds(60)) == .signalled(SIGTERM))
  }

  /// It is ended no sooner than it is told.
  @Test func aHookHasAllOfItsTime() async throws {
    let start = ContinuousClock.now
    let result = try await Tool.run(
      ["watch", "--count", "1", "--settling", "0", "--exec-timeout", "1500ms", "--exec", "sleep", "1000"],
      in: try NetworkLab())
    #expect(start.duration(to: .now) >= .milliseconds(1490))
    #expect(result.error == "dialtone: --exec: sleep: was ended after 1.5 s; --exec-timeout gives it longer\n")
  }
}
