// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
import SiteLab
import TestSupport
import Testing

@testable import DialtoneSites

/// SSL_CERT_FILE and SSL_CERT_DIR. Each test has a process of its own, because the environment is the whole process's.
@Suite(.serialized, .timeLimit(.minutes(5)), .threadsApart)
struct TrustEnvironmentTests {
  /// A folder that is removed at the end of this object.
  private final class Folder {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("dialtone-trust-\(UUID())").path

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit {
      // If the folder cannot be removed, there is no one to tell.
      _ = try? FileManager.default.removeItem(atPath: path)
    }

    /// Writes the text to a file in it, and returns its path.
    @discardableResult
    func write(_ text: String, _ name: String) throws -> String {
      try text.write(toFile: "\(path)/\(name)", atomically: true, encoding: .utf8)
      return "\(path)/\(name)"
    }
  }

  private static let openssl = "/usr/bin/openssl"

  /// The verdict on the trials' own server, with the authorities of the environment.
  private static func verdict(_ server: SiteServer) async throws -> SiteVerdict {
    try await check(server.url(.secure)) { $0.trust = .system }
  }

  private static func expectNoTrust(_ verdict: SiteVerdict) {
    #expect(verdict.kind == .failed && verdict.stage == .tls, "\(verdict)")
    #expect(verdict.error?.code == .trustUnreadable, "\(verdict)")
    #expect(verdict.error?.message.contains("there are none") == true, "\(verdict)")
  }

  /// The name under which openssl looks for a certificate.
  private static func hashedName(of file: String) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: openssl)
    process.arguments = ["x509", "-hash", "-noout", "-in", file]
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text.trimmingCharacters(in: .whitespacesAndNewlines) + ".0"
  }

  @Test func aFileIsBelieved() async {
    await #expect(processExitsWith: .success) {
      let server = try await SiteServer(.answer(204), .secure)
      let folder = try Folder()
      unsafe setenv("SSL_CERT_FILE", try folder.write(Trust.authority.get(), "root.pem"), 1)
      #expect(try await Self.verdict(server).kind == .available)
      // The file is read anew if it has changed. From then on its new certificates count.
      try folder.write(SiteIdentity("nobody").certificates, "root.pem")
      #expect(try await Self.verdict(server).kind == .intercepted)
      unsafe unsetenv("SSL_CERT_FILE")
      #expect(try await Self.verdict(server).kind != .available)
    }
  }

  @Test func aFileThatIsNotThereIsAMistake() async {
    await #expect(processExitsWith: .success) {
      let server = try await SiteServer(.answer(204), .secure)
      unsafe setenv("SSL_CERT_FILE", "/nowhere/root.pem", 1)
      let verdict = try await Self.verdict(server)
      #expect(verdict.kind == .failed && verdict.error?.code == .trustUnreadable, "\(verdict)")
      #expect(server.connections.allSatisfy { $0.received.isEmpty })
    }
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: openssl), "openssl is not installed"))
  func aDirectoryIsBelieved() async {
    await #expect(processExitsWith: .success) {
      unsafe unsetenv("SSL_CERT_FILE")
      let server = try await SiteServer(.answer(204), .secure)
      let folder = try Folder()
      let elsewhere = try Folder()
      let root = try Trust.authority.get()
      try folder.write(root, try Self.hashedName(of: elsewhere.write(root, "root.pem")))
      unsafe setenv("SSL_CERT_DIR", folder.path, 1)
      #expect(try await Self.verdict(server).kind == .available)
      // A file name that is no hash is not looked for.
      unsafe setenv("SSL_CERT_DIR", elsewhere.path, 1)
      Self.expectNoTrust(try await Self.verdict(server))
    }
  }

  @Test func eachOfSeveralDirectoriesIsBelieved() async {
    await #expect(processExitsWith: .success) {
      unsafe unsetenv("SSL_CERT_FILE")
      let server = try await SiteServer(.answer(204), .secure)
      let empty = try Folder()
      let folder = try Folder()
      try folder.write(Trust.authority.get(), "00000000.0")
      unsafe setenv("SSL_CERT_DIR", "/nowhere:\(empty.path):\(folder.path)", 1)
      #expect(try await Self.verdict(server).kind == .available)
      unsafe setenv("SSL_CERT_DIR", "/nowhere:\(empty.path)", 1)
      Self.expectNoTrust(try await Self.verdict(server))
    }
  }

  /// Without any authority no site can be believed, and that is not the site's fault.
  @Test func aCheckFailsIfNoAuthorityIsTrusted() async {
    await #expect(processExitsWith: .success) {
      unsafe unsetenv("SSL_CERT_FILE")
      let server = try await SiteServer(.answer(204), .secure)
      unsafe setenv("SSL_CERT_DIR", "/nowhere", 1)
      Self.expectNoTrust(try await Self.verdict(server))
      #expect(server.connections.allSatisfy { $0.received.isEmpty })
      // Over http no authority is needed.
      let plain = try await SiteServer(.answer(204), .plain)
      #expect(try await check(plain.url(.plain)) { $0.trust = .system }.kind == .available)
      let folder = try Folder()
      unsafe setenv("SSL_CERT_FILE", try folder.write("", "empty.pem"), 1)
      #expect(try await Self.verdict(server).error?.code == .trustUnreadable)
    }
  }

  /// A system without the package of the authorities, such as a small container.
  @Test func aSystemWithoutAuthoritiesIsToldWhatToInstall() async {
    await #expect(processExitsWith: .success) {
      for name in ["SSL_CERT_FILE", "SSL_CERT_DIR"] { unsafe unsetenv(name) }
      let folder = try Folder()
      let places = TrustSource.Places(
        files: ["/nowhere/a.pem", "\(folder.path)/b.pem"], directories: ["/nowhere", folder.path])
      let failure = try #require(
        #expect(throws: CertificateFile.Failure.self) {
          _ = try TrustSource(.system, places: places).configuration()
        })
      #expect(failure.words.contains("ca-certificates"), "\(failure)")
      for name in ["b.pem", "00000000.0"] {
        let file = try folder.write(Trust.authority.get(), name)
        #expect(throws: Never.self) { _ = try TrustSource(.system, places: places).configuration() }
        try FileManager.default.removeItem(atPath: file)
      }
    }
  }
}
#endif
