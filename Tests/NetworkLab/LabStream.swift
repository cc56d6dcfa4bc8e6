// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// What a process writes, read with deadlines.
package final class LabStream: Sendable {
  private struct State {
    var buffer: [UInt8] = []
    var descriptor: Int32?
  }

  private let state: LabLock<State>

  /// Owns the descriptor, which does not block; nil is an empty stream.
  init(descriptor: Int32?) { state = LabLock(State(descriptor: descriptor)) }

  deinit { close() }

  /// The next line without its end, or nil at the end of the stream. Throws where neither comes in time.
  package func line(within limit: Duration = .seconds(5)) async throws -> String? {
    if let line = takeLine() { return line }
    return try await offPool { try self.waitForLine(within: limit) }
  }

  /// All that is left, up to the end of the stream.
  package func text(within limit: Duration = .seconds(60)) async throws -> String {
    try await offPool { try self.readAll(within: limit) }
  }

  /// Closes this end: the process gets SIGPIPE when it writes.
  package func close() {
    if let descriptor = state.withLock({ $0.descriptor.take() }) { lab_close(descriptor) }
  }

  func readAll(within limit: Duration) throws(LabError) -> String {
    let deadline = ContinuousClock.now + limit
    while try fill(until: deadline, of: limit) {}
    return String(decoding: state.withLock { $0.buffer.takeAll() }, as: UTF8.self)
  }

  private func waitForLine(within limit: Duration) throws(LabError) -> String? {
    let deadline = ContinuousClock.now + limit
    while true {
      if let line = takeLine() { return line }
      if try fill(until: deadline, of: limit) { continue }
      let rest = state.withLock { $0.buffer.takeAll() }
      return rest.isEmpty ? nil : String(decoding: rest, as: UTF8.self)
    }
  }

  /// Waits for bytes; false at the end of the stream.
  private func fill(until deadline: ContinuousClock.Instant, of limit: Duration) throws(LabError) -> Bool {
    while true {
      var bytes = [UInt8](repeating: 0, count: 16 * 1024)
      let result = state.withLock { state -> (descriptor: Int32, count: Int)? in
        guard let descriptor = state.descriptor else { return nil }
        // The function writes at most that many bytes.
        let count = unsafe bytes.withUnsafeMutableBufferPointer {
          unsafe lab_read(descriptor, $0.baseAddress, $0.count)
        }
        if count > 0 { state.buffer += bytes.prefix(count) }
        return (descriptor, count)
      }
      guard let result, result.count != 0 else { return false }
      if result.count > 0 { return true }
      guard result.count == -Int(EAGAIN) else { throw LabError("reading", code: Int32(-result.count)) }
      let left = deadline - .now
      guard left > .zero else { throw LabError("nothing to read within \(limit)") }
      try check(lab_wait_readable(result.descriptor, left.wholeMilliseconds), "waiting for output")
    }
  }

  private func takeLine() -> String? {
    state.withLock { state in
      guard let end = state.buffer.firstIndex(of: 10) else { return nil }
      var line = state.buffer[..<end]
      if line.last == 13 { line.removeLast() }  // A terminal makes \r\n of \n.
      defer { state.buffer.removeFirst(end + 1) }
      return String(decoding: line, as: UTF8.self)
    }
  }
}

extension [UInt8] {
  fileprivate mutating func takeAll() -> [UInt8] {
    defer { self = [] }
    return self
  }
}
#endif
