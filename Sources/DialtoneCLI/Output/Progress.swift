// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A line on standard error that is overwritten in place, only on a terminal. For any thread.
final class Progress: Sendable {
  /// When it first appears, and how often it is written again.
  static let interval = Duration.seconds(1)

  let isEnabled: Bool
  private let isShown = Atomic(false)

  init(isEnabled: Bool) { self.isEnabled = isEnabled }

  /// Whether the line is shown now.
  var isVisible: Bool { isShown.load(ordering: .relaxed) }

  func show(_ text: String) {
    guard isEnabled else { return }
    isShown.store(true, ordering: .relaxed)
    // Without wrapping (DECAWM), a line that is too long is cut by the terminal itself.
    Self.write("\r\u{1B}[K\u{1B}[?7l\(text)\u{1B}[?7h")
  }

  func erase() {
    if isShown.exchange(false, ordering: .relaxed) { Self.write("\r\u{1B}[K") }
  }

  private static func write(_ text: String) { StandardStream.error.writeIgnoringErrors(text) }
}
