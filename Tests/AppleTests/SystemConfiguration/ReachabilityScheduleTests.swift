// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSystemConfiguration
import NetworkLab
import TestSupport
import Testing

/// Where callbacks are called, what they hold, and how they end.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct ReachabilityScheduleTests {
  private let queue = DispatchQueue(label: "reachability")

  /// An object that a context keeps by its retain and release closures.
  private final class Info: Sendable {
    let log: Log<String>
    let whenReleased: @Sendable () -> Void

    init(_ log: Log<String>, whenReleased: @escaping @Sendable () -> Void = {}) {
      self.log = log
      self.whenReleased = whenReleased
    }

    deinit {
      log.append("gone")
      whenReleased()
    }

    func context() -> SCNetworkReachabilityContext {
      SCNetworkReachabilityContext(
        version: 0, info: Unmanaged.passUnretained(self).toOpaque(),
        retain: { info in
          let object = Unmanaged<Info>.fromOpaque(info)
          object.takeUnretainedValue().log.append("retain")
          return UnsafeRawPointer(object.retain().toOpaque())
        },
        release: { info in
          let object = Unmanaged<Info>.fromOpaque(info)
          object.takeUnretainedValue().log.append("release")
          object.release()
        }, copyDescription: nil)
    }
  }

  @Test("a queue once, a run loop never beside it, and nothing to end twice")
  func refusesTwo() throws {
    let lab = try AppleLab.b()
    let target = try lab.makeTarget("203.0.113.9")
    let loop: CFRunLoop = CFRunLoopGetCurrent()
    let mode: CFString = CFRunLoopMode.defaultMode.rawValue
    #expect(!SCNetworkReachabilitySetDispatchQueue(target, nil))
    #expect(SCError() == kSCStatusInvalidArgument)
    #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
    #expect(!SCNetworkReachabilitySetDispatchQueue(target, queue))
    #expect(!SCNetworkReachabilityScheduleWithRunLoop(target, loop, mode))
    #expect(!SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode))
    #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
    #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, mode))
    #expect(!SCNetworkReachabilitySetDispatchQueue(target, queue))
    #expect(!SCNetworkReachabilitySetDispatchQueue(target, nil))
    #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode))
    #expect(!SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode))
  }

  @Test("the queue first, or the callback first", arguments: [true, false])
  func takesEitherOrder(queueFirst: Bool) async throws {
    let lab = try AppleLab.b()
    let target = try lab.makeTarget("none.example")
    let log = Log<SCNetworkReachabilityFlags>()
    if queueFirst { SCNetworkReachabilitySetDispatchQueue(target, queue) }
    SCNetworkReachabilitySetCallback(target, { _, flags, _ in log.append(flags) }, nil)
    if !queueFirst { SCNetworkReachabilitySetDispatchQueue(target, queue) }
    try await log.wait("the first call") { _ in true }
    SCNetworkReachabilitySetDispatchQueue(target, nil)
  }

  @Test("what cannot leave by another interface is no news")
  func isCalledOnceForNothing() async throws {
    let lab = try AppleLab.b()
    let reachability = try lab.within { try Scheduled(addressTarget("203.0.113.9"), on: queue) }
    let reasons = Log<Reachability.Reason?>()
    let monitor = ReachabilityMonitor(.address(try address("203.0.113.9")), environment: lab.environment)
    let observation = monitor.observe { reasons.append($0.reason) }
    try lab.lab.down("v0")
    try await reachability.log.wait("lost") { $0.isEmpty }
    let first = reasons.last
    try lab.lab.deleteLink("v0")
    try await reasons.wait("another reason") { $0 != first }
    try lab.lab.makeW(metric: 50)
    try await reachability.log.wait("reachable") { $0 == .reachable }
    #expect(reachability.log.all == [[], .reachable])
    observation.cancel()
  }

  @Test("the context is retained once, and released when it is replaced")
  func keepsTheContext() throws {
    let lab = try AppleLab.b()
    let log = Log<String>()
    do {
      let target = try lab.makeTarget("203.0.113.9")
      for _ in 0..<2 {
        let info = Info(log)
        var context = info.context()
        SCNetworkReachabilitySetCallback(target, { _, _, _ in }, &context)
        withExtendedLifetime(info) {}
      }
      #expect(log.all == ["retain", "retain", "release", "gone"])
      SCNetworkReachabilitySetCallback(target, nil, nil)
      #expect(log.all.suffix(2) == ["release", "gone"] && log.count == 6)
      let info = Info(log)
      var context = info.context()
      SCNetworkReachabilitySetCallback(target, { _, _, _ in }, &context)
      withExtendedLifetime(info) {}
    }
    #expect(log.count == 9, "the target took the last one with it: \(log.all)")
  }

  @Test("what a callback holds is kept until it returns, even if it removes itself")
  func canBeReplacedWithinTheCallback() async throws {
    let lab = try AppleLab.b()
    let target = try lab.makeTarget("none.example")
    let log = Log<String>()
    do {
      let info = Info(log)
      var context = info.context()
      SCNetworkReachabilitySetCallback(
        target,
        { target, _, pointer in
          SCNetworkReachabilitySetCallback(target, nil, nil)
          SCNetworkReachabilitySetDispatchQueue(target, nil)
          guard let pointer = pointer else { return }
          Unmanaged<Info>.fromOpaque(pointer).takeUnretainedValue().log.append("still there")
        }, &context)
      withExtendedLifetime(info) {}
    }
    SCNetworkReachabilitySetDispatchQueue(target, queue)
    try await log.wait("the end") { $0 == "gone" }
    #expect(log.all == ["retain", "still there", "release", "gone"])
  }

  @Test("a scheduled target lives; a callback may release the last reference")
  func livesWhileScheduled() async throws {
    let lab = try AppleLab.b()
    let log = Log<SCNetworkReachabilityFlags>()
    weak let held: SCNetworkReachability?
    do {
      let target = try lab.makeTarget("none.example")
      held = target
      SCNetworkReachabilitySetCallback(
        target,
        { target, flags, _ in
          SCNetworkReachabilitySetDispatchQueue(target, nil)
          log.append(flags)
        }, nil)
      SCNetworkReachabilitySetDispatchQueue(target, queue)
    }
    try await log.wait("a call, although nobody holds the target") { _ in true }
    try await eventually("it is released") { held == nil }
  }

  @Test("unscheduled before the delivery: nothing is called")
  func skipsWhatIsUnscheduled() async throws {
    let lab = try AppleLab.b()
    queue.suspend()
    let reachability = try lab.within {
      try Scheduled(SCNetworkReachabilityCreateWithName(nil, "none.example"), on: queue)
    }
    try await eventually("the name was looked up") { lab.names.lookups > 0 }
    let other = try lab.within {
      try Scheduled(SCNetworkReachabilityCreateWithName(nil, "none.example"), on: DispatchQueue(label: "other"))
    }
    try await other.log.wait("the call is on its way") { _ in true }
    SCNetworkReachabilitySetDispatchQueue(reachability.target, nil)
    queue.resume()
    await queue.drain()
    #expect(reachability.log.count == 0)
    // It can be scheduled again, and is told anew.
    SCNetworkReachabilitySetDispatchQueue(reachability.target, queue)
    try await reachability.log.wait("a call") { _ in true }
  }

  @Test("a run loop calls on its thread, and ends when nothing is scheduled any more", arguments: [true, false])
  func callsFromARunLoop(isCommon: Bool) async throws {
    let lab = try AppleLab.b(metric: 100)
    let log = Log<(SCNetworkReachabilityFlags, isOnThread: Bool)>()
    let loops = Log<Bool>()
    Foundation.Thread.detachNewThread {
      lab.within {
        let thread = Foundation.Thread.current
        guard let target = SCNetworkReachabilityCreateWithName(nil, "none.example"),
          let mode = isCommon ? CFRunLoopMode.commonModes : CFRunLoopMode.defaultMode
        else { return }
        SCNetworkReachabilitySetCallback(
          target,
          { target, flags, _ in
            log.append((flags, thread === Foundation.Thread.current))
            if flags.contains(.reachable) {
              SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetCurrent(), mode.rawValue)
            }
          }, nil)
        let isScheduled =
          isCommon
          ? SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetCurrent(), mode.rawValue)
          : SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetCurrent(), kCFRunLoopDefaultMode)
        loops.append(isScheduled)
        // It returns once the run loop has no source.
        CFRunLoopRun()
        loops.append(true)
      }
    }
    try await log.wait("the first call") { $0.0.isEmpty }
    lab.names.set(.addresses([try address("203.0.113.9")]), for: "none.example")
    // Names are looked up again once the path is another.
    try lab.lab.makeW(metric: 50)
    try await log.wait("a change") { $0.0 == .reachable }
    try await eventually("the run loop has ended") { loops.count == 2 }
    #expect(loops.all == [true, true])
    #expect(!log.all.contains { !$0.isOnThread })
  }
}
#endif
