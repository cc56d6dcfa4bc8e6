// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import NetworkLab
import TestSupport
import Testing

/// The command on a system that has next to nothing left: it says so, and ends in time, without a signal.
@Suite(
  .needsNamespaces,
  .disabled(if: isSanitized, "a sanitizer has threads and descriptors of its own, and survives no fork"),
  .timeLimit(.minutes(10)))
struct ScarcityProcessTests {
  private static let shell = "/bin/bash"
  // The path is only read, during the call.
  private static var hasShell: Bool { unsafe access(shell, X_OK) == 0 }

  /// Runs the command with a limit of `ulimit`.
  private func run(
    _ arguments: String, limit: String, user: UInt32? = nil, in lab: NetworkLab
  ) async throws -> Tool.Result {
    let process = try lab.spawn(
      Self.shell, ["-c", "ulimit -c 0; ulimit \(limit); exec \(Tool.path) \(arguments)"], user: user)
    let output = try await process.output.text(within: .seconds(60))
    let error = try await process.error.text(within: .seconds(60))
    return Tool.Result(ending: try await process.exit(within: .seconds(60)), output: output, error: error)
  }

  @Test(
    "no descriptor is left for an engine", .enabled(if: hasShell, "needs bash"), arguments: [4, 5, 6, 7, 8, 10, 12, 16])
  func endsWithFewDescriptors(count: Int) async throws {
    let lab = try NetworkLab()
    for command in ["wait --timeout 0.3 192.0.2.1", "status --timeout 0.3 192.0.2.1", "watch --count 1 192.0.2.1"] {
      let result = try await run(command, limit: "-n \(count)", in: lab)
      // To wait for the output takes at least two descriptors; with fewer, the command says so.
      let allowed: [LabProcess.Ending] = count < 5 ? [.exited(71), .exited(74)] : [.exited(0), .exited(1), .exited(2)]
      #expect(allowed.contains(result.ending), "\(command): \(result)")
      #expect(count < 5 || result.output.split(separator: "\n").count == 1, "\(command): \(result)")
    }
    let check = try await run("check --timeout 2 http://127.0.0.1:9/", limit: "-n \(count)", in: lab)
    if count < 5 { return #expect([.exited(71), .exited(74)].contains(check.ending), "\(check)") }
    #expect(check.ending == .exited(1), "\(check)")
    #expect(check.output.contains("failed"), "\(check)")
  }

  /// Who can ask only in part does not say what it has not asked: the default is what it is, or is not told.
  @Test("too few descriptors are left to ask for the default", .enabled(if: hasShell, "needs bash"))
  func listsNoInterfacesInPart() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("eth0", "peer")
    for name in ["eth0", "peer"] { try lab.up(name) }
    try lab.waitUntilRunning("eth0")
    try lab.addAddress("192.0.2.2/24", "eth0")
    try lab.addRoute("default", via: "192.0.2.1", dev: "eth0")
    var statuses: Set<LabProcess.Ending> = []
    for count in 5...14 {
      let result = try await run("interfaces --json eth0", limit: "-n \(count)", in: lab)
      #expect(result.ending == .exited(2) || result.output.contains("\"default\":true"), "\(count): \(result)")
      statuses.insert(result.ending)
    }
    #expect(statuses == [.exited(0), .exited(2)])
  }

  /// A limit of the address space (setrlimit(2), RLIMIT_AS) leaves no room for threads' stacks at some size.
  @Test("the address space is small", .enabled(if: hasShell, "needs bash"))
  func endsInTimeWithLittleAddressSpace() async throws {
    let lab = try NetworkLab()
    try lab.up("lo")
    for megabytes in stride(from: 60, through: 360, by: 30) {
      let limit = "-v \(megabytes * 1_000)"
      let explain = try await run("explain --no-probe -t 2 127.0.0.1:9", limit: limit, in: lab)
      // What is not there for the dynamic linker, 127, is no matter of the command.
      let endings: [LabProcess.Ending] = [.exited(1), .exited(2), .exited(71), .exited(127)]
      #expect(endings.contains(explain.ending), "\(limit): \(explain)")
      let check = try await run("check --timeout 2 http://127.0.0.1:9/", limit: limit, in: lab)
      #expect([.exited(1), .exited(71), .exited(127)].contains(check.ending), "\(limit): \(check)")
    }
  }

  /// An event loop that gets no descriptor would end the process with a signal.
  @Test(
    "too few descriptors are left for an exporter", .enabled(if: hasShell, "needs bash"), arguments: [8, 16, 20, 60])
  func exportsNothingWithFewDescriptors(count: Int) async throws {
    let lab = try NetworkLab()
    let folder = try TemporaryFolder()
    for command in ["export", "record --directory \(folder.path)/j --export 127.0.0.1:9115 internet"] {
      let result = try await run(command, limit: "-n \(count)", in: lab)
      #expect(result.ending == .exited(71) && result.error.contains("raise its limit (ulimit -n)"), "\(result)")
    }
  }

  @Test("no thread can be started")
  func endsWithoutThreads() async throws {
    let lab = try NetworkLab()
    for command in ["wait", "status", "watch"] {
      let result = try await Tool.run([command, "--timeout", "0.3", "127.0.0.1"], in: lab, denying: .threads)
      #expect(result.ending == .exited(2), "\(command): \(result)")
      #expect(result.output.split(separator: "\n").count == 1, "\(command): \(result)")
      // It is a shortage, and the network's state was not denied.
      #expect(result.output.contains("no more threads") && result.error.contains("ulimit -u"), "\(command): \(result)")
    }
    let explain = try await Tool.run(["explain", "127.0.0.1"], in: lab, denying: .threads)
    #expect(explain.ending == .exited(71) && explain.error.contains("no more threads"), "\(explain)")
    let check = try await Tool.run(["check", "--timeout", "2", "http://127.0.0.1:9/"], in: lab, denying: .threads)
    #expect(check.ending == .exited(1), "\(check)")
    #expect(check.output.contains("failed") && check.output.contains("thread"), "\(check)")
    for command in ["wait", "watch"] {
      let result = try await Tool.run(
        [command, "--timeout", "0.5", "--site", "http://127.0.0.1:9/"], in: lab, denying: .threads)
      #expect([.exited(1), .exited(2)].contains(result.ending), "\(command) --site: \(result)")
    }
  }

  @Test(
    "only a few threads can be started", .enabled(if: hasShell && NetworkLab.canSwitchUser, "needs another user"),
    arguments: [1, 2, 3, 4, 6, 8, 12])
  func endsWithFewThreads(count: Int) async throws {
    let lab = try NetworkLab()
    // A user without other processes: the limit is per user, and other counts are tried meanwhile.
    let user = UInt32(47_110 + count)
    let wait = try await run("wait --timeout 1 127.0.0.1", limit: "-u \(count)", user: user, in: lab)
    #expect([.exited(0), .exited(1), .exited(2)].contains(wait.ending), "\(wait)")
    #expect(wait.ending != .exited(2) || wait.output.contains("no more threads"), "\(wait)")
    let start = ContinuousClock.now
    let check = try await run("check --timeout 2 http://127.0.0.1:9/", limit: "-u \(count)", user: user, in: lab)
    // No server listens there, so the check fails in any case.
    #expect(check.ending == .exited(1), "\(check)")
    #expect(start.duration(to: .now) < .seconds(30))
  }

  @Test("without /proc the arguments are what was typed")
  func readsItsArgumentsWithoutProc() async throws {
    let lab = try NetworkLab(ownMounts: true)
    let empty = try TemporaryFolder()
    defer { withExtendedLifetime(empty) {} }
    let path = Tool.path
    try lab.bindMount(empty.path, over: "/proc")
    let process = try lab.spawn(path, ["wait", "--timeout", "0.2", "192.0.2.1"])
    #expect(try await process.exit(within: .seconds(60)) == .exited(1))
    #expect(try await process.output.text() == "192.0.2.1  unreachable  no route to the destination\n")
    // libdispatch ends the process with SIGILL if it cannot read /proc/self/task/…/stat.
    for arguments in [["record", "--directory", empty.path + "/j", "127.0.0.1"], ["explain"], ["export"]] {
      let process = try lab.spawn(path, arguments)
      #expect(try await process.exit(within: .seconds(60)) == .exited(71))
      #expect(try await process.error.text() == "dialtone: /proc/self/stat: No such file or directory\n")
    }
    let version = try lab.spawn(path, ["--version"])
    #expect(try await version.exit(within: .seconds(60)) == .exited(0))
    let wrong = try lab.spawn(path, ["--nosuch"])
    #expect(try await wrong.exit(within: .seconds(60)) == .exited(64))
    #expect(try await wrong.error.text().contains("--nosuch"))
    // Swift's runtime is told of some root there (SWIFT_ROOT), and nobody else.
    let hook = ["--exec", "sh", "-c", "echo ${SWIFT_ROOT-none}"]
    let watch = try lab.spawn(path, ["watch", "--count", "1", "--settling", "0", "127.0.0.1"] + hook)
    #expect(try await watch.exit(within: .seconds(60)) == .exited(0))
    #expect(try await watch.error.text() == "none\n")
  }
}
