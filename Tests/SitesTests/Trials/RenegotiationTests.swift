// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSites
import Foundation
import SiteLab
import TestSupport
import Testing

/// Servers of TLS 1.2 that renegotiate before they answer, as Apache does for a page with rules of its own.
@Suite(.timeLimit(.minutes(5)))
struct RenegotiationTests {
  private static let openssl = "/usr/bin/openssl"

  /// s_server(1): an R has it renegotiate, and other lines are sent.
  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: openssl), "openssl is not installed"))
  func aSiteMayRenegotiateOnce() async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("dialtone-renegotiation-\(UUID()).pem")
    let identity = try Trust.identity.get()
    try (identity.certificates + identity.key).write(to: file, atomically: true, encoding: .utf8)
    let (server, input, output, text) = (Process(), Pipe(), Pipe(), Box(""))
    server.executableURL = URL(fileURLWithPath: Self.openssl)
    // With a protocol chosen, a site that closes is not asked by another version.
    server.arguments =
      ["s_server", "-accept", "127.0.0.1:0", "-cert", file.path, "-tls1_2", "-alpn", "http/1.1", "-crlf"]
    (server.standardInput, server.standardOutput, server.standardError) = (input, output, FileHandle.nullDevice)
    output.fileHandleForReading.readabilityHandler = { handle in
      let more = String(decoding: handle.availableData, as: UTF8.self)
      text.update { $0 += more }
    }
    try server.run()
    defer {
      server.terminate()
      output.fileHandleForReading.readabilityHandler = nil
      #expect(throws: Never.self) { try FileManager.default.removeItem(at: file) }
    }
    func said(_ words: Regex<Substring>) async throws {
      try await eventually(within: .seconds(60), "s_server goes on") { text.value.contains(words) }
    }
    try await said(/ACCEPT .*\n/)
    let port = try #require(text.value.firstMatch(of: /ACCEPT 127\.0\.0\.1:([0-9]+)/)?.1)
    async let verdict = check(try SiteURL("https://127.0.0.1:\(port)/"))
    try await said(/HEAD \/ HTTP/)
    try input.fileHandleForWriting.write(contentsOf: Data("R\n".utf8))
    try await said(/SSL_do_handshake -> 1\n/)
    try input.fileHandleForWriting.write(contentsOf: Data("HTTP/1.1 204 No Content\n\n".utf8))
    let found = try await verdict
    #expect(found.kind == .available && found.status == 204, "\(found)")
  }
}
#endif
