// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import Dispatch
internal import Netlink

/// Writes lines to standard output on a thread of its own: a reader who takes nothing holds up nothing else.
///
/// Lines stay in order. If they pile up, a target's older line makes room for its newer one (`Mailbox`).
final class LineWriter: Sendable {
  private let lines: Mailbox<String>
  private let wait: EventWait
  /// Set before lines are taken, so that a line is always in the mailbox or being written.
  private let isWriting = Lock(false)
  /// Signalled whenever nothing is left to write.
  private let hasWritten = DispatchSemaphore(value: 0)

  private init() throws(SystemError) {
    lines = try Mailbox<String>()
    wait = try EventWait(mailbox: lines, output: nil)
  }

  /// `nil` if the system has no thread or no descriptors for it: the caller writes then.
  static func start() -> LineWriter? {
    let writer: LineWriter
    do throws(SystemError) {
      writer = try LineWriter()
    } catch {
      return nil
    }
    let isStarted = Thread.start(named: "dialtone-lines") {
      while true {
        _ = writer.wait.wait(atMost: nil)
        writer.isWriting.withLock { $0 = true }
        do throws(SystemError) {
          for letter in writer.lines.takeAll() { try Output.line(letter.state) }
        } catch {
          ExitStatus.end(for: error)
        }
        writer.isWriting.withLock { $0 = false }
        writer.hasWritten.signal()
      }
    }
    return isStarted ? writer : nil
  }

  /// Has a line about a target written. It returns at once.
  func write(_ line: String, target: Int) { lines.post(line, for: target) }

  /// Whether all lines are written.
  var isIdle: Bool { lines.isEmpty && !isWriting.withLock { $0 } }

  /// Waits until all lines are written, or this time is over; `nil` is for ever. Returns whether they are.
  func finish(within limit: Duration?) -> Bool {
    let end = limit.map { DispatchTime.now() + .nanoseconds(Int($0.nanosecondsClamped)) } ?? .distantFuture
    while !isIdle {
      if hasWritten.wait(timeout: end) == .timedOut { return isIdle }
    }
    return true
  }
}
