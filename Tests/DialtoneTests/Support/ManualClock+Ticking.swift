// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting

extension ManualClock {
  /// Has time pass, a second every millisecond, until this is cancelled or released: for a deadline that begins at a
  /// moment which a test cannot see.
  func ticking(by step: Duration = .seconds(1)) -> Reception {
    let task = Task {
      while !Task.isCancelled {
        advance(by: step)
        // The pace, not a wait: it gives others the thread. An error says that this is cancelled.
        do { try await Task.sleep(for: .milliseconds(1)) } catch { return }
      }
    }
    return Reception { task.cancel() }
  }
}
