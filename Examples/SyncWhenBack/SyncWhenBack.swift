// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Sync when the network is back: a program that measures something every second, and sends it off whenever it can.
//
//   swift run SyncWhenBack
//
// Pull the cable while it runs: measurements are kept. Plug it in again: they are sent, in their order, at once.

import Dialtone
import Foundation

@main
struct SyncWhenBack {
  static func main() async throws {
    let monitor = ReachabilityMonitor(.internet)
    let outbox = Outbox { measurement in
      // Your upload goes here. It may throw: a packet that can leave may still not arrive.
      say("    sent \(measurement)")
    }
    let observation = monitor.observe(on: outbox) { outbox, reachability in
      say("\(reachability)")
      outbox.isOpen = reachability.isReachable
    }

    for number in 1... {
      await outbox.add("measurement \(number)")
      try await Task.sleep(for: .seconds(1))
    }
    withExtendedLifetime(observation) {}
  }
}

/// Keeps what has not been sent, and sends it while it is open.
actor Outbox {
  var isOpen = false {
    didSet { if isOpen { startSending() } }
  }

  private let send: @Sendable (String) async throws -> Void
  private var unsent: [String] = []
  private var isSending = false

  init(send: @escaping @Sendable (String) async throws -> Void) { self.send = send }

  func add(_ item: String) {
    unsent.append(item)
    if isOpen { startSending() } else { say("    kept \(item); \(unsent.count) to send") }
  }

  private func startSending() {
    if isSending { return }
    isSending = true
    Task { await sendAll() }
  }

  /// Sends one after the other. While one is on its way, the actor is free for others.
  private func sendAll() async {
    defer { isSending = false }
    while isOpen, let item = unsent.first {
      do {
        try await send(item)
        unsent.removeFirst()
      } catch {
        // It stays the first, until something is added or the network changes.
        say("    not sent \(item): \(error)")
        return
      }
    }
  }
}

/// Prints a line at once, also into a pipe.
func say(_ line: String) {
  print(line)
  fflush(nil)  // all streams (fflush(3))
}
