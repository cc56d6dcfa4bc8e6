// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// What the kernel tells of a TCP connection's progress: `struct tcp_info` of linux/tcp.h, as far as it is needed.
struct SocketProgress: Equatable {
  var retransmits: UInt8 = 0
  var probes: UInt8 = 0
  var backoff: UInt8 = 0
  /// In microseconds.
  var retransmissionTimeout: UInt32 = 0
  /// Segments that were sent and are not acknowledged.
  var unacknowledged: UInt32 = 0
  /// Milliseconds since data were last sent.
  var lastSent: UInt32 = 0
  /// Milliseconds since new data last came.
  var lastReceived: UInt32 = 0
  /// The smoothed round-trip time in microseconds.
  var roundTrip: UInt32 = 0
  var totalRetransmissions: UInt32 = 0
  var bytesAcknowledged: UInt64 = 0
  var bytesReceived: UInt64 = 0
  var segmentsOut: UInt32 = 0
  var segmentsIn: UInt32 = 0
  /// Bytes that were written and never left.
  var unsentBytes: UInt32 = 0
  /// Those of `segmentsIn` that had data.
  var dataSegmentsIn: UInt32 = 0
  /// Whether bytes have come that nobody has read yet. It is not part of the structure.
  var hasUnread = false

  init() {}

  /// Reads what getsockopt(2) wrote for TCP_INFO; `nil` if the kernel's structure is too short (before Linux 4.6).
  init?(_ bytes: RawSpan) {
    guard bytes.byteCount >= 156 else { return nil }
    // Plain integers, whose places are inside of the bytes counted above.
    func byte(_ offset: Int) -> UInt8 { unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
    func word(_ offset: Int) -> UInt32 { unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    func long(_ offset: Int) -> UInt64 { unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    retransmits = byte(2)
    probes = byte(3)
    backoff = byte(4)
    retransmissionTimeout = word(8)
    unacknowledged = word(24)
    lastSent = word(44)
    lastReceived = word(52)
    roundTrip = word(68)
    totalRetransmissions = word(100)
    bytesAcknowledged = long(120)
    bytesReceived = long(128)
    segmentsOut = word(136)
    segmentsIn = word(140)
    unsentBytes = word(144)
    dataSegmentsIn = word(152)
  }

  /// Whether something that was written is not acknowledged. What never left is not among the unacknowledged segments.
  var isOutstanding: Bool { unacknowledged > 0 || unsentBytes > 0 }

  /// How many nanoseconds are left until the kernel sends what is outstanding again.
  var nextTransmission: Int64 {
    // With nothing in flight it is the timer of probes, which doubles by `backoff` (tcp_probe0_when). In flight, the
    // timeout has been doubled already.
    let shift = unacknowledged == 0 ? Int64(min(backoff, 20)) : 0
    let timeout = min(Int64(retransmissionTimeout) << shift, 120_000_000) * 1_000
    return max(timeout - Int64(lastSent) * 1_000_000, 0)
  }

  /// Whether the next transmission is further away than `limit` nanoseconds, since others had no answer. The timer of
  /// what was sent once is as long as its answer may take. One probe may be under way.
  func isStalled(beyond limit: Int64) -> Bool {
    isOutstanding && nextTransmission > limit && (unacknowledged > 0 ? backoff > 0 : probes > 1)
  }

  /// How many nanoseconds after a change, at which these were the figures, nothing arrives any more that was under way.
  var settling: Int64 {
    let roundTrip = Int64(self.roundTrip) * 1_000
    // An acknowledgement may be held back for half a second (RFC 9293, 3.8.6.3).
    return unacknowledged > 0 ? roundTrip + max(roundTrip, 500_000_000) : max(2 * roundTrip, 40_000_000)
  }

  /// The segments that came without data: acknowledgements, and nothing else.
  var bareSegmentsIn: UInt32 { segmentsIn &- dataSegmentsIn }

  /// Returns whether the connection works, if these were its figures once nothing was under way any more.
  func shows(since start: SocketProgress) -> Bool {
    if bytesAcknowledged != start.bytesAcknowledged { return true }
    // The answer to a probe, also of a window that the other side keeps shut, on which the kernel counts from zero
    // again. Data are no answer, and we acknowledge them without one.
    return unacknowledged == 0 && probes == 0 && segmentsOut != start.segmentsOut
      && bareSegmentsIn != start.bareSegmentsIn
  }

  /// How long the other side goes on sending without our acknowledgements, at most, in nanoseconds: until its
  /// retransmission timeout (RFC 6298), a second if it does not know better. New data that come later show that it gets
  /// them.
  var patienceOfSender: Int64 { max(4 * Int64(roundTrip) * 1_000, 1_000_000_000) }

  /// Returns how often something was sent again, or probed, without an answer.
  func attempts(since start: SocketProgress) -> Int {
    // Of what is in flight and cannot even be sent again, only the back-off rises. Without anything in flight it rises
    // with each probe, answered or not.
    max(
      Int(totalRetransmissions &- start.totalRetransmissions), Int(probes) - Int(start.probes),
      unacknowledged > 0 ? Int(backoff) - Int(start.backoff) : 0)
  }
}
#endif
