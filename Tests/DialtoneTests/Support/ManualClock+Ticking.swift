// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting

extension ManualClock {
  /// Lets time pass, a second every millisecond, until the result is cancelled or released. For a deadline that begins
  /// at a moment a test cannot see.
  func ticking(by step: Duration = .seconds(1)) -> Reception {
    let task = Task {
      while !Task.isCancelled {
        advance(by: step)
        // This is the pace, not a wait: it lets other threads run. An error means that this is cancelled.
        do { try await Task.sleep(for: .milliseconds(1)) } catch { return }
      }
    }
    return Reception { task.cancel() }
  }
}
