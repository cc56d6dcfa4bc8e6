// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

extension NetworkLab {
  /// Whether the command `ip` of iproute2 exists. Tests compare with it what the lab made, and what is reachable.
  package static var hasIPRoute2: Bool { ipPath != nil }

  /// Runs `ip` inside the lab and waits for it (some 2 ms): `try lab.ip("route get fibmatch 198.41.0.4")`.
  package func ip(_ arguments: String) throws -> LabOutput {
    try runIP(arguments.split(separator: " ").map(String.init))
  }

  /// Runs many commands in one `ip -batch`. Returns an answer for each, `nil` if it failed.
  ///
  /// Each must answer with one record, as `route get` does: its lines come as one, separated by backslashes.
  package func ip(batch commands: [String]) throws -> [String?] {
    let result = try runIP(["-oneline", "-force", "-batch", "-"], input: commands.map { $0 + "\n" }.joined())
    // "Command failed -:3" names the line.
    let failed = Set(
      result.error.split(separator: "\n").compactMap { line in
        line.hasPrefix("Command failed -:") ? line.split(separator: ":").last.flatMap { Int($0) } : nil
      })
    var answers = result.output.split(separator: "\n").makeIterator()
    return commands.indices.map { failed.contains($0 + 1) ? nil : answers.next().map(String.init) }
  }

  private func runIP(_ arguments: [String], input: String? = nil) throws -> LabOutput {
    guard let path = Self.ipPath else { throw LabError("iproute2 is not installed") }
    let process = try spawn(path, arguments, environment: ["LC_ALL": "C"], input: input)
    let limit = Duration.seconds(30)
    // Errors are read second: they are few, and fit into the pipe.
    let output = try process.output.readAll(within: limit)
    let error = try process.error.readAll(within: limit)
    guard case .exited(let status) = try process.waitForExit(within: limit) else { throw LabError("ip was killed") }
    return LabOutput(status: status, output: output, error: error)
  }

  private static let ipPath = command("ip")

  /// The path of a command of the system.
  static func command(_ name: String) -> String? {
    let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? ""  // The tests do not change it.
    let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]
    return folders.map { "\($0)/\(name)" }.first { unsafe access($0, X_OK) == 0 }
  }
}
#endif
