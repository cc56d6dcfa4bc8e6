// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// A process inside a lab. It is killed when this object is released, or when the lab's thread ends.
package final class LabProcess: Sendable {
  /// How a process ended.
  package enum Ending: Sendable, Hashable {
    case exited(Int32)
    case signalled(Int32)
  }

  package let pid: Int32
  package let output: LabStream
  /// What the process writes as errors. Empty on a terminal, which has everything in ``output``.
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
    try reapAtItsEnd()
  }

  /// Reaps the process as soon as it has ended, on a thread of its own: while a process has ended and is not reaped,
  /// Swift Testing's thread that waits for exit tests keeps a processor busy.
  private func reapAtItsEnd() throws(LabError) {
    let descriptor = try check(lab_pidfd(pid), "opening a descriptor of the process \(pid)")
    let reaper = LabThread()
    try reaper.start()
    // Without this object, whose release kills the process.
    reaper.finish { [pid, ending] in
      // A signal ends a wait early. Code that waits for the process hears of an error.
      while lab_wait_readable(descriptor, -1) == 0 {}
      _ = try? Self.reap(pid, ending)
      lab_close(descriptor)
    }
  }

  deinit {
    // After SIGKILL the end takes milliseconds; to wait for it leaves no zombie. There is nobody to throw an error to;
    // whatever remains of a process ends with this one.
    if (try? reap()) == .some(nil) {
      kill(pid, SIGKILL)
      _ = try? waitForExit(within: .seconds(5))
    }
    lab_close(pidDescriptor)
  }

  /// Sends a signal; does nothing if the process has ended.
  package func signal(_ signal: Int32) throws {
    try ending.withLock { ending in
      // Under the lock and not reaped yet: so the number is still that of this process.
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

  private func reap() throws(LabError) -> Ending? { try Self.reap(pid, ending) }

  private static func reap(_ pid: Int32, _ ending: LabLock<Ending?>) throws(LabError) -> Ending? {
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
  /// Rounded up, so that a wait does not become a busy loop at its end.
  var wholeMilliseconds: Int32 {
    let (seconds, attoseconds) = components
    return Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
  }
}
#endif
