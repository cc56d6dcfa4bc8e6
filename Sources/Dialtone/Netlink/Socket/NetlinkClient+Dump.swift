// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
package enum NetlinkDumpStep: Hashable, Sendable {
  /// A new attempt: what the attempt before handed over is void.
  case began
  case message(NetlinkMessage)
}

package struct NetlinkDumpOutcome: Hashable, Sendable {
  package let attempts: Int
  /// Whether changes overtook the last attempt, too. Entries may be missing or double.
  package let wasInterrupted: Bool
  /// Whether the kernel honoured the filter of the request.
  let wasFiltered: Bool
}

extension NetlinkClient {
  /// How many datagrams of one attempt may bring nothing of the dump.
  private static var futileLimit: Int { 1024 }

  private enum Attempt {
    case complete
    case interrupted
    case lost(NetlinkError.Code)
  }

  /// Reads everything of one type.
  ///
  /// The kernel walks its tables while others change them. If it says that it noticed (`NLM_F_DUMP_INTR`; never for
  /// routes), or if parts were lost, the dump is read again, up to `attempts` times. Then the last attempt's result
  /// counts.
  ///
  /// - Parameters:
  ///   - type: the request: `getLink`, `getAddress` and so on.
  ///   - family: only this family; links and nexthops take only `unspecified`.
  ///   - table: only routes of this table.
  ///   - attempts: how often to read at most.
  ///   - body: gets each step and the bytes it points into, empty for ``NetlinkDumpStep/began``.
  /// - Returns: how it went.
  /// - Throws: the kernel's refusal; ``NetlinkError/Code/overrun`` or ``NetlinkError/Code/noAnswer`` if the last
  ///   attempt did not reach its end.
  package mutating func dump(
    _ type: NetlinkMessageType, family: KernelAddressFamily = .unspecified, table: UInt32? = nil, attempts: Int = 8,
    _ body: (_ step: NetlinkDumpStep, _ bytes: RawSpan) -> Void
  ) throws(NetlinkError) -> NetlinkDumpOutcome {
    try dump(
      Self.operation(type), attempts: attempts,
      request: { $0.appendDump(type, family: family, table: table, sequence: $1) }, body)
  }

  /// Calls `body` with everything of one type that `read` can read, after `begin` for each attempt, which makes the
  /// attempt before void. It goes like a dump.
  ///
  /// - Returns: Whether the last attempt was not interrupted, so that nothing is missing.
  mutating func list<Value>(
    _ type: NetlinkMessageType, family: KernelAddressFamily = .unspecified, table: UInt32? = nil,
    begin: () -> Void = {}, _ read: (NetlinkMessage, RawSpan) -> Value?, _ body: (Value) -> Void
  ) throws(NetlinkError) -> Bool {
    try !dump(type, family: family, table: table) { step, bytes in
      switch step {
      case .began: begin()
      case .message(let message): if let value = read(message, bytes) { body(value) }
      }
    }.wasInterrupted
  }

  /// Reads everything that a request lists, as for a dump of one type. `operation` is what is done, for errors: "list
  /// peers".
  package mutating func dump(
    _ operation: String, attempts: Int = 8, request: (inout NetlinkRequestBuilder, _ sequence: UInt32) -> Void,
    _ body: (_ step: NetlinkDumpStep, _ bytes: RawSpan) -> Void
  ) throws(NetlinkError) -> NetlinkDumpOutcome {
    var attempt = 0
    var wasFiltered = false
    while true {
      attempt += 1
      let sequence = takeSequences(1)
      dumpRequest.removeAll()
      request(&dumpRequest, sequence)
      // SAFETY: bytes have no padding between them.
      try socket.send(unsafe dumpRequest.bytes.span.bytes)
      body(.began, RawSpan())
      wasFiltered = false
      let end = try readDump(sequence, operation, &wasFiltered, body)
      switch end {
      case .complete:
        return NetlinkDumpOutcome(attempts: attempt, wasInterrupted: false, wasFiltered: wasFiltered)
      case .interrupted where attempt >= attempts:
        return NetlinkDumpOutcome(attempts: attempt, wasInterrupted: true, wasFiltered: wasFiltered)
      case .lost(let code) where attempt >= attempts:
        throw NetlinkError(code, operation: operation)
      case .interrupted, .lost:
        continue
      }
    }
  }

  /// Reads one attempt to its end. While it is unfinished, the kernel refuses a new dump (`EBUSY`).
  private mutating func readDump(
    _ sequence: UInt32, _ operation: String, _ wasFiltered: inout Bool,
    _ body: (_ step: NetlinkDumpStep, _ bytes: RawSpan) -> Void
  ) throws(NetlinkError) -> Attempt {
    var reader = DumpReader(sequence: sequence, operation: operation)
    var futile = 0
    while !reader.isDone, futile < Self.futileLimit {
      switch try socket.receive(into: buffer) {
      case .datagram(let count):
        let isOurs = try buffer.withBytes(0..<count) { bytes throws(NetlinkError) in
          try reader.read(bytes, body)
        }
        futile += isOurs ? 0 : 1
      case .empty:
        return .lost(reader.loss ?? .noAnswer)
      case .overrun, .truncated:
        reader.loss = .overrun
        futile += 1
      case .foreign:
        futile += 1
      }
    }
    wasFiltered = reader.wasFiltered
    if let loss = reader.loss { return .lost(loss) }
    if !reader.isDone { return .lost(.noAnswer) }
    return reader.wasInterrupted ? .interrupted : .complete
  }

  private static func operation(_ type: NetlinkMessageType) -> String {
    switch type {
    case .getLink: "list links"
    case .getAddress: "list addresses"
    case .getRoute: "list routes"
    case .getRule: "list routing rules"
    case .getNexthop: "list nexthop objects"
    case .getNeighbour: "list neighbours"
    default: "list objects of type \(type.rawValue)"
    }
  }
}

/// What is known while the datagrams of one dump come in.
private struct DumpReader {
  let sequence: UInt32
  let operation: String
  var isDone = false
  var wasInterrupted = false
  var wasFiltered = false
  var loss: NetlinkError.Code?
  var refusal: (errno: Int32, text: String?)?

  /// - Returns: whether anything in the datagram belonged to this dump.
  mutating func read(
    _ bytes: RawSpan, _ body: (_ step: NetlinkDumpStep, _ bytes: RawSpan) -> Void
  ) throws(NetlinkError) -> Bool {
    var isOurs = false
    var cursor = NetlinkMessageCursor(count: bytes.byteCount)
    do throws(NetlinkFormatError) {
      while let message = try cursor.next(in: bytes) {
        // A stale answer to an earlier request is no error.
        guard message.header.sequence == sequence else { continue }
        isOurs = true
        if message.flags.contains(.dumpFiltered) { wasFiltered = true }
        if message.type == .done || message.type == .error {
          isDone = true
          guard let end = NetlinkAcknowledgement(message, in: bytes) else {
            loss = .malformed
            return true
          }
          if message.type == .done, message.flags.contains(.dumpInterrupted) { wasInterrupted = true }
          refusal = end.isSuccess ? nil : (end.errno, end.text(in: bytes))
        } else if message.type != .noop {
          // In an acknowledgement this bit means something else, so it is read only here and in `done`.
          if message.flags.contains(.dumpInterrupted) { wasInterrupted = true }
          body(.message(message), bytes)
        }
      }
    } catch {
      loss = .malformed
    }
    if let refusal {
      throw NetlinkError(.refusedByKernel, errno: refusal.errno, operation: operation, message: refusal.text)
    }
    return isOurs
  }
}
#endif
