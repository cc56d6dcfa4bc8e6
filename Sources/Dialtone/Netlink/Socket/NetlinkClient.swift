// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem

// Invariant: the kernel answers the requests of a send before the send returns (rtnetlink and generic netlink run them
// in the caller's thread). So nothing here waits: an answer that is not there now will not come. Every loop is bounded.

/// Asks the kernel, on a socket of its own that joins no group.
package struct NetlinkClient: ~Copyable, Sendable {
  /// How many requests go into one send, and how many answers into one receive.
  static let slotCount = NetlinkSocket.datagramLimit
  /// Longer than a route with the most nexthops (256 of 28 bytes), and than any link without its virtual functions.
  static let slotSize = 16 * 1024
  /// How many receives may bring nothing asked for, such as answers to an earlier, failed exchange.
  private static let futileLimit = 1024
  /// How many receives of one exchange may report an overrun. The kernel reports one once a burst.
  private static let overrunLimit = 16

  let socket: NetlinkSocket
  let buffer: NetlinkBuffer
  private var sequence: UInt32 = 1
  var dumpRequest = NetlinkRequestBuilder()

  package init(_ kind: NetlinkProtocol = .route) throws(NetlinkError) {
    socket = try NetlinkSocket(kind)
    buffer = NetlinkBuffer(byteCount: Self.slotCount * Self.slotSize)
  }

  package var descriptor: CInt { socket.descriptor }
  /// Whether the descriptor is still the socket.
  package var isOpen: Bool { socket.isOpen }

  /// Sends requests and hands over one answer for each, in the order in which the kernel gives them.
  ///
  /// This takes two system calls for each 16 requests. It overwrites the builder's sequence numbers and nothing else,
  /// so you can send the same builder again. It is for requests with exactly one answer: reads of one object, or writes
  /// that ask for an acknowledgement. It is not for dumps.
  ///
  /// - Parameters:
  ///   - requests: what to send, perhaps nothing.
  ///   - body: gets the number of the request in the builder, the answer, and the bytes that it points into, empty if
  ///     the answer is lost. Called exactly once for each request, unless this throws.
  /// - Throws: if the socket fails. A request that the kernel refuses, or an answer that it loses, is an answer.
  package mutating func exchange(
    _ requests: inout NetlinkRequestBuilder,
    _ body: (_ index: Int, _ answer: NetlinkAnswer, _ bytes: RawSpan) -> Void
  ) throws(NetlinkError) {
    var first = 0
    while first < requests.count {
      let chunk = first..<min(first + Self.slotCount, requests.count)
      let sequences = takeSequences(chunk.count)
      requests.number(chunk, from: sequences)
      let range = requests.range(of: chunk.lowerBound).lowerBound..<requests.range(of: chunk.upperBound - 1).upperBound
      // SAFETY: bytes have no padding between them; `extracting` checks the range.
      try socket.send(unsafe requests.bytes.span.bytes.extracting(range))
      try receiveAnswers(to: chunk, from: sequences, body)
      first = chunk.upperBound
    }
  }

  /// Numbers that no earlier request of this socket had, so that a stale answer is recognised.
  mutating func takeSequences(_ count: Int) -> UInt32 {
    let first = sequence
    sequence &+= UInt32(count)
    return first
  }

  private mutating func receiveAnswers(
    to requests: Range<Int>, from firstSequence: UInt32,
    _ body: (_ index: Int, _ answer: NetlinkAnswer, _ bytes: RawSpan) -> Void
  ) throws(NetlinkError) {
    // One bit for each request without an answer yet.
    var pending: UInt32 = (1 << UInt32(requests.count)) - 1
    var loss = NetlinkAnswer.Loss.missing
    var attempts = 0
    var overruns = 0
    while pending != 0, attempts < Self.futileLimit, overruns < Self.overrunLimit {
      attempts += 1
      let wanted = pending.nonzeroBitCount
      let received = try socket.receive(into: buffer, slots: wanted, of: Self.slotSize) { start, found in
        let length: Int
        switch found {
        case .datagram(let count): length = count
        case .truncated: length = Self.slotSize
        case .foreign, .empty, .overrun: return
        }
        buffer.withBytes(start..<(start + length)) { bytes in
          Self.read(bytes, isTruncated: found == .truncated, firstSequence, requests, &pending, body)
        }
      }
      if received == 0 { break }
      if received == nil {
        loss = .overrun
        overruns += 1
      }
    }
    while pending != 0 {
      let index = pending.trailingZeroBitCount
      pending &= pending - 1
      body(requests.lowerBound + index, .lost(loss), RawSpan())
    }
  }

  private static func read(
    _ bytes: RawSpan, isTruncated: Bool, _ firstSequence: UInt32, _ requests: Range<Int>, _ pending: inout UInt32,
    _ body: (_ index: Int, _ answer: NetlinkAnswer, _ bytes: RawSpan) -> Void
  ) {
    /// The number of the request that a header answers, at most once for each.
    func request(_ header: NetlinkHeader) -> Int? {
      let index = header.sequence &- firstSequence
      guard index < UInt32(requests.count), header.type != .noop, pending & (1 << index) != 0 else { return nil }
      pending &= ~(1 << index)
      return requests.lowerBound + Int(index)
    }
    if isTruncated {
      if let header = NetlinkHeader(in: bytes, at: 0), let index = request(header) {
        body(index, .lost(.truncated), RawSpan())
      }
      return
    }
    var cursor = NetlinkMessageCursor(count: bytes.byteCount)
    do throws(NetlinkFormatError) {
      while let message = try cursor.next(in: bytes) {
        guard let index = request(message.header) else { continue }
        if message.type == .error {
          guard let acknowledgement = NetlinkAcknowledgement(message, in: bytes) else {
            body(index, .lost(.malformed), RawSpan())
            continue
          }
          body(index, .acknowledgement(acknowledgement), bytes)
        } else {
          body(index, .message(message), bytes)
        }
      }
    } catch {
      // Malformed bytes do not say which request they answer. It is reported as missing.
    }
  }
}

/// What became of one request.
package enum NetlinkAnswer: Hashable, Sendable {
  /// What was asked for.
  case message(NetlinkMessage)
  /// An error, or an acknowledgement if one was asked for.
  case acknowledgement(NetlinkAcknowledgement)
  /// The answer did not arrive: nothing is known.
  case lost(Loss)

  package enum Loss: Hashable, Sendable {
    /// The kernel sent none.
    case missing
    /// The kernel had to drop messages of this socket.
    case overrun
    /// It was longer than a slot of the buffer.
    case truncated
    /// It was no netlink message.
    case malformed
  }
}
#endif
