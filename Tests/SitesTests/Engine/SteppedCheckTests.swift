// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import DialtoneSites

/// Checks by a clock that a test moves. They get no path, or no address: none of them connects.
@Suite(.timeLimit(.minutes(5)))
struct SteppedCheckTests {
  private static let address = IPAddress(ipv4: 0xC000_0207)

  private struct Lab {
    /// Kept: one that is released with something left to do ends the process.
    private static let loops = Box<[NIOAsyncTestingEventLoop]>([])

    let loop = NIOAsyncTestingEventLoop()
    let network = ScriptedNetwork()
    let pool: NameLookupPool
    let provider: SiteEngineProvider
    /// What checks came to; `nil` for one that was cancelled.
    let outcomes = Box<[SiteVerdict?]>([])

    /// A latch holds the lookups of sites, except that of an IPv4 address.
    init(_ latch: Latch = Latch(), ipv4: IPAddress? = nil, threads: Int = 3, trust: TrustStore = TrustStore()) {
      let scripted = network.environment.provider
      let reachability = EngineProvider(
        time: scripted.time,
        lookup: { name, family in
          if let ipv4, family == .ipv4 { return .addresses([ipv4]) }
          if name.hasPrefix("site") { latch.wait() }
          return .noAddress
        }, names: scripted.names, makeWaiter: scripted.makeWaiter, makeSource: scripted.makeSource)
      pool = NameLookupPool(threads: threads)
      provider = SiteEngineProvider(
        reachability: ReachabilityEnvironment(reachability), group: loop, maximumChecks: 1, random: { 0.5 },
        perform: nil, trust: trust, names: pool)
      Self.loops.update { [loop] in $0.append(loop) }
    }

    /// Returns once the loop has done what it was told before.
    func settle() async throws { try await loop.executeInContext {} }

    func pass(_ duration: Duration) async { await loop.advanceTime(by: TimeAmount(duration)) }

    /// Begins a check, and returns once it has. `isCancelled`: before that.
    func begin(
      _ url: SiteURL, on engine: SiteEngine, isCancelled: Bool = false
    ) async throws -> CheckHandle {
      let handle = CheckHandle(loop)
      if isCancelled { handle.cancel() }
      handle.start { [loop, outcomes] in
        CheckRun(url, SiteCheckConfiguration(), nil, engine, loop, loop.now) { result in
          let verdict: SiteVerdict? =
            switch result {
            case .success(let outcome): outcome.verdict
            case .failure: nil
            }
          outcomes.update { $0.append(verdict) }
        }
      }
      try await settle()
      return handle
    }

    /// Looks another name up, behind those that were asked for before.
    func lookUpAnother(_ lookup: @escaping @Sendable () -> Void = {}) async {
      await withCheckedContinuation { continuation in
        _ = pool.submit(
          NameQuestion(name: "other.example", family: .ipv4),
          by: { _, _ in
            lookup()
            return .noAddress
          }, answer: { _ in continuation.resume() })
      }
    }

    /// Checks an address without a path.
    func checkNothing() async throws {
      let outcome = try await provider.inspect("http://192.0.2.7/", SiteCheckConfiguration())
      #expect(outcome.verdict.kind == .offline)
    }
  }

  /// Each check keeps the engine for a second, counted from the last one, no matter which held it before.
  @Test func theEngineOutlivesTheLastCheckByASecond() async throws {
    let lab = Lab()
    var held = lab.provider.engineToHold()
    weak let engine = held
    try await lab.checkNothing()
    await lab.pass(.seconds(2))
    try await lab.checkNothing()
    withExtendedLifetime(held) {}
    held = nil
    await lab.pass(.milliseconds(600))
    #expect(engine != nil)
    try await lab.checkNothing()
    await lab.pass(.milliseconds(999))
    #expect(engine != nil)
    await lab.pass(.milliseconds(1))
    try await eventually(within: .seconds(10), "the engine has ended") { engine == nil }
  }

  @Test(arguments: [true, false]) func aCancelledCheckIsToldOnce(isBefore: Bool) async throws {
    let latch = Latch()
    defer { latch.open() }
    let lab = Lab(latch)
    let engine = try #require(lab.provider.engineToHold())
    let handle = try await lab.begin("http://site.example/", on: engine, isCancelled: isBefore)
    #expect(lab.outcomes.value.count == (isBefore ? 1 : 0))
    for _ in 0..<2 {
      handle.cancel()
      try await lab.settle()
      #expect(lab.outcomes.value == [nil])
    }
  }

  // MARK: What hangs

  /// What a check comes to while a latch holds `count` threads that work for it. Nothing of what hangs, and no deadline
  /// that is still to come, keeps a check that has ended.
  private func verdict(on url: SiteURL, in lab: Lab, _ latch: Latch, holding count: Int) async throws -> SiteVerdict {
    var engine = lab.provider.engineToHold()
    weak let kept = engine
    var handle: CheckHandle? = try await lab.begin(url, on: try #require(engine))
    try await eventually("it hangs") { latch.count == count }
    await lab.lookUpAnother()
    try await lab.settle()
    await lab.pass(.seconds(3))
    if lab.outcomes.value.isEmpty { await lab.pass(.seconds(60)) }
    withExtendedLifetime((engine, handle)) {}
    (engine, handle) = (nil, nil)
    try await eventually(within: .seconds(10), "nothing keeps the check") { kept == nil }
    #expect(lab.outcomes.value.count == 1)
    return try #require(lab.outcomes.value.first ?? nil)
  }

  /// RFC 8305, 3: IPv4 waits 50 milliseconds for IPv6. A family that might still have a way gets a second more.
  @Test func aFamilyIsWaitedFor() async throws {
    let latch = Latch()
    defer { latch.open() }
    // A question for another name comes behind IPv4.
    let lab = Lab(latch, ipv4: Self.address, threads: 2)
    let verdict = try await verdict(on: "http://site.example/", in: lab, latch, holding: 1)
    #expect(verdict.kind == .offline && verdict.address == Self.address, "\(verdict)")
    #expect(verdict.timings.name == .milliseconds(50) && verdict.timings.total == .milliseconds(1_050), "\(verdict)")
  }

  /// Checks take 15 seconds at most.
  @Test func aNameThatHangsEndsAtTheDeadline() async throws {
    let latch = Latch()
    defer { latch.open() }
    let lab = Lab(latch)
    lab.network.set(.wifi)
    let verdict = try await verdict(on: "http://site.example/", in: lab, latch, holding: 2)
    #expect(verdict.stage == .name && verdict.timings.total == .seconds(15), "\(verdict)")
    #expect(verdict.error?.message.hasPrefix("no answer within") == true, "\(verdict)")
  }

  /// Certificates on a network that hangs.
  @Test func certificatesThatHangEndAtTheDeadline() async throws {
    let latch = Latch()
    defer { latch.open() }
    let lab = Lab(
      trust: TrustStore { _ in
        latch.wait()
        throw CertificateFile.Failure(words: "nobody waits for it")
      })
    let verdict = try await verdict(on: "https://192.0.2.7/", in: lab, latch, holding: 1)
    #expect(verdict.stage == .tls && verdict.timings.total == .seconds(15), "\(verdict)")
  }

  /// The check's time begins with the lookup, if there comes one in as much time.
  @Test(arguments: [true, false]) func theWaitForAThreadIsApart(ends: Bool) async throws {
    let (others, own) = (Latch(), Latch())
    let lab = Lab(own, threads: 1)
    lab.network.set(.wifi)
    let engine = try #require(lab.provider.engineToHold())
    async let other: Void = lab.lookUpAnother { others.wait() }
    defer {
      others.open()
      own.open()
    }
    try await eventually("the only thread is busy") { others.count == 1 }
    let handle = try await lab.begin("http://site.example/", on: engine)
    await lab.pass(.seconds(5))
    if ends {
      others.open()
      try await eventually("the name is looked up") { own.count == 1 }
      try await lab.settle()
    }
    await lab.pass(.seconds(60))
    let verdict = try #require(lab.outcomes.value.first ?? nil)
    #expect(verdict.stage == .name && verdict.timings.total == .seconds(15), "\(verdict)")
    let words = ends ? "no answer within" : "the name was not looked up within"
    #expect(verdict.error?.message.hasPrefix(words) == true, "\(verdict)")
    others.open()
    await other
    withExtendedLifetime(handle) {}
  }
}
