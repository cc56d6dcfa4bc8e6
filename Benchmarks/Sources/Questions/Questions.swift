// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CBenchmark
import Dialtone

/// `Questions [ROUNDS]`: what a synchronous question costs, beside the bare system calls of one RTM_GETROUTE.
@main
struct Questions {
  static func main() async throws {
    let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 5
    let target = ReachabilityTarget.address(IPAddress(ipv4: 0x7F00_0001))
    let monitor = ReachabilityMonitor()
    _ = try await monitor.waitUntilDetermined()
    let socket = bench_open()

    var current: [Duration] = []
    var watched: [Duration] = []
    var alone: [Duration] = []
    var kernel: [Duration] = []
    var pair: [Duration] = []
    // They take turns.
    for _ in 0..<rounds {
      kernel.append(median(of: 10_000) { require(bench_ask(socket) == 0) })
      pair.append(median(of: 10_000) { require(bench_ask_twice(socket) == 0) })
      watched.append(median(of: 10_000) { require(Reachability.now(target).isReachable) })
      current.append(
        median(of: 1_000) { for _ in 0..<1_000 { require(monitor.current.status != .undetermined) } } / 1_000)
      monitor.pause()
      alone.append(median(of: 200) { require(Reachability.now(target).isReachable) })
      monitor.resume()
      _ = try await monitor.waitUntilDetermined()
    }
    let base = middle(pair)
    func row(_ name: String, _ times: [Duration]) {
      let time = middle(times)
      print(column(name, 58) + column(nanoseconds(time), 12) + "\(tenths(time / base)) ×")
    }
    print("medians of \(rounds) rounds, an IPv4 address")
    row("one RTM_GETROUTE: send(2), recv(2)", kernel)
    row("the two that a state needs: send(2), recv(2), recv(2)", pair)
    row("Reachability.now, while a monitor watches", watched)
    row("Reachability.now, with nothing open", alone)
    row("monitor.current", current)
  }

  private static func median(of count: Int, _ body: () throws -> Void) rethrows -> Duration {
    let clock = ContinuousClock()
    return middle(try (0..<count).map { _ in try clock.measure(body) })
  }

  private static func middle(_ times: [Duration]) -> Duration { times.sorted()[times.count / 2] }

  /// A wrong answer would come quickly, and measure nothing.
  private static func require(_ isTrue: Bool) { precondition(isTrue, "a wrong answer") }

  private static func nanoseconds(_ time: Duration) -> String { "\(time.components.attoseconds / 1_000_000_000) ns" }

  private static func tenths(_ ratio: Double) -> String {
    ratio < 10 ? "\((ratio * 100).rounded() / 100)" : "\(Int(ratio.rounded()))"
  }

  private static func column(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
}
#endif
