// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Work that is too large for a phone's contract. It waits for a path that is not cellular, and for the next one if it
// is lost.
//
//   swift run BackupOffCellular              # over any path to the Internet that is not cellular
//   swift run BackupOffCellular example.com  # to a host
//   swift run BackupOffCellular "" 20        # in 20 parts
//
// Pull the cable while it runs: it goes on from there as soon as there is such a path again.

import Dialtone
import Foundation

@main
struct BackupOffCellular {
  static func main() async throws {
    let target = try ReachabilityTarget(hostOrInternet: CommandLine.arguments.dropFirst().first)
    let monitor = ReachabilityMonitor(target)
    // Told of one property, and so only when another kind of interface leads to the target.
    let kinds = monitor.observe(\.interface?.kind) { kind in say("path: \(kind.map { "\($0)" } ?? "none")") }

    try await monitor.waitUntilReachable(over: .nonCellular)
    let backup = Backup(monitor, parts: CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 3)
    var policy = RetryPolicy()
    policy.maximumAttempts = .max
    do {
      try await monitor.retryOnPathChange(over: .nonCellular, policy: policy) { try await backup.run() }
      say("all is sent")
    } catch let error as ReachabilityError where error.code == .pathLost {
      // The policy's five minutes are over.
      say("\(error)")
    }
    withExtendedLifetime(kinds) {}
  }
}

/// Sends one part after another. If you run it again, it goes on with the part that failed.
actor Backup {
  struct Interrupted: Error {}

  private let monitor: ReachabilityMonitor
  private let parts: Int
  private var sent = 0

  init(_ monitor: ReachabilityMonitor, parts: Int) {
    self.monitor = monitor
    self.parts = parts
  }

  func run() async throws {
    while sent < parts {
      // Your upload goes here. A path may change under it: ask before each part, so that none goes over a phone.
      try await Task.sleep(for: .seconds(1))
      guard ReachabilityMonitor.InterfaceRequirement.nonCellular.isMet(by: monitor.current) else {
        say("    interrupted before part \(sent + 1)")
        throw Interrupted()
      }
      sent += 1
      say("    sent part \(sent) of \(parts)")
    }
  }
}

/// Prints a line at once, also into a pipe.
func say(_ line: String) {
  print(line)
  fflush(nil)  // all streams (fflush(3))
}
