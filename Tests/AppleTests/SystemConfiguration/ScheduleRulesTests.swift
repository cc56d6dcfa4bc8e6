// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CoreFoundation
import NetworkLab
import TestSupport
import Testing

@testable import DialtoneSystemConfiguration

/// What a target treats as told, and in which places it is.
@Suite(.timeLimit(.minutes(5)))
struct ScheduleRulesTests {
  private let queue = DispatchQueue(label: "schedule-rules")

  @Test(
    "flags that were asked for before the schedule count as told; what came back before its call is no call",
    .enabled(if: NetworkLab.isAvailable, "needs network namespaces"))
  func whatIsTold() async throws {
    let lab = try AppleLab.b()
    let reachability = try lab.within { try Scheduled(addressTarget("203.0.113.9")) }
    try await eventually("the link has its carrier") { reachability.flags == .reachable }
    try lab.lab.down("v0")
    #expect(SCNetworkReachabilitySetDispatchQueue(reachability.target, queue))
    try await reachability.log.wait("the change since then") { $0.isEmpty }
    #expect(reachability.log.count == 1)
    queue.suspend()
    try lab.lab.up("v0")
    try lab.lab.addRoute("default", via: "10.0.0.2", dev: "v0")
    try await eventually("it is back") { reachability.flags == .reachable }
    try lab.lab.down("v0")
    try await eventually("it is lost again") { reachability.flags == [] }
    queue.resume()
    await queue.drain()
    #expect(reachability.log.count == 1)
    try lab.lab.up("v0")
    try lab.lab.addRoute("default", via: "10.0.0.2", dev: "v0")
    try await reachability.log.wait("the next change") { $0 == .reachable }
  }

  private func mode(_ name: String) -> CoreFoundation.CFString {
    RunLoopSource.mode(CFString(string: "io.github.dialtone.rules.\(name)"))
  }

  /// configd keeps a list of the places, in which one may be twice. To leave one that is not there is no error.
  @Test("a target is in its run loop until it has left each place, and only then may have a queue")
  func leavesEachPlace() throws {
    let target = SCNetworkReachability(.nobody)
    let loop: CFRunLoop = try #require(CFRunLoopGetCurrent())
    for mode in [mode("a"), mode("b"), mode("b")] {
      #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, mode))
    }
    #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode("a")))
    #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode("a")), "it is in another one")
    #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode("b")))
    #expect(!SCNetworkReachabilitySetDispatchQueue(target, queue) && target.place != nil)
    #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode("b")) && target.place == nil)
    #expect(!SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode("b")))
    #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
    #expect(SCNetworkReachabilitySetDispatchQueue(target, nil) && target.place == nil)
  }

  /// CFRunLoop.h: a run loop returns kCFRunLoopRunFinished at once from a mode without sources.
  @Test("a run loop has a source as long as it is in a place there")
  func aRunLoopIsLeft() throws {
    let loop: CFRunLoop = try #require(CFRunLoopGetCurrent())
    let modes = [mode("c"), mode("d")]
    func areEmpty() -> [Bool] { modes.map { CFRunLoopRunInMode($0, 0, false) == .finished } }
    let source = RunLoopSource(SCNetworkReachability(.nobody))
    for mode in modes + modes { #expect(source.add(loop, mode)) }
    #expect(areEmpty() == [false, false])
    #expect(source.remove(loop, modes[0]) && areEmpty() == [false, false])
    #expect(source.remove(loop, modes[0]) && areEmpty() == [true, false])
    source.end()
    #expect(areEmpty() == [true, true])
  }
}
#endif
