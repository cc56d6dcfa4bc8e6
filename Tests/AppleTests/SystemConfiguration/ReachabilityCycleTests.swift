// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneSystemConfiguration
import NetworkLab
import Synchronization
import TestSupport
import Testing

/// Many targets on several threads: nothing is left, and nothing is called after the end.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct ReachabilityCycleTests {
  /// What a callback is called with. Counts those that exist.
  private final class Info: Sendable {
    static let count = Atomic(0)
    let isEnded = Atomic(false)
    let calls = Atomic(0)

    init() { Self.count.add(1, ordering: .relaxed) }
    deinit { Self.count.subtract(1, ordering: .relaxed) }

    func context() -> SCNetworkReachabilityContext {
      SCNetworkReachabilityContext(
        version: 0, info: Unmanaged.passUnretained(self).toOpaque(),
        retain: { UnsafeRawPointer(Unmanaged<Info>.fromOpaque($0).retain().toOpaque()) },
        release: { Unmanaged<Info>.fromOpaque($0).release() }, copyDescription: nil)
    }
  }

  /// Carries a target across an `await`: one task uses it, and it is made for any thread.
  private struct Carried: @unchecked Sendable {
    let target: SCNetworkReachability
  }

  /// Knows whether a target still exists. Its reference is read by one thread at a time.
  private struct Trace: @unchecked Sendable {
    weak let target: SCNetworkReachability?
  }

  private func make(_ lab: AppleLab, _ info: Info, on queue: DispatchQueue) throws -> Carried {
    try lab.within {
      let target = try #require(SCNetworkReachabilityCreateWithName(nil, "none.example"))
      var context = info.context()
      SCNetworkReachabilitySetCallback(
        target,
        { _, _, pointer in
          guard let pointer = pointer else { return }
          let info = Unmanaged<Info>.fromOpaque(pointer).takeUnretainedValue()
          info.calls.add(1, ordering: .relaxed)
          if info.isEnded.load(ordering: .acquiring) { Issue.record("called after the end") }
        }, &context)
      #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
      return Carried(target: target)
    }
  }

  @Test("a thousand cycles on four threads leave nothing")
  func aThousandCyclesLeaveNothing() async throws {
    let lab = try AppleLab.b()
    let traces = try await withThrowingTaskGroup(of: [Trace].self) { group in
      for thread in 0..<4 {
        group.addTask {
          let queue = DispatchQueue(label: "cycle-\(thread)")
          var traces: [Trace] = []
          for round in 0..<250 {
            let info = Info()
            let carried = try make(lab, info, on: queue)
            traces.append(Trace(target: carried.target))
            // Every fourth one is ended before its first call, or about then.
            if !round.isMultiple(of: 4) {
              try await eventually("it is called") { info.calls.load(ordering: .relaxed) > 0 }
            }
            // On its queue, so that no call is about to begin.
            await withCheckedContinuation { continuation in
              queue.async {
                SCNetworkReachabilitySetDispatchQueue(carried.target, nil)
                info.isEnded.store(true, ordering: .releasing)
                continuation.resume()
              }
            }
          }
          await queue.drain()
          return traces
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(traces.count == 1_000)
    // The queue or the engine may hold a target for the moment of a turn, and no longer.
    try await eventually("every target is gone") { traces.allSatisfy { $0.target == nil } }
    try await eventually("every context is released") { Info.count.load(ordering: .relaxed) == 0 }
  }
}
#endif
