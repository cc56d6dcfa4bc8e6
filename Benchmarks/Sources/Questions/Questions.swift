// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CBenchmark
import Dialtone

/// `Questions [ROUNDS]`: what a synchronous question costs, beside the kernel's part of it. Output: a line each, with
/// tabs, figures in microseconds of all questions.
@main
struct Questions {
  static func main() async throws {
    let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 5
    let target = ReachabilityTarget.address(IPAddress(ipv4: 0x7F00_0001))
    let monitor = ReachabilityMonitor()
    _ = try await monitor.waitUntilDetermined()
    let socket = bench_open()

    var pair: [Int64] = []
    var single: [Int64] = []
    var watched: [Int64] = []
    var alone: [Int64] = []
    // They take turns.
    for _ in 0..<rounds {
      pair += times(of: 10_000) { require(bench_ask_twice(socket) == 0) }
      single += times(of: 10_000) { require(bench_ask(socket) == 0) }
      watched += times(of: 10_000) { require(Reachability.now(target).isReachable) }
      monitor.pause()
      alone += times(of: 200) { require(Reachability.now(target).isReachable) }
      monitor.resume()
      _ = try await monitor.waitUntilDetermined()
    }
    row("two queries", pair)
    row("one query", single)
    row("now, watched", watched)
    row("now, nothing open", alone)
  }

  private static func times(of count: Int, _ body: () -> Void) -> [Int64] {
    (0..<count).map { _ in
      let begin = bench_now()
      body()
      return bench_now() - begin
    }
  }

  private static func row(_ name: String, _ times: [Int64]) {
    let sorted = times.sorted()
    func quantile(_ share: Double) -> Double {
      Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) / 1000
    }
    print("\(name)\tmedian=\(quantile(0.5))\tp99=\(quantile(0.99))")
  }

  /// A wrong answer would come quickly, and measure nothing.
  private static func require(_ isTrue: Bool) { precondition(isTrue, "a wrong answer") }
}
#endif
