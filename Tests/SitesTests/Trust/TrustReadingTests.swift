// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import Foundation
import NIOSSL
import NetworkLab
import SiteLab
import TestSupport
import Testing

@testable import DialtoneSites

/// Files of certificates that take long, or never end.
@Suite(.timeLimit(.minutes(5)))
struct TrustReadingTests {
  /// A pipe without a writer, and a device that never ends.
  @Test func onlyRegularFilesAreRead() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("dialtone-pipe-\(UUID())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: folder) } }
    #expect(unsafe mkfifo("\(folder)/pipe", 0o600) == 0)
    let server = try await SiteServer(.answer(204), .secure)
    for path in ["\(folder)/pipe", "/dev/zero", folder] {
      let verdict = try await check(server.url(.secure)) { $0.trust = .file(path) }
      #expect(verdict.kind == .failed && verdict.error?.code == .trustUnreadable, "\(path): \(verdict)")
      #expect(verdict.error?.message.contains("no regular file") == true, "\(verdict)")
    }
    #expect(server.connections.allSatisfy { $0.received.isEmpty })
  }

  /// openssl-rehash(1): eight hexadecimal digits of a hash, a dot, and a number.
  @Test func onlyFilesNamedByAHashAreLookedFor() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("dialtone-hashes-\(UUID())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: folder) } }
    for name in [
      "abc.0", "5ad8a5d.0", "5ad8a5d6f.0", "5ad8a5dg.0", "5ad8a5d6", "5ad8a5d6.", "5ad8a5d6.r0", "5ad8a5d6.0.0",
      "5ad8a5d6.0", "00000000.12",
    ] {
      #expect(FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: nil))
    }
    #expect(CertificateDirectory.files(in: folder) == ["\(folder)/00000000.12", "\(folder)/5ad8a5d6.0"])
    #expect(CertificateDirectory.files(in: "\(folder)/nothing").isEmpty)
  }

  /// One that has expired would hide a successor of its name and key; for curl it does not.
  @Test func expiredCertificatesAreLeftOutUnlessAllAre() throws {
    let mark = "-----BEGIN CERTIFICATE-----"
    let texts = try SiteIdentity("expired").certificates.components(separatedBy: mark).dropFirst().map { mark + $0 }
    // The server's own ended in 2001, its authority's does not before 2049.
    let (expired, valid) = (try #require(texts.first), try #require(texts.last))
    for (given, kept) in [
      (expired + valid, valid), (valid + expired, valid), (valid, valid), (expired, expired),
    ] {
      let configuration = try TrustSource(.pem(given)).configuration()
      #expect(try configuration.trustRoots == .certificates(NIOSSLCertificate.fromPEMBytes(Array(kept.utf8))))
    }
  }

  /// A file on a network that hangs: anything but `pem` is read only when the latch opens.
  private static func environment(_ latch: Latch) -> SiteEnvironment {
    let store = TrustStore { source in
      if source.pem == nil { latch.wait() }
      return try TrustSource(try Trust.trust()).configuration()
    }
    return SiteEnvironment(
      provider: SiteEngineProvider(
        reachability: .system, group: nil, maximumChecks: 256, random: { 0 }, perform: nil, trust: store))
  }

  @Test func aFileThatHangsDelaysOnlyItsOwnChecks() async throws {
    let server = try await SiteServer(.answer(204), .secure)
    let url = try server.url(.secure)
    let latch = Latch()
    defer { latch.open() }
    let environment = Self.environment(latch)
    // It ends within the deadline, and one thread reads for all.
    for _ in 0..<2 {
      let verdict = try await check(url, in: environment) {
        $0.trust = .file("/nowhere")
        $0.timeout = .milliseconds(200)
      }
      #expect(verdict.kind == .failed && verdict.stage == .tls && verdict.error?.code == .timedOut, "\(verdict)")
    }
    #expect(latch.count == 1)
    // No other check waits.
    #expect(try await check(url, in: environment).kind == .available)
    // A cancellation takes effect at once.
    let task = Task { try await check(url, in: environment) { $0.trust = .file("/nowhere") } }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(latch.count == 1)
    // A check that still waits when the file has been read gets the result.
    async let verdict = check(url, in: environment) { $0.trust = .file("/nowhere") }
    latch.open()
    #expect(try await verdict.kind == .available)
  }
}
#endif
