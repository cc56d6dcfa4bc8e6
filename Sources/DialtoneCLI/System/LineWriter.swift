// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import Dispatch

/// Writes lines to standard output on a thread of its own: a reader who takes nothing holds up nothing else.
///
/// It is a thread and no task: a call of write(2) that blocks cannot be cancelled, and the command ends beside it.
final class LineWriter: Sendable {
  private struct State {
    var queue = LineQueue()
    var isWriting = false
  }

  private let state = Lock(State())
  /// Signalled whenever there is a line to write.
  private let hasLine = DispatchSemaphore(value: 0)
  /// Signalled whenever nothing is left to write.
  private let hasWritten = DispatchSemaphore(value: 0)

  private init() {}

  /// `nil` if the system has no thread for it: the caller writes then.
  static func start() -> LineWriter? {
    let writer = LineWriter()
    return Thread.start(named: "dialtone-lines") { writer.run() } ? writer : nil
  }

  private func run() {
    while true {
      hasLine.wait()
      do throws(SystemError) {
        while let line = next() { try Output.line(line) }
      } catch {
        ExitStatus.end(for: error)
      }
      hasWritten.signal()
    }
  }

  private func next() -> String? {
    state.withLock { state in
      let line = state.queue.next()
      state.isWriting = line != nil
      return line
    }
  }

  /// Has a line about a target written. It returns at once.
  func write(_ line: String, target: Int) {
    state.withLock { $0.queue.append(line, of: target) }
    hasLine.signal()
  }

  var isIdle: Bool { state.withLock { $0.queue.isEmpty && !$0.isWriting } }

  /// Waits until all lines are written, or this time is over; `nil` is for ever. Returns whether they are.
  func finish(within limit: Duration?) -> Bool {
    let end = limit.map { DispatchTime.now() + .nanoseconds(Int($0.nanosecondsClamped)) } ?? .distantFuture
    while !isIdle {
      if hasWritten.wait(timeout: end) == .timedOut { return isIdle }
    }
    return true
  }
}

/// Lines in their order. Pure.
///
/// Invariant: a target's newest line is never lost. Memory is bounded even if the reader stalls: beyond `limit`, a
/// target's older line makes room for its newer one.
struct LineQueue {
  private typealias Entry = (target: Int, line: String)

  private static let limit = 1024

  /// `nil` if it was taken, or has made room.
  private var entries: [Entry?] = []
  /// The position of each target's newest line, and that of the next one to take.
  private var newest: [Int: Int] = [:]
  private var first = 0
  private var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func append(_ line: String, of target: Int) {
    if count >= Self.limit, let old = newest[target], entries[old] != nil {
      entries[old] = nil
      count -= 1
    }
    // Each time costs as much as the lines that have been added since the last time.
    if entries.count > 2 * count + Self.limit { compact() }
    newest[target] = entries.count
    entries.append((target, line))
    count += 1
  }

  mutating func next() -> String? {
    while first < entries.count {
      defer { first += 1 }
      guard let entry = entries[first] else { continue }
      entries[first] = nil
      count -= 1
      return entry.line
    }
    self = LineQueue()
    return nil
  }

  /// Closes the gaps.
  private mutating func compact() {
    entries.removeAll { $0 == nil }
    first = 0
    newest = [:]
    for (position, entry) in entries.enumerated() { newest[entry?.target ?? 0] = position }
  }
}
