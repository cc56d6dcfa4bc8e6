// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A program of the machine, run to its end.
enum Program {
  /// Where it is; `nil` if it is not installed.
  static func path(_ name: String) -> String? {
    ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"].map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  struct Result {
    let status: Int32
    let output: String
  }

  /// Runs it with this text as its input. Its output and errors come as one text.
  static func run(_ path: String, _ arguments: [String], input: String = "") async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("dialtone-program-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { removeItem(folder) }
    // Files, since a pipe that is full would block it.
    let (inputFile, outputFile) = (folder.appendingPathComponent("in"), folder.appendingPathComponent("out"))
    try input.write(to: inputFile, atomically: true, encoding: .utf8)
    try Data().write(to: outputFile)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    let output = try FileHandle(forWritingTo: outputFile)
    process.standardInput = try FileHandle(forReadingFrom: inputFile)
    process.standardOutput = output
    process.standardError = output
    let status = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int32, any Error>) in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do {
        try process.run()
      } catch {
        continuation.resume(throwing: error)
      }
    }
    return Result(status: status, output: try String(contentsOf: outputFile, encoding: .utf8))
  }

  static func removeItem(_ url: URL) {
    do {
      try FileManager.default.removeItem(at: url)
    } catch {
      // It is in the folder of temporary files, and nobody can be told.
    }
  }
}

enum Python {
  static let path = Program.path("python3")

  static func run(_ script: String, input: String) async throws -> String {
    guard let path else { throw CocoaError(.executableLoad) }
    return try await Program.run(path, ["-c", script], input: input).output
  }
}
