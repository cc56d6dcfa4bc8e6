// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneSites
import Glibc
import SiteLab
import TestSupport
import Testing

/// A process without descriptors: checks fail, and nothing else does. Each test has a process of its own.
@Suite(.timeLimit(.minutes(5)), .threadsApart)
struct DescriptorTests {
  /// Expects the system's text for it (errno(3)).
  private static func expectFailure(_ verdict: SiteVerdict) {
    #expect(verdict.kind == .failed && verdict.stage == .connect, "\(verdict)")
    #expect(verdict.error?.code == .cannotConnect && verdict.error?.errno == EMFILE, "\(verdict)")
    #expect(verdict.error?.message == "too many open files", "\(verdict)")
  }

  /// The number of groups of event loops, the servers' included: NIO numbers both in the names of its threads.
  private static var groupCount: Int {
    (0..<4).count { group in (0..<8).contains { ProcessCensus.threads(named: "NIO-ELT-\(group)-#\($0)") > 0 } }
  }

  /// The check needs event loops, which must be made.
  @Test func theFirstCheckFailsWithoutDescriptorsAndTheNextSucceeds() async {
    await #expect(processExitsWith: .success) {
      let server = try await SiteServer(.answer(204), .plain)
      let url = try server.url(.plain)
      DescriptorTests.expectFailure(try await withoutDescriptors { try await check(url) })
      #expect(try await check(url).kind == .available)
    }
  }

  /// NIO makes its epoll descriptors without EPOLL_CLOEXEC. A program that this process starts shows whether it
  /// inherits them.
  @Test func noDescriptorIsInheritedByPrograms() async {
    await #expect(processExitsWith: .success) {
      let server = try await SiteServer(.answer(204), .plain)
      let former = try DescriptorTests.inherited()
      let url = try server.url(.plain)
      #expect(try await check(url).kind == .available)
      #expect(DescriptorTests.groupCount == 2, "the event loops are there")
      #expect(try DescriptorTests.inherited().subtracting(former) == [])
    }
  }

  /// The descriptors that a program started by this process has, besides the standard streams and what it opens itself:
  /// "7 -> anon_inode:[eventpoll]".
  private static func inherited() throws -> Set<Substring> {
    // The stream is ours until it is closed. fgets(3) writes at most one byte less than there is room for, and a zero.
    let stream = try unsafe #require(unsafe popen("ls -l /proc/self/fd", "r"))
    defer { unsafe pclose(stream) }
    var lines: Set<Substring> = []
    var text = [CChar](repeating: 0, count: 4_096)
    while unsafe fgets(&text, CInt(text.count), stream) != nil {
      let line = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let name = line.split(separator: " ").suffix(3).joined(separator: " ").prefix { $0 != "\n" }
      if name.contains("eventpoll") || name.contains("socket:") { lines.insert(name) }
    }
    return lines
  }

  /// The event loops exist, but the connection needs a descriptor.
  @Test func aLaterCheckFailsWithoutDescriptorsAndTheNextSucceeds() async {
    await #expect(processExitsWith: .success) {
      for transport in Transport.allCases {
        let server = try await SiteServer(.answer(204), transport)
        let url = try server.url(transport)
        #expect(try await check(url).kind == .available)
        DescriptorTests.expectFailure(try await withoutDescriptors { try await check(url) })
        #expect(try await check(url).kind == .available)
      }
    }
  }

  /// The event loops exist, but the lookup needs a descriptor: the resolver says that the name does not exist.
  @Test func aNameThatCouldNotBeLookedUpIsNotCalledUnknown() async {
    await #expect(processExitsWith: .success) {
      let server = try await SiteServer(.answer(204), .plain)
      let url = try server.url(.plain, host: "localhost")
      #expect(try await check(url).kind == .available)
      let verdict = try await withoutDescriptors { try await check(url) }
      #expect(!verdict.isAvailable && verdict.error?.code == .nameNotResolved, "\(verdict)")
      #expect(verdict.error?.errno == EMFILE, "\(verdict)")
      #expect(verdict.error?.message == "the name could not be looked up: too many open files", "\(verdict)")
      #expect(try await check(url).kind == .available)
    }
  }

  /// A monitor keeps what its checks need longer than single checks do, and releases it when it is paused.
  @Test func aMonitorsCheckFailsWithoutDescriptorsAndTheNextSucceeds() async {
    await #expect(processExitsWith: .success) {
      let server = try await SiteServer(.answer(204), .plain)
      var configuration = SiteMonitorConfiguration()
      configuration.failuresBeforeLoss = 1
      let monitor = try SiteMonitor(server.url(.plain), configuration: configuration)
      try await monitor.waitUntilAvailable(timeout: .patience)
      // Single checks keep it for a second.
      try await Task.sleep(for: .seconds(2))
      #expect(DescriptorTests.groupCount == 2)
      try await withoutDescriptors {
        monitor.checkNow()
        try await eventually("the loss is told") { monitor.current.kind == .failed }
      }
      DescriptorTests.expectFailure(monitor.current)
      try await monitor.waitUntilAvailable(timeout: .patience)
      monitor.pause()
      try await eventually("the event loops have ended") { DescriptorTests.groupCount == 1 }
    }
  }

  /// Neither the path's engine nor event loops can be made.
  @Test func aMonitorMadeWithoutDescriptorsFailsUntilThereAreSome() async {
    await #expect(processExitsWith: .success) {
      let server = try await SiteServer(.answer(204), .plain)
      let url = try server.url(.plain)
      let monitor = try await withoutDescriptors {
        let monitor = try SiteMonitor(url)
        DescriptorTests.expectFailure(try await monitor.waitUntilKnown(timeout: .patience))
        return monitor
      }
      try await monitor.waitUntilAvailable(timeout: .patience)
    }
  }
}
#endif
