// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NetworkLab
import TestSupport
import Testing

@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct ExportProcessTests {
  /// A command line, and what names the argument and the remedy on standard error.
  static let wrong: [(arguments: [String], words: [String])] = [
    (["--listen", "9115"], ["--listen", "127.0.0.1:9115"]), (["--listen", "::1:9115"], ["--listen", "[::1]:9115"]),
    (["--listen", ":9115"], ["--allow", "127.0.0.1"]), (["--listen", "192.0.2.1:9115"], ["--allow"]),
    (["--listen", ":9115", "--allow", "192.0.2.0/33"], ["--allow", "0 to 32"]),
    (["--allow", "a b"], ["--allow"]), (["http://u:secret@example.com/"], ["user information"]),
    (["--config", ""], ["--config", "name is empty"]), (["--textfile", ""], ["--textfile", ".prom"]),
    (["--textfile", "/tmp"], ["--textfile", ".prom"]), (["--listen", "unix:@abs"], ["--listen", "unix:/run/"]),
    (["a..b"], ["TARGET"]), (["--nosuch"], ["--nosuch"]),
  ]

  @Test(arguments: wrong)
  func saysWhatIsWrong(_ arguments: [String], _ words: [String]) async throws {
    let result = try await Tool.run(["export"] + arguments, in: try NetworkLab())
    #expect(result.ending == .exited(64) && result.output.isEmpty)
    for word in words { #expect(result.error.contains(word), "\(result.error)") }
    #expect(!result.error.contains("secret") && result.error.contains("dialtone export --help"))
  }

  @Test func namesTheLineOfAConfiguration() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/modules.yml"
    try "modules:\n  a:\n    prober: icmp\n".write(toFile: path, atomically: true, encoding: .utf8)
    let lab = try NetworkLab()
    let wrong = try await Tool.run(["export", "--config", path], in: lab)
    #expect(wrong.ending == .exited(64) && wrong.error.contains("--config: \(path): line 3: "), "\(wrong.error)")
    try FileManager.default.removeItem(atPath: path)
    let missing = try await Tool.run(["export", "--config", path], in: lab)
    #expect(missing.ending == .exited(66) && missing.error.contains("--config: \(path): "), "\(missing.error)")
  }

  /// As blackbox_exporter: SIGHUP has the configuration read anew, and what it cannot read replaces nothing.
  @Test func readsItsConfigurationAnew() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/modules.yml"
    func write(_ text: String) throws {
      try "modules: {\(text)}\n".write(toFile: path, atomically: true, encoding: .utf8)
    }
    try write("a: {prober: http}")
    let lab = try NetworkLab()
    let process = try Tool.start(["export", "--config", path], in: lab)
    _ = try await process.error.nextLine()
    let probe = "http://127.0.0.1:9115/probe?target=127.0.0.1:1&module"
    #expect(try await curl("\(probe)=b", in: lab) == "Unknown module \"b\"\n")
    try write("b: {prober: tcp}")
    try process.signal(SIGHUP)
    #expect(try await process.error.nextLine() == "dialtone: the configuration was read anew")
    #expect(try await curl("\(probe)=b", in: lab).contains("\nprobe_success 0\n"))
    #expect(try await curl("\(probe)=a", in: lab) == "Unknown module \"a\"\n")
    try write("c: {prober: icmp}")
    try process.signal(SIGHUP)
    let line = try await process.error.nextLine()
    #expect(line.hasPrefix("dialtone: --config: \(path): line 1: ") && line.contains("stays in use"), "\(line)")
    #expect(try await curl("\(probe)=b", in: lab).contains("\nprobe_success 0\n"))
    let metrics = try await curl("http://127.0.0.1:9115/metrics", in: lab)
    #expect(metrics.contains("\nblackbox_exporter_config_last_reload_successful 0\n"))
    #expect(metrics.contains("\nblackbox_module_unknown_total 2\n"))
    try process.signal(SIGTERM)
    #expect(try await process.exit() == .signalled(SIGTERM))
    try FileManager.default.removeItem(atPath: path)
  }

  @Test func listensProbesAndEndsWithASignal() async throws {
    let lab = try NetworkLab()
    let site = try await LabSite(LabSite.fine, in: lab)
    let process = try Tool.start(["export", "--listen", "127.0.0.1:9115", site.url], in: lab)
    #expect(try await process.error.nextLine() == "dialtone: listening on http://127.0.0.1:9115/")
    let probe = try await curl("http://127.0.0.1:9115/probe?target=\(site.url)", in: lab)
    #expect(probe.contains("\nprobe_success 1\n") && probe.contains("\nprobe_http_status_code 204\n"), "\(probe)")
    // Only loopback is there: the machine itself is offline.
    try await eventually("the path of the machine is told") {
      try await curl("http://127.0.0.1:9115/metrics", in: lab).contains("\ndialtone_local_path_up 0\n")
    }
    try lab.makeB()
    for isUp in [true, false] {
      if !isUp { try lab.down("v1") }
      let sample = #"dialtone_path_up{interface="v0",kind="wired"} \#(isUp ? 1 : 0)"#
      try await eventually("the path over v0 is told") {
        try await curl("http://127.0.0.1:9115/metrics", in: lab).contains("\n\(sample)\n")
      }
    }
    try process.signal(SIGTERM)
    #expect(try await process.exit() == .signalled(SIGTERM))
  }

  /// getrlimit(2): the soft limit of descriptors, which a program may raise itself, is at its hard one.
  @Test func takesAsManyDescriptorsAsTheSystemGrants() async throws {
    let script = "ulimit -Sn 64; exec \(Tool.path) export --listen 127.0.0.1:9115"
    let process = try NetworkLab().spawn("/bin/sh", ["-c", script])
    #expect(try await process.error.nextLine() == "dialtone: listening on http://127.0.0.1:9115/")
    let limits = try String(contentsOfFile: "/proc/\(process.pid)/limits", encoding: .utf8)
    let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max open files") })
    let numbers = line.split(separator: " ").dropFirst(3).prefix(2)
    #expect(numbers.first == numbers.last && numbers.first != "64", "\(line)")
    try process.signal(SIGTERM)
    #expect(try await process.exit() == .signalled(SIGTERM))
  }

  /// A recorder and an exporter in one process: what is on an address that others reach probes for nobody.
  @Test(arguments: ["127.0.0.1:9115", ":9115"])
  func tellsPrometheusWhatIsRecorded(_ address: String) async throws {
    let lab = try NetworkLab()
    let site = try await LabSite(LabSite.fine, in: lab)
    let folder = try TemporaryFolder()
    let record = ["record", "--directory", folder.path, "--export", address, "internet"]
    let process = try Tool.start(record, in: lab)
    #expect(try await process.error.nextLine().hasPrefix("dialtone: listening on http://"))
    try await eventually("the target and the recorder are told") {
      let metrics = try await curl("http://127.0.0.1:9115/metrics", in: lab)
      return metrics.contains("\ndialtone_reachable{target=\"internet\"} 0\n")
        // start, begin and path, at least.
        && (sample("dialtone_journal_events_written_total", in: metrics) ?? 0) >= 3
        && sample("dialtone_journal_events_waiting", in: metrics) == 0
    }
    let probe = try await curl("http://127.0.0.1:9115/probe?target=\(site.url)", in: lab)
    #expect(probe.contains("\nprobe_success 1\n") == (address != ":9115"), "\(probe)")
    let second = try await Tool.run(
      ["record", "--directory", "\(folder.path)/other", "--export", address], in: lab)
    #expect(second.ending == .exited(74) && second.error.contains("cannot listen on \(address): "), "\(second)")
    try process.signal(SIGTERM)
    #expect(try await process.exit() == .signalled(SIGTERM))
  }

  private func sample(_ name: String, in metrics: String) -> Double? {
    metrics.split(separator: "\n").first { $0.hasPrefix("\(name) ") }.flatMap { Double($0.dropFirst(name.count + 1)) }
  }

  /// getaddrinfo(3), AI_ADDRCONFIG: a family that has an address on loopback alone is treated as switched off. It can
  /// listen there.
  @Test(arguments: [":9115", "[::1]:9115", "127.0.0.1:9115"])
  func listensWhereOnlyLoopbackHasIPv6(_ address: String) async throws {
    let lab = try NetworkLab()
    try lab.sysctl("ipv6/conf/default/disable_ipv6", 1)
    try lab.makeB()
    let folder = try TemporaryFolder()
    let process = try Tool.start(["record", "--directory", folder.path, "--export", address, "internet"], in: lab)
    let host = address == ":9115" ? "[::]:9115" : address
    #expect(try await process.error.nextLine() == "dialtone: listening on http://\(host)/")
    try process.signal(SIGTERM)
    #expect(try await process.exit() == .signalled(SIGTERM))
  }

  @Test func saysThatAPortIsTaken() async throws {
    let lab = try NetworkLab()
    let site = try await LabSite(LabSite.fine, in: lab)
    let result = try await Tool.run(["export", "--listen", "127.0.0.1:\(site.port)"], in: lab)
    #expect(result.ending == .exited(74) && result.error.contains("cannot listen on 127.0.0.1:\(site.port): "))
  }

  /// sd_listen_fds(3): the socket is number 3.
  @Test func listensOnTheSocketOfAServiceManager() async throws {
    let lab = try NetworkLab()
    let script = """
      import os, socket, sys
      s = socket.socket()
      s.bind(("127.0.0.1", 9116))
      s.listen()
      if s.fileno() != 3: os.dup2(s.fileno(), 3)
      os.set_inheritable(3, True)
      os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
      os.execv(sys.argv[1], sys.argv[1:])
      """
    let process = try lab.spawn("/usr/bin/python3", ["-c", script, Tool.path, "export"])
    #expect(try await process.error.nextLine() == "dialtone: listening on http://127.0.0.1:9116/")
    #expect(try await curl("http://127.0.0.1:9116/-/healthy", in: lab) == "Healthy\n")
    try process.signal(SIGINT)
    #expect(try await process.exit() == .signalled(SIGINT))
  }

  /// sd_listen_fds(3): what is closed, and what is no socket, is an error of the descriptor (EBADF, ENOTSOCK).
  @Test(arguments: [("3<&-", "Bad file descriptor"), ("3</dev/null", "Socket operation on non-socket")])
  func saysWhatIsNoSocketOfAServiceManager(redirection: String, reason: String) async throws {
    let script = "LISTEN_FDS=1 LISTEN_PID=$$ exec \(Tool.path) export \(redirection)"
    let process = try NetworkLab().spawn("/bin/sh", ["-c", script])
    let place = "the socket 3 of the service manager"
    #expect(try await process.error.text() == "dialtone: cannot listen on \(place): \(reason)\n")
    #expect(try await process.exit() == .exited(74))
  }

  @Test func writesAFileForNodeExporter() async throws {
    let lab = try NetworkLab()
    let folder = try TemporaryFolder()
    let path = folder.path + "/dialtone.prom"
    let process = try Tool.start(["export", "--textfile", path, "127.0.0.1"], in: lab)
    try await eventually("the file is there") { FileManager.default.fileExists(atPath: path) }
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.contains("dialtone_reachable{target=\"127.0.0.1\"} 1\n") && !text.contains("process_"), "\(text)")
    try process.signal(SIGTERM)
    #expect(try await process.exit() == .signalled(SIGTERM))
    try FileManager.default.removeItem(atPath: path)
  }

  private func curl(_ url: String, in lab: NetworkLab) async throws -> String {
    let process = try lab.spawn("/usr/bin/curl", ["-q", "-s", "--noproxy", "*", "--max-time", "60", url])
    let text = try await process.output.text()
    #expect(try await process.exit() == .exited(0))
    return text
  }
}
