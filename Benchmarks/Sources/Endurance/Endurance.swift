// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CBenchmark
import Dialtone
import Glibc

/// `Endurance SECONDS [SEED]`: changes the network at random for so long, with storms, overruns and forks, while
/// monitors and receivers come and go. Then what the process holds must not have grown, and the last states must be
/// what connect(2) finds. In the namespace that the script `endurance` makes.
@main
struct Endurance {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 2, let seconds = Int64(arguments[1]), seconds > 0 else {
      throw Failure("usage: Endurance SECONDS [SEED]")
    }
    let seed = arguments.dropFirst(2).first.flatMap { UInt64($0) } ?? UInt64.random(in: 1...UInt64.max)
    print("seed \(seed), \(seconds) s")
    var world = try World(seed: seed)
    let crowd = try Crowd()
    // One monitor stays for the whole time.
    let monitor = ReachabilityMonitor(.internet)
    let counter = Counter()
    let token = monitor.observe { _ in counter.add() }
    let begin = bench_now()
    var censuses: [Census] = []
    var nextCensus = begin
    while bench_now() - begin < seconds * 1_000_000_000 {
      try world.step()
      try await crowd.step(&world.numbers)
      guard bench_now() >= nextCensus else { continue }
      // Some thirty in all.
      nextCensus += max(1, seconds / 30) * 1_000_000_000
      crowd.removeAll()
      try await agree(monitor, &world)
      let census = try Census()
      censuses.append(census)
      print("\((bench_now() - begin) / 1_000_000_000) s: \(census), \(world.count) changes, \(counter.value) told")
      fflush(nil)
    }
    crowd.removeAll()
    for isAdded in [true, false, true] {
      try world.setDefaultRoute(isAdded: isAdded)
      try await agree(monitor, &world)
    }
    try Census.requireFlat(censuses)
    print("\(world.count) changes, \(world.failures) refused by the kernel, \(crowd.count) receivers, seed \(seed)")
    withExtendedLifetime(token) {}
  }

  /// Waits until the monitor says what a socket finds. Fails after a minute.
  private static func agree(_ monitor: ReachabilityMonitor, _ world: inout World) async throws {
    let end = bench_now() + 60_000_000_000
    while true {
      // The kernel first: what the monitor says afterwards is not older.
      let canConnect = bench_can_connect(0xC629_0004) == 1
      if monitor.current.isReachable == canConnect { return }
      if bench_now() > end { throw Failure("\(monitor.current), but connect(2): \(canConnect); seed \(world.seed)") }
      try await Task.sleep(for: .milliseconds(5))
    }
  }
}

struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
