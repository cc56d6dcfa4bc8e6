// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import NetworkLab
import TestSupport
import Testing

/// A terminal emulator, tmux(1): a window of each width, in which commands are typed.
///
/// The windows' commands run at the same time, so that their waiting is waited for once.
final class Emulator {
  /// What is on the screen of a window.
  struct Picture {
    /// As the terminal has them.
    let lines: [String]
    /// With lines that the terminal has wrapped put together again.
    let joined: [String]
  }

  static let path: String? = {
    let places: [String] = ["/usr/bin/tmux", "/usr/local/bin/tmux", "/bin/tmux"]
    // The path is only read, during the call.
    return places.first { place in unsafe access(place, X_OK) == 0 }
  }()

  /// In columns, one for each window.
  let widths: [Int]
  private static let prompt = "READY-FOR-MORE"
  private static let border = "BETWEEN-TWO-SCREENS"
  private let lab: NetworkLab
  private let folder: TemporaryFolder
  private let server: LabProcess
  private var socket: String { folder.path + "/socket" }

  init(widths: [Int], in lab: NetworkLab) async throws {
    self.widths = widths
    self.lab = lab
    folder = try TemporaryFolder()
    let path = try #require(Self.path)
    let socket = folder.path + "/socket"
    server = try lab.spawn(
      path, ["-D", "-u", "-S", socket, "-f", "/dev/null"], environment: ["LC_ALL": "C.UTF-8", "TERM": "xterm-256color"])
    try await eventually("the emulator is there") { unsafe access(socket, F_OK) == 0 }
    try await forEach { window in
      // Each line that is read is a command; the screen is empty before it, and says when it is over.
      let shell = """
        stty -echo; trap : INT
        while read -r line
        do
          printf '\\033[2J\\033[H'; eval "$line"; printf '\\n%s\\n' '\(Self.prompt)'
          '\(path)' wait-for -S over-\(window)
        done
        """
      return [
        "new-session", "-d", "-s", "w\(window)", "-x", "\(widths[window])", "-y", "200", "env", "TERM=screen-256color",
        "NO_COLOR=1", "TZ=UTC", "sh", "-c", shell,
      ]
    }
  }

  deinit { unsafe unlink(socket) }

  /// Types a command in each window, and returns what they have left on the screens.
  func run(_ commands: [String]) async throws -> [Picture] {
    try await start(commands)
    try await waitForPrompts()
    return try await screens()
  }

  func start(_ commands: [String]) async throws {
    try await forEach { window in
      ["send-keys", "-t", "w\(window):", "-R", "-l", commands[window], ";", "send-keys", "-t", "w\(window):", "Enter"]
    }
  }

  /// Types it in each window.
  func type(_ key: String) async throws { try await forEach { ["send-keys", "-t", "w\($0):", key] } }

  func waitForPrompts() async throws {
    try await forEach { ["wait-for", "over-\($0)"] }
    // The shell has said so; tmux may not have read yet what it had written before.
    try await eventually("the commands are over") {
      try await shown([]).allSatisfy { $0.contains(Self.prompt) }
    }
  }

  func screens() async throws -> [Picture] {
    zip(try await shown([]), try await shown(["-J"])).map { lines, joined in
      Picture(lines: lines.filter { $0 != Self.prompt }, joined: joined.filter { $0 != Self.prompt })
    }
  }

  /// The lines of each window.
  private func shown(_ options: [String]) async throws -> [[String]] {
    let text = try await forEach {
      ["capture-pane", "-p", "-t", "w\($0):"] + options + [";", "display-message", "-p", Self.border]
    }
    var windows: [[String]] = [[]]
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line == Self.border { windows.append([]) } else { windows[windows.count - 1].append(line.trimmingBlanks) }
    }
    try #require(windows.count == widths.count + 1, "\(text)")
    return windows.dropLast()
  }

  /// Does this in each window, by one client, and returns what it prints.
  @discardableResult
  private func forEach(_ command: (Int) -> [String]) async throws -> String {
    let arguments = widths.indices.map(command).joined(separator: [";"])
    let client = try lab.spawn(
      try #require(Self.path), ["-u", "-S", socket] + arguments, environment: ["LC_ALL": "C.UTF-8", "TMUX": nil])
    let text = try await client.output.text()
    let error = try await client.error.text()
    try #require(try await client.exit() == .exited(0), "\(arguments): \(error)")
    return text
  }
}

extension Substring {
  fileprivate var trimmingBlanks: String { String(self[..<(lastIndex { $0 != " " }.map(index(after:)) ?? startIndex)]) }
}
