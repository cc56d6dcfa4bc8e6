// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import CTestSupport
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Shortages that last only a while, and descriptors that the program closes: the engine starts anew.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "needs network namespaces"),
  .disabled(if: isSanitized, "a sanitizer has threads and descriptors of its own, and survives no fork"),
  .timeLimit(.minutes(5)), .threadsApart)
struct ScarcityTests {
  @Test("descriptors are short only at the start: from the next poll on, changes are announced")
  func aShortageAtTheStartIsOvercome() async throws {
    await #expect(processExitsWith: .success) {
      try await openRuntimeDescriptors()
      let before = try OpenFiles()
      for left in 0..<9 {
        try await Self.startShort(left: left)
        // Otherwise descriptors that the last engine's threads are about to close would be left for the next one.
        try await eventually("all is closed that was opened with \(left)") {
          try OpenFiles().descriptors.isSubset(of: before.descriptors)
        }
      }
    }
  }

  /// Starts an engine with this many descriptors left, then gives it more.
  private static func startShort(left: Int) async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    let clock = SteppedClock(isStill: true)
    let probe = NetworkProbe()
    let (monitors, internet) = try await withDescriptors(left: left) {
      let monitors = try clock.monitors(lab, source: probe.makeSource)
      let monitor = monitors.monitor()
      try await eventually("it is known, or denied, with \(left)") { monitor.current.isKnownOrDenied }
      return (monitors, monitor)
    }
    // An engine needs more than this.
    if left < 3 {
      #expect(internet.current.reason == .outOfDescriptors, "with \(left): \(internet.current)")
    }
    let told = Recording(internet)
    clock.advance(by: .seconds(60), monitors.environment)
    try await told.wait("reachable with \(left) at the start") { $0.isVia("v0") }
    // With most counts of descriptors, it was reachable before the poll.
    try await monitors.settle()
    let polls = probe.counts.wholePolls
    try lab.down("v0")
    try await told.wait("unreachable with \(left) at the start") { $0.isUnreachable(.linkDown) }
    try lab.up("v0")
    try lab.addRoute("default", via: "10.0.0.2")
    try await told.wait("reachable again with \(left) at the start") { $0.isVia("v0") }
    #expect(probe.counts.wholePolls == polls)
    // Nothing is left that needs polling. IPv6 routes that the link's coming up announced are asked about once more.
    clock.advance(by: .seconds(60), monitors.environment)
    try await monitors.settle()
    #expect(probe.counts.wholePolls == polls, "with \(left)")
  }

  @Test("no descriptor is left for a question to connect(2): that is the reason, until there is one")
  func aShortageForConnectIsNamedAndOvercome() async throws {
    await #expect(processExitsWith: .success) {
      let lab = try NetworkLab()
      try lab.makeB()
      try lab.run {
        let target = try address("2001:db8:b::1")
        let network = LinuxNetwork(try EventPoll(), time: TimeSource(passes: false) { 0 }, suspended: { 0 })
        func state() -> Reachability {
          var found = Reachability.unknown
          network.answer([RouteQuery(.address(target))]) { found = $1 }
          return found
        }
        let short = try withoutDescriptors { state() }
        #expect(short.status == .undetermined && short.reason == .outOfDescriptors && short.destination == target)
        #expect(network.nextPoll == 5_000_000_000)
        #expect(state().isUnreachable(.noRoute))
      }
    }
  }

  @Test("no thread is left: the reason says so, and threads that come later are used")
  func aShortageOfThreadsIsNamedAndOvercome() async throws {
    await #expect(processExitsWith: .success) {
      // The limit does not hold for root (setrlimit(2), RLIMIT_NPROC).
      if getuid() == 0 { try #require(setuid(65_534) == 0) }
      let environment = ReachabilityEnvironment.ofItsOwn()
      let (monitor, now) = try withoutThreads {
        (ReachabilityMonitor(.localNetwork, environment: environment), Reachability.now(environment: environment))
      }
      for state in [monitor.current, now] {
        #expect(state ≈ Reachability(.undetermined, reason: .outOfThreads), "\(state)")
      }
      try await eventually("known, with threads") {
        _ = Reachability.now(environment: environment)
        return monitor.current.isDetermined
      }
    }
  }

  @Test(
    "all descriptors are closed behind the engine's back: it starts anew with the next call", arguments: [false, true])
  func closedDescriptorsAreReplaced(areUsedAgain: Bool) async throws {
    await #expect(processExitsWith: .success) { [areUsedAgain] in
      let lab = try NetworkLab()
      try lab.makeB()
      // These must not be closed below.
      try await openRuntimeDescriptors()
      let before = try OpenFiles()
      let monitors = try LabMonitors(lab)
      let internet = try await monitors.record()
      let path = PathMonitor(environment: monitors.environment)
      try await path.waitUntilSatisfied()
      let own = try OpenFiles().descriptors.subtracting(before.descriptors)
      #expect(own.count >= 6)
      // A thread that is within a turn may use a number once more.
      try await eventually("the engine sleeps") { ProcessCensus.areAsleep(threadsNamed: "dialtone") }
      for descriptor in own { close(descriptor) }
      let strangers = areUsedAgain ? try Strangers(own) : nil
      try lab.down("v0")
      // Any call notices it; here another observer is made, and its handler must be called. The new engine is in the
      // namespace of the thread that calls.
      let other = try lab.run { Recording(monitors.monitor()) }
      try await other.wait("another monitor knows") { $0.isUnreachable(.linkDown) }
      try await internet.wait("so does the first") { $0.isUnreachable(.linkDown) }
      try await eventually("and the path") { path.current.status == .unsatisfied }
      try lab.up("v0")
      try lab.addRoute("default", via: "10.0.0.2")
      for recording in [internet, other] { try await recording.wait("announced again") { $0.isVia("v0") } }
      try await path.waitUntilSatisfied()
      try strangers?.expectUntouched()
    }
  }

  @Test("single descriptors are closed: what is known is true again with the next call, or after the next poll")
  func aSingleClosedDescriptorIsReplaced() async throws {
    await #expect(processExitsWith: .success) {
      for position in 0..<9 {
        let lab = try NetworkLab()
        try lab.makeB()
        try await openRuntimeDescriptors()
        let before = try OpenFiles()
        let clock = SteppedClock(isStill: true)
        let monitors = try clock.monitors(lab, source: systemNetworkSource)
        let internet = try await monitors.record()
        let own = try OpenFiles().descriptors.subtracting(before.descriptors).sorted()
        guard own.indices.contains(position) else { continue }
        try await eventually("the engine sleeps") { ProcessCensus.areAsleep(threadsNamed: "dialtone") }
        close(own[position])
        let strangers = try Strangers([own[position]])
        try lab.down("v0")
        try await eventually("unreachable without \(position)") {
          try lab.run { clock.advance(by: .seconds(60), monitors.environment) }
          return internet.last?.isUnreachable(.linkDown) ?? false
        }
        try lab.up("v0")
        try lab.addRoute("default", via: "10.0.0.2")
        try await eventually("reachable without \(position)") {
          try lab.run { clock.advance(by: .seconds(60), monitors.environment) }
          return internet.last?.isVia("v0") ?? false
        }
        try strangers.expectUntouched()
      }
    }
  }

  @Test("a forked child, which closes all descriptors, follows the network by an engine of its own")
  func aForkedDaemonStartsAnew() async throws {
    await #expect(processExitsWith: .success) {
      let lab = try NetworkLab()
      try lab.makeB()
      let monitors = try LabMonitors(lab)
      let internet = try await monitors.record()
      let v0 = try lab.reachable("v0", via: "10.0.0.2")
      try await internet.wait("reachable") { $0 ≈ v0 }
      let monitor = internet.monitor
      var ends: [CInt] = [0, 0]
      try #require(unsafe pipe(&ends) == 0)
      let (reader, writer) = (ends[0], ends[1])
      let begin = UTCTimestamp.now.durationSince1970.nanosecondsClamped
      // A thread that is in a handler at fork(2) holds the handler's lock in the child for good.
      try await eventually("the engine rests") { ProcessCensus.areAsleep(threadsNamed: "dialtone") }
      let child = try lab.run {
        forkChild {
          // It begins like a daemon.
          for descriptor in 3..<1_024 where descriptor != writer { close(CInt(descriptor)) }
          // The numbers of all that was closed are other files' now, of the kind that the engine uses.
          let others = (0..<64).map { _ in eventfd(7, CInt(EFD_NONBLOCK)) }
          var steps = 0
          // The first state is unknown, unless the new engine is quick; an old one must not be read.
          let first = monitor.current
          if first.status != .undetermined, first.realtime <= begin { return 1 }
          while true {
            let state = monitor.current
            if steps == 0, state ≈ v0 {
              steps = 1
              var byte: UInt8 = 1
              if unsafe write(writer, &byte, 1) != 1 { return 2 }
            } else if steps == 0, state.status != .undetermined {
              return 3
            } else if steps == 1, state.isUnreachable(.linkDown) {
              // A new monitor reads the same.
              if !Reachability.now(environment: monitors.environment).isUnreachable(.linkDown) { return 4 }
              for other in others {
                var number: UInt64 = 0
                // Neither closed nor written to.
                if unsafe eventfd_read(other, &number) != 0 || number != 7 { return 5 }
              }
              return 0
            }
            // A forked child has no runtime to wait with, so it polls; `alarm` limits the time.
            usleep(1_000)
          }
        }
      }
      close(writer)
      var byte: UInt8 = 0
      // Blocks until the child has written, or ended.
      #expect(unsafe read(reader, &byte, 1) == 1)
      try lab.down("v0")
      let status = ctestsupport_wait(child)
      #expect(status == 0, "the child ended with \(status)")
      // The parent has only noticed the change of the network.
      try await internet.wait("unreachable") { $0.isUnreachable(.linkDown) }
    }
  }
}

extension Reachability {
  fileprivate var isKnownOrDenied: Bool { status != .undetermined || reason != nil }
}

/// The process's descriptors.
private struct OpenFiles {
  let descriptors: Set<CInt>

  init() throws {
    var found: Set<CInt> = []
    for descriptor in CInt(0)..<1_024 where FileStatus(descriptor) != nil { found.insert(descriptor) }
    descriptors = found
  }
}

private struct FileStatus: Equatable {
  let inode: ino_t

  init?(_ descriptor: CInt) {
    var status = stat()
    // Written by the call.
    if unsafe fstat(descriptor, &status) != 0 { return nil }
    inode = status.st_ino
  }
}

/// Sockets of the program that have the engine's former numbers, each with a datagram that waits.
private struct Strangers {
  private let sockets: [(number: CInt, peer: CInt, status: FileStatus?)]

  init(_ numbers: some Sequence<CInt>) throws {
    // Higher than all numbers concerned.
    var free: CInt = 500
    sockets = try numbers.map { number in
      var pair: [CInt] = [0, 0]
      // Writes both.
      try #require(unsafe socketpair(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0, &pair) == 0)
      let peer = dup2(pair[1], free)
      try #require(peer == free)
      free += 1
      close(pair[1])
      if pair[0] != number {
        try #require(dup2(pair[0], number) == number)
        close(pair[0])
      }
      var byte: UInt8 = 7
      try #require(unsafe send(peer, &byte, 1, 0) == 1)
      return (number, peer, FileStatus(number))
    }
  }

  /// No socket was closed, read or written.
  func expectUntouched() throws {
    for (number, peer, status) in sockets {
      #expect(status != nil && FileStatus(number) == status, "\(number) was closed")
      var byte: UInt8 = 0
      #expect(unsafe recv(number, &byte, 1, 0) == 1 && byte == 7, "\(number) was read from")
      #expect(unsafe recv(peer, &byte, 1, 0) == -1, "\(number) was written to")
    }
  }
}
#endif
