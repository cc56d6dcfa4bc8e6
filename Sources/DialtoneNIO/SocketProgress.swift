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
  /// The smoothed round-trip time in microseconds.
  var roundTrip: UInt32 = 0
  var totalRetransmissions: UInt32 = 0
  var bytesAcknowledged: UInt64 = 0
  var bytesReceived: UInt64 = 0
  var segmentsOut: UInt32 = 0
  var segmentsIn: UInt32 = 0
  /// Bytes that were written and never left.
  var unsentBytes: UInt32 = 0

  init() {}

  /// Reads what getsockopt(2) wrote for TCP_INFO; `nil` if the kernel's structure is too short (before Linux 4.6).
  init?(_ bytes: RawSpan) {
    guard bytes.byteCount >= 148 else { return nil }
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
    roundTrip = word(68)
    totalRetransmissions = word(100)
    bytesAcknowledged = long(120)
    bytesReceived = long(128)
    segmentsOut = word(136)
    segmentsIn = word(140)
    unsentBytes = word(144)
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

  /// Returns whether the connection works since a change, `age` nanoseconds ago, at which the socket had the figures
  /// `start`.
  func shows(sinceChange start: SocketProgress, age: Int64) -> Bool {
    let roundTrip = Int64(self.roundTrip) * 1_000
    // What was in flight at the change may be acknowledged within a round trip, whatever became of the path.
    let isSettled = age > max(2 * roundTrip, 40_000_000)
    if bytesAcknowledged != start.bytesAcknowledged, isSettled { return true }
    // The other side goes on sending only as long as it gets our acknowledgements.
    if bytesReceived != start.bytesReceived, age > max(4 * roundTrip, 1_000_000_000), !isOutstanding { return true }
    // The answer to a probe, on which the kernel counts from zero again.
    return !isOutstanding && !start.isOutstanding && probes == 0 && segmentsOut != start.segmentsOut
      && segmentsIn != start.segmentsIn && isSettled
  }

  /// Returns how often something was sent again, or probed, without an answer.
  func attempts(since start: SocketProgress) -> Int {
    // Of what cannot even be sent, only the back-off rises.
    max(
      Int(totalRetransmissions &- start.totalRetransmissions), Int(probes) - Int(start.probes),
      Int(backoff) - Int(start.backoff))
  }
}
#endif
