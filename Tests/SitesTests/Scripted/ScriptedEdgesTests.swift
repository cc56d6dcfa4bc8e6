// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import DialtoneSitesTesting
import DialtoneTesting
import TestSupport
import Testing

/// Rarer turns of scripted sites.
@Suite(.timeLimit(.minutes(5)))
struct ScriptedEdgesTests {
  private let network = ScriptedNetwork()
  private let sites: ScriptedSites
  private let url: SiteURL = "http://example.com/"

  init() {
    sites = ScriptedSites(on: network)
    network.set(.wifi)
  }

  private func check(_ url: SiteURL) async throws -> SiteVerdict {
    try await SiteCheck(url, environment: sites.environment).run()
  }

  /// The site would answer at once, without anything to wait for.
  @Test func aCheckThatIsCancelledBeforeItBeginsHasNoVerdict() async throws {
    sites.set(.status(200), for: url)
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await check(url)
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  /// The request has been sent, whatever comes of it: the deadline finds the check waiting for the answer.
  @Test(arguments: [
    ScriptedAnswer.failure(at: .response, SiteError(.connectionLost, "gone")).after(.seconds(20)),
    .failure(at: .body, SiteError(.connectionLost, "gone")).after(.seconds(20)), .portal.after(.seconds(20)),
    .status(200).after(.seconds(20)),
  ])
  func theDeadlineComesBeforeALateAnswer(_ answer: ScriptedAnswer) async throws {
    sites.set(answer, for: url)
    async let verdict = check(url)
    try await sites.waitUntilChecked(url)
    network.clock.advance(by: .seconds(15))
    let found = try await verdict
    #expect(found.kind == .failed && found.stage == .response && found.error?.code == .timedOut, "\(found)")
    #expect(found.timings.total == .seconds(15))
  }

  @Test(arguments: [ScriptedAnswer.status(200), .status(404), .portal])
  func anAnswerHasAFirstByte(_ answer: ScriptedAnswer) async throws {
    sites.set(answer, for: url)
    let verdict = try await check(url)
    #expect(verdict.timings.firstByte == .zero && verdict.timings.connect == .zero && verdict.timings.total == .zero)
    #expect(verdict.timings.name == .zero && verdict.timings.tls == nil)
  }

  @Test func anAnswerOverTLSHasATimeOfTLS() async throws {
    sites.set(.status(200).after(.seconds(2)), for: "https://example.com/")
    async let verdict = check("https://example.com/")
    try await sites.waitUntilChecked("https://example.com/")
    network.clock.advance(by: .seconds(2))
    let timings = try await verdict.timings
    #expect(timings.tls == .zero && timings.firstByte == .seconds(2) && timings.total == .seconds(2))
  }

  @Test func answersComeInTheirOrderAndTheLastOneStays() async throws {
    sites.set(.status(200), .portal, .status(404), for: url)
    #expect(sites.checkCount(of: url) == 0 && sites.checkCount(of: "http://example.net/") == 0)
    var statuses: [Int?] = []
    for _ in 0..<5 { statuses.append(try await check(url).status) }
    #expect(statuses == [200, 302, 404, 404, 404] && sites.checkCount(of: url) == 5)
    // Another path of the same host is another site; another spelling of the same one is not.
    #expect(sites.checkCount(of: "http://example.com/x") == 0 && sites.checkCount(of: "HTTP://EXAMPLE.com:80") == 5)
    try await sites.waitUntilChecked(url, times: 5)
    sites.set([], for: url)
    #expect(try await check(url).error?.code == .cannotConnect)
  }

  @Test func eachWaiterWaitsForItsOwnCount() async throws {
    sites.set(.status(200), for: url)
    let order = Box<[Int]>([])
    let waiting = [2, 1].map { count in
      Task.immediate {
        try await sites.waitUntilChecked(url, times: count)
        order.update { $0.append(count) }
      }
    }
    let other = Task.immediate { try await sites.waitUntilChecked("http://example.net/") }
    _ = try await check(url)
    try await waiting[1].value
    #expect(order.value == [1])
    _ = try await check(url)
    try await waiting[0].value
    #expect(order.value == [1, 2])
    // A check of another site is none of this one.
    _ = try await check("http://example.net/")
    try await other.value
  }
}
