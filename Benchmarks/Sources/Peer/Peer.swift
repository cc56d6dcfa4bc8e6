// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CBenchmark
import Dialtone
import Dispatch
import Glibc
import Synchronization

/// `Peer NAME [COUNT]`: watches the network until it is ended. For each state that it is told of, it writes the time to
/// standard output, as nanoseconds of CLOCK_MONOTONIC in eight bytes of host order. So do the peers in other languages.
/// `Peer first` writes how many nanoseconds passed up to the first known state, and ends. `Peer readers COUNT` reads
/// instead, prints what that costs, and ends.
@main
struct Peer {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    let count = arguments.dropFirst().first.flatMap { Int($0) } ?? 1
    switch arguments.first ?? "" {
    case "closure":
      let monitor = ReachabilityMonitor(.internet)
      let token = monitor.observe { _ in tell() }
      wait()
      withExtendedLifetime(token) {}
    case "sequence":
      for await _ in ReachabilityMonitor(.internet).updates { tell() }
    case "monitors": try await watch(count)
    case "unreachable": try await watch(count, isReachable: false)
    case "first":
      let begin = bench_now()
      let monitor = ReachabilityMonitor(.internet)
      let token = monitor.observe { _ in
        write(bench_now() - begin)
        exit(0)
      }
      wait()
      withExtendedLifetime(token) {}
    case "readers": return read(by: count)
    // C calls these on a thread of its own.
    case "bare": try check(bench_watch_bare { @Sendable _ in tell() })
    case "alike": try check(bench_watch_alike { @Sendable _ in tell() })
    case let name: throw Failure(description: "no such peer: \(name)")
    }
    // The first tells nothing before a change.
    if arguments.first == "bare" { tell() }
    wait()
  }

  /// Watches one address in each of `count` networks, beside the one that is told of: 192.0.2.1. Nothing is reachable
  /// over `v1`, which has no address.
  private static func watch(_ count: Int, isReachable: Bool = true) async throws {
    var configuration = ReachabilityConfiguration()
    if !isReachable { configuration.interface = "v1" }
    let others = (1..<max(1, count)).map { number in
      ReachabilityMonitor(
        .address(IPAddress(ipv4: 0x6440_0000 + UInt32(number) << 2)), configuration: configuration)
    }
    for monitor in others { _ = try await monitor.waitUntilDetermined() }
    let monitor = ReachabilityMonitor(.address(IPAddress(ipv4: 0xC000_0201)))
    let token = monitor.observe { _ in tell() }
    wait()
    withExtendedLifetime((others, token)) {}
  }

  /// Reads `current` on so many threads at once. Prints the nanoseconds of processor time that one reading takes, and
  /// those of one that takes a lock, as a program would that keeps a state by itself.
  private static func read(by threads: Int) {
    let monitor = ReachabilityMonitor(.internet)
    let kept = Mutex(monitor.current)
    let count = 200_000
    func cost(_ body: @escaping @Sendable () -> Bool) -> Int64 {
      let cpu = bench_cpu()
      DispatchQueue.concurrentPerform(iterations: threads) { _ in
        var known = 0
        for _ in 0..<count where body() { known += 1 }
        // What is read is used, or it would not have to be read.
        precondition(known <= count)
      }
      return (bench_cpu() - cpu) * 1_000 / Int64(threads * count)
    }
    for (name, cost) in [
      ("dialtone", cost { monitor.current.isReachable }), ("a lock", cost { kept.withLock { $0.isReachable } }),
    ] { print("\(name)\tcpu=\(Double(cost) / 1_000)") }
  }

  private static func wait() { while true { pause() } }

  private static func check(_ result: CInt) throws {
    if result != 0 { throw Failure(description: unsafe String(cString: strerror(-result))) }
  }
}

struct Failure: Error, CustomStringConvertible {
  let description: String
}

/// Writes the time.
@Sendable private func tell() { write(bench_now()) }

/// Eight bytes fit into a pipe that somebody reads, or the reader has gone, which ends this program.
private func write(_ value: Int64) {
  var value = value
  // The pointer is to the integer, and is used only during the call.
  if unsafe Glibc.write(1, &value, MemoryLayout<Int64>.size) < 0 { exit(1) }
}
