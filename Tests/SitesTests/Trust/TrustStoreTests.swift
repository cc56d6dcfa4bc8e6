// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import DialtoneSites

/// Which trusts are read anew, and which are kept.
@Suite(.timeLimit(.minutes(5)))
struct TrustStoreTests {
  /// The sources that were read, in their order.
  private let reads = Box<[String]>([])

  /// Reads no file, and trusts nobody.
  private func store(failing words: String? = nil) -> TrustStore {
    TrustStore { [reads] source in
      reads.update { $0.append(source.pem ?? source.place) }
      if let words { throw CertificateFile.Failure(words: words) }
      return try TrustSource(.file("/nowhere"), verifies: false).configuration()
    }
  }

  private func configuration(_ trust: SiteTrust) -> SiteCheckConfiguration {
    var configuration = SiteCheckConfiguration()
    configuration.trust = trust
    return configuration
  }

  /// Asks, and returns the error; `nil` if there is a context.
  private func ask(_ store: TrustStore, _ trust: SiteTrust) async -> SiteError? {
    await withCheckedContinuation { continuation in
      _ = store.ask(for: configuration(trust)) { result in
        switch result {
        case .success: continuation.resume(returning: nil)
        case .failure(let error): continuation.resume(returning: error)
        }
      }
    }
  }

  @Test func aTextIsReadOnce() async {
    let store = store()
    for _ in 0..<3 { #expect(await ask(store, .pem("a")) == nil) }
    #expect(reads.value == ["a"])
    #expect(await ask(store, .pem("b")) == nil)
    #expect(await ask(store, .pem("a")) == nil)
    #expect(reads.value == ["a", "b"], "another text does not take its place")
  }

  /// 16 are kept; the oldest makes way for the seventeenth.
  @Test func sixteenAreKept() async {
    let store = store()
    for number in 0..<16 { #expect(await ask(store, .pem("\(number)")) == nil) }
    for number in 0..<16 { #expect(await ask(store, .pem("\(number)")) == nil) }
    #expect(reads.value == (0..<16).map { "\($0)" })
    for text in ["16", "15", "1", "0"] { #expect(await ask(store, .pem(text)) == nil) }
    #expect(reads.value.dropFirst(16) == ["16", "0"])
  }

  @Test func aFileIsReadAgainOnceItHasChanged() async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("dialtone-trust-\(UUID()).pem").path
    #expect(FileManager.default.createFile(atPath: path, contents: Data("a".utf8)))
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: path) } }
    let store = store()
    for _ in 0..<3 { #expect(await ask(store, .file(path)) == nil) }
    #expect(reads.value == [path])
    try Data("longer".utf8).write(to: URL(fileURLWithPath: path))
    for _ in 0..<3 { #expect(await ask(store, .file(path)) == nil) }
    #expect(reads.value == [path, path])
    // It takes its own former place, and no other's.
    #expect(await ask(store, .pem("x")) == nil)
    for _ in 0..<2 { #expect(await ask(store, .file(path)) == nil) }
    #expect(reads.value == [path, path, "x"])
  }

  @Test func whatCouldNotBeReadIsTriedAgain() async {
    let store = store(failing: "it is empty")
    for _ in 0..<2 {
      let error = await ask(store, .pem("a"))
      #expect(error?.code == .trustUnreadable)
      #expect(error?.message == "the trusted certificates could not be read (text): it is empty")
    }
    #expect(await ask(store, .file("/a/b"))?.message.contains("(/a/b): it is empty") == true)
    #expect(reads.value == ["a", "a", "/a/b"])
  }

  /// What is asked of TLS makes another context of the same source.
  @Test func anInspectionHasAContextOfItsOwn() async {
    let store = store()
    var checking = configuration(.pem("a"))
    for announces in [true, false, true] {
      var inspection = SiteInspection()
      inspection.endsWithConnection = !announces
      checking.inspection = inspection
      let asked = checking
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        _ = store.ask(for: asked) { _ in continuation.resume() }
      }
    }
    #expect(reads.value == ["a", "a"])
  }
}
