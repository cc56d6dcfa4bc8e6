// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import NIOCore
import TestSupport
import Testing

@testable import DialtoneSites

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What an environment has for its checks and monitors.
@Suite(.timeLimit(.minutes(5)))
struct ProviderEdgesTests {
  /// As `SiteEnvironment` has it: 64 names at a time, each for both families, without those that take longer than half
  /// a second, until 512 threads are at it.
  @Test func namesHaveTheThreadsThatTheDocumentationSays() {
    let queue = Mirror(reflecting: SiteEngineProvider.makeNames()).descendant("empty")
    let numbers = queue.map { Dictionary(uniqueKeysWithValues: Mirror(reflecting: $0).children.map { ($0, "\($1)") }) }
    #expect(numbers?["limit"] == "128" && numbers?["bound"] == "512" && numbers?["overdueAfter"] == "500000000")
  }

  /// A monitor counts once while it is not paused, no matter what is done to it. Without a path it checks nothing.
  ///
  /// Of 18 that begin at the same time, 16 do so at once, then one each two milliseconds. None is later than the last
  /// of a turn, four milliseconds: what would be later comes at random within a turn.
  @Test func aMonitorCountsOnce() throws {
    let environment = SiteEnvironment(
      reachability: ScriptedNetwork().environment, perform: { url, _ in SiteVerdict(url: url, kind: .failed) })
    var monitors: [SiteMonitor] = []
    for number in 0..<22 {
      let url = try SiteURL("http://192.0.2.\(number)/")
      monitors.append(try SiteMonitor(url, environment: environment))
    }
    for _ in 0..<2 { monitors[..<5].forEach { $0.pause() } }
    for _ in 0..<2 { monitors[..<3].forEach { $0.resume() } }
    #expect(monitors.count(where: \.isPaused) == 2)
    for monitor in monitors[2..<8] { try monitor.setURL("http://192.0.2.99/") }
    // The last two are released.
    monitors.removeLast(2)
    let delays = (0..<20).map { _ in environment.provider.checkDelay(now: 1_000_000_000, random: 0.25) }
    #expect(delays == [Int64](repeating: 0, count: 16) + [2_000_000, 4_000_000, 1_000_000, 1_000_000])
    withExtendedLifetime(monitors) {}
  }
}

#if os(Linux)
extension ProviderEdgesTests {
  /// Far more than all authorities there are: 16 MiB. Here they are a hole (lseek(2)).
  @Test func aFileOfCertificatesHasALimit() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/a.pem"
    // Both calls only read the path.
    let file = unsafe open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
    #expect(ftruncate(file, 16 * 1_024 * 1_024 + 1) == 0 && close(file) == 0)
    let failure = #expect(throws: CertificateFile.Failure.self) { try CertificateFile.certificates(in: path) }
    #expect(failure?.words == "it is longer than 16777216 bytes")
    #expect(unsafe unlink(path) == 0)
  }
}

/// What checks need of the system is proved before. Each test has a process of its own.
@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct ResourceEdgesTests {
  private static func provider(_ perform: SiteEngineProvider.Perform? = nil) -> SiteEngineProvider {
    SiteEnvironment(perform: perform).provider
  }

  @Test func onlyWhoHasNoEngineIsShortOfSomething() async {
    await #expect(processExitsWith: .success) {
      let (running, idle) = (ResourceEdgesTests.provider(), ResourceEdgesTests.provider())
      let scripted = ResourceEdgesTests.provider { url, _ in SiteVerdict(url: url, kind: .failed) }
      let engine = running.engineToHold()
      #expect(engine != nil)
      let (shortages, engines) = try withoutDescriptors {
        let all = [running, scripted, idle]
        return (all.map { $0.shortage() }, all.map { $0.engineToHold() })
      }
      #expect(shortages.map { $0?.errno } == [nil, nil, EMFILE])
      #expect(shortages.map { $0?.code } == [nil, nil, .cannotConnect])
      #expect(engines[0] === engine && engines[1] == nil && engines[2] == nil)
      #expect(idle.shortage() == nil)
    }
  }

  /// Each event loop of NIO's has three descriptors: epoll(7), eventfd(2), timerfd_create(2). As many again are left.
  @Test func twiceTheDescriptorsOfTheLoopsAreProved() async {
    await #expect(processExitsWith: .success) {
      let needed = 6 * SiteResources.loopCount
      #expect(try SiteResources.prove() > 0)
      // No more loops than processors, and than four.
      #expect((1...4).contains(SiteResources.loopCount) && SiteResources.loopCount <= System.coreCount)
      // Or else the runtime may take one of those that are left.
      try await openRuntimeDescriptors()
      let highest = try await withDescriptors(left: needed) { try SiteResources.prove() }
      #expect(highest > 0)
      var shortage: SiteError?
      do {
        try await withDescriptors(left: needed - 1) { _ = try SiteResources.prove() }
      } catch let error as SiteError {
        shortage = error
      }
      #expect(shortage?.code == .cannotConnect && shortage?.errno == EMFILE)
    }
  }
}
#endif
