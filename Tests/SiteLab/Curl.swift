// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation

/// curl(1), another client. What it accepts, a check must accept.
package enum Curl {
  package static let path: String? = ["/usr/bin/curl", "/bin/curl", "/usr/local/bin/curl"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// How it ended, and what it printed.
  package struct Result: Sendable {
    /// 0 if an answer came (curl(1), "Exit codes").
    package let status: Int32
    package let body: String
  }

  /// Sends a GET. It trusts only `root`, which is PEM. The environment and the user's configuration do not count.
  ///
  /// Keys and signatures must have 112 bits of security, whatever the system's configuration
  /// (SSL_CTX_set_security_level(3), level 2).
  package static func get(_ url: String, trusting root: String? = nil) async throws -> Result {
    guard let path else { throw CocoaError(.executableLoad) }
    var arguments = ["-q", "-s", "--noproxy", "*", "--max-time", "60", "--ciphers", "DEFAULT@SECLEVEL=2"]
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("dialtone-curl-\(UUID()).pem")
    if let root {
      try root.write(to: file, atomically: true, encoding: .utf8)
      arguments += ["--cacert", file.path]
    }
    // If the file cannot be removed, there is no one to tell.
    defer { if root != nil { _ = try? FileManager.default.removeItem(at: file) } }
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments + [url]
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    let status = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int32, any Error>) in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do {
        try process.run()
      } catch {
        continuation.resume(throwing: error)
      }
    }
    // It has ended: its whole output is there, and fits into the pipe.
    let body = output.fileHandleForReading.readDataToEndOfFile()
    return Result(status: status, body: String(decoding: body, as: UTF8.self))
  }
}
#endif
