// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// A process inside a lab. It is killed when this goes away, or the lab's thread ends.
package final class LabProcess: Sendable {
  /// How a process ended.
  package enum Ending: Sendable, Hashable {
    case exited(Int32)
    case signalled(Int32)
  }

  package let pid: Int32
  package let output: LabStream
  /// What the process writes as errors; empty on a terminal, where all is ``output``.
  package let error: LabStream
  private let terminal: Int32?
  private let pidDescriptor: Int32
  private let ending = LabLock<Ending?>(nil)
  /// The process dies with the thread that started it.
  private let lab: NetworkLab

  init(pid: Int32, output: LabStream, error: LabStream, terminal: Int32?, lab: NetworkLab) throws(LabError) {
    self.pid = pid
    self.output = output
    self.error = error
    self.terminal = terminal
    self.lab = lab
    let descriptor = lab_pidfd(pid)
    if descriptor < 0 { kill(pid, SIGKILL) }
    pidDescriptor = try check(descriptor, "opening a descriptor of the process \(pid)")
  }

  deinit {
    // After SIGKILL the end is a matter of milliseconds: waiting leaves no zombie. Errors have nobody to go to here; what is
    // left of a process then ends with this one.
    if (try? reap()) == .some(nil) {
      kill(pid, SIGKILL)
      _ = try? waitForExit(within: .seconds(5))
    }
    lab_close(pidDescriptor)
  }

  /// Sends a signal; nothing where it has ended.
  package func signal(_ signal: Int32) throws {
    try ending.withLock { ending in
      // Not reaped yet, under the lock: the number still is that of this process.
      guard ending == nil else { return }
      try check(lab_signal(pid, signal), "sending the signal \(signal) to the process \(pid)")
    }
  }

  /// Waits for the end, without blocking the caller's thread.
  package func exit(within limit: Duration = .seconds(60)) async throws -> Ending {
    try await offPool { try self.waitForExit(within: limit) }
  }

  /// Types text on the terminal of the process.
  package func type(_ text: String) throws {
    guard let terminal else { throw LabError("the process has no terminal") }
    let bytes = Array(text.utf8)
    // The function reads within the count given.
    try check(
      unsafe bytes.withUnsafeBufferPointer { unsafe lab_write(terminal, $0.baseAddress, $0.count) }, "typing")
  }

  /// Changes the size of the terminal of the process, which gets SIGWINCH.
  package func resize(rows: UInt16, columns: UInt16) throws {
    guard let terminal else { throw LabError("the process has no terminal") }
    try check(lab_resize_terminal(terminal, rows, columns), "resizing the terminal")
  }

  func waitForExit(within limit: Duration) throws(LabError) -> Ending {
    let deadline = ContinuousClock.now + limit
    while true {
      if let ending = try reap() { return ending }
      let left = deadline - .now
      guard left > .zero else { throw LabError("the process \(pid) did not end within \(limit)") }
      try check(lab_wait_readable(pidDescriptor, left.wholeMilliseconds), "waiting for the process \(pid)")
    }
  }

  private func reap() throws(LabError) -> Ending? {
    try ending.withLock { ending throws(LabError) in
      if ending == nil {
        var code: Int32 = 0
        var signalled = false
        // Both are written before a result of 1.
        if try check(unsafe lab_reap(pid, &code, &signalled), "waiting for the process \(pid)") == 1 {
          ending = signalled ? .signalled(code) : .exited(code)
        }
      }
      return ending
    }
  }
}

extension Duration {
  /// Rounded up, so that a wait does not turn into a busy loop at its end.
  var wholeMilliseconds: Int32 {
    let (seconds, attoseconds) = components
    return Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
  }
}
#endif
