// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import NetworkLab
import Testing

/// The built command, run inside a lab.
enum Tool {
  /// How it ended, and what it wrote.
  struct Result {
    let ending: LabProcess.Ending
    let output: String
    let error: String
  }

  /// Beside the test bundle.
  static let path: String = {
    var bytes = [CChar](repeating: 0, count: 4096)
    // readlink(2) writes at most as many bytes as it is told, and returns how many.
    let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
    let program = String(decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return program.prefix(upTo: program.lastIndex(of: "/") ?? program.startIndex) + "/dialtone"
  }()

  /// Colours depend only on what a test sets, not on the environment of the tests.
  private static let environment: [String: String?] = [
    "NO_COLOR": nil, "TERM": "xterm-256color", "TZ": "UTC",
    // Leaks are judged in the tests' own process: a command ends by exit(3), and leaves what its threads still use.
    "ASAN_OPTIONS": "detect_leaks=0",
  ]

  static func start(
    _ arguments: [String], in lab: NetworkLab, environment: [String: String?] = [:], terminal: LabTerminal? = nil,
    denying denial: LabDenial? = nil
  ) throws -> LabProcess {
    try lab.spawn(
      path, arguments, environment: Self.environment.merging(environment) { $1 }, terminal: terminal, denying: denial)
  }

  /// Runs it to its end.
  static func run(
    _ arguments: [String], in lab: NetworkLab, environment: [String: String?] = [:], terminal: LabTerminal? = nil,
    denying denial: LabDenial? = nil
  ) async throws -> Result {
    let process = try start(
      arguments, in: lab, environment: environment, terminal: terminal, denying: denial)
    let output = try await process.output.text(within: .seconds(60))
    let error = try await process.error.text(within: .seconds(60))
    return Result(ending: try await process.exit(within: .seconds(60)), output: output, error: error)
  }

  /// Runs it with `--timeout`: first a short one, then longer ones if the machine was too slow for a result.
  static func run(
    _ arguments: [String], untilTimeoutIn lab: NetworkLab, terminal: LabTerminal? = nil,
    denying denial: LabDenial? = nil, where hasCome: (Result) -> Bool
  ) async throws -> Result {
    for timeout in ["0.3", "1.5", "5"] {
      let result = try await run(arguments + ["--timeout", timeout], in: lab, terminal: terminal, denying: denial)
      if hasCome(result) { return result }
    }
    return try await run(arguments + ["--timeout", "20"], in: lab, terminal: terminal, denying: denial)
  }
}

extension LabStream {
  /// The next line, which must exist.
  func nextLine(within limit: Duration = .seconds(30)) async throws -> String {
    try #require(try await line(within: limit), "the output has ended")
  }
}

extension Trait where Self == ConditionTrait {
  /// Names the reason if the machine cannot.
  static var needsNamespaces: Self {
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")")
  }
}
