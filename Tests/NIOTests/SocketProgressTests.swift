// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import DialtoneNIO
import Testing

/// What TCP_INFO says, and what follows from it.
struct SocketProgressTests {
  private func figures(_ change: (inout SocketProgress) -> Void) -> SocketProgress {
    var figures = SocketProgress()
    change(&figures)
    return figures
  }

  /// The members of `struct tcp_info` in their order (linux/tcp.h), each with how many bytes it has.
  private static let members: [(name: String, width: Int)] = {
    let bytes = ["state", "ca_state", "retransmits", "probes", "backoff", "options", "wscale", "flags"]
    let words = [
      "rto", "ato", "snd_mss", "rcv_mss", "unacked", "sacked", "lost", "retrans", "fackets", "last_data_sent",
      "last_ack_sent", "last_data_recv", "last_ack_recv", "pmtu", "rcv_ssthresh", "rtt", "rttvar", "snd_ssthresh",
      "snd_cwnd", "advmss", "reordering", "rcv_rtt", "rcv_space", "total_retrans",
    ]
    let longs = ["pacing_rate", "max_pacing_rate", "bytes_acked", "bytes_received"]
    let later = ["segs_out", "segs_in", "notsent_bytes", "min_rtt", "data_segs_in"]
    return bytes.map { ($0, 1) } + words.map { ($0, 4) } + longs.map { ($0, 8) } + later.map { ($0, 4) }
  }()

  /// What the kernel writes: each byte of the structure is its own number, so that no two members are alike.
  private static let structure = (0..<160).map { UInt8($0) }

  private func value<Value: FixedWidthInteger>(_ name: String) -> Value {
    let position = Self.members.firstIndex { $0.name == name } ?? Self.members.count
    let offset = Self.members[..<position].reduce(0) { $0 + $1.width }
    return Self.structure[offset..<(offset + Value.bitWidth / 8)].reversed().reduce(0) { $0 << 8 | Value($1) }
  }

  @Test func readsEachMemberWhereTheKernelHasIt() throws {
    let read = try #require(unsafe SocketProgress(Self.structure.span.bytes))
    let written = figures {
      ($0.retransmits, $0.probes, $0.backoff) = (value("retransmits"), value("probes"), value("backoff"))
      ($0.retransmissionTimeout, $0.unacknowledged) = (value("rto"), value("unacked"))
      ($0.lastSent, $0.lastReceived) = (value("last_data_sent"), value("last_data_recv"))
      $0.roundTrip = value("rtt")
      $0.totalRetransmissions = value("total_retrans")
      ($0.bytesAcknowledged, $0.bytesReceived) = (value("bytes_acked"), value("bytes_received"))
      ($0.segmentsOut, $0.segmentsIn) = (value("segs_out"), value("segs_in"))
      ($0.unsentBytes, $0.dataSegmentsIn) = (value("notsent_bytes"), value("data_segs_in"))
    }
    #expect(read == written)
    // An older kernel's structure ends before the last member: it is not read.
    #expect(unsafe SocketProgress(Array(Self.structure[..<156]).span.bytes) == read)
    #expect(unsafe SocketProgress(Array(Self.structure[..<155]).span.bytes) == nil)
  }

  @Test func whatIsNotAcknowledgedOrNeverLeftIsOutstanding() {
    #expect(!figures { _ in }.isOutstanding)
    #expect(figures { $0.unacknowledged = 1 }.isOutstanding && figures { $0.unsentBytes = 1 }.isOutstanding)
  }

  /// tcp_probe0_when (include/net/tcp.h): without anything in flight the kernel doubles the timeout by `backoff`, up to
  /// TCP_RTO_MAX, two minutes. In flight, `icsk_rto` has been doubled already.
  @Test(arguments: [
    (UInt32(0), UInt8(0), UInt32(200_000), UInt32(0), Int64(200)), (0, 3, 200_000, 100, 1_500),
    (1, 3, 1_600_000, 100, 1_500), (2, 0, 200_000, 150, 50), (0, 12, 1_000_000, 1_000, 119_000),
    (0, 255, 200_000, 0, 120_000), (1, 0, 120_000_000, 0, 120_000), (1, 0, 200_000, 201, 0),
  ])
  func theNextTransmissionIsTheTimeoutSinceTheLast(
    unacknowledged: UInt32, backoff: UInt8, microseconds: UInt32, lastSent: UInt32, milliseconds: Int64
  ) {
    let progress = figures {
      ($0.unacknowledged, $0.backoff, $0.retransmissionTimeout) = (unacknowledged, backoff, microseconds)
      $0.lastSent = lastSent
    }
    #expect(progress.nextTransmission == milliseconds * 1_000_000)
  }

  /// RFC 9293, 3.8.6.3: an acknowledgement may be held back for less than half a second. What the other side sends by
  /// itself takes a round trip at most; as before, that is at least the kernel's own delay (40 ms, TCP_DELACK_MIN).
  @Test(arguments: [
    (UInt32(0), UInt32(10), Int64(40)), (0, 20_000, 40), (0, 100_000, 200), (1, 0, 500), (1, 100_000, 600),
    (3, 500_000, 1_000), (1, 600_000, 1_200),
  ])
  func whatIsUnderWayArrivesWithinItsTime(unacknowledged: UInt32, microseconds: UInt32, milliseconds: Int64) {
    let progress = figures { ($0.unacknowledged, $0.roundTrip) = (unacknowledged, microseconds) }
    #expect(progress.settling == milliseconds * 1_000_000)
  }

  @Test func anAcknowledgementCounts() {
    let start = figures { $0.roundTrip = 100_000 }
    for acknowledged in [1, 1 << 40] as [UInt64] {
      #expect(figures { $0.bytesAcknowledged = acknowledged }.shows(since: start))
    }
    #expect(!start.shows(since: start), "nothing happened")
  }

  @Test func theSenderIsPatientForASecondOrFourRoundTrips() {
    for (microseconds, milliseconds) in [(10, 1_000), (250_000, 1_000), (500_000, 2_000)] as [(UInt32, Int64)] {
      #expect(figures { $0.roundTrip = microseconds }.patienceOfSender == milliseconds * 1_000_000)
    }
  }

  @Test func anAnsweredProbeCounts() {
    let start = figures { ($0.segmentsIn, $0.dataSegmentsIn) = (9, 4) }
    func probed(_ change: (inout SocketProgress) -> Void = { _ in }) -> SocketProgress {
      figures {
        ($0.segmentsOut, $0.segmentsIn, $0.dataSegmentsIn) = (1, 10, 4)
        change(&$0)
      }
    }
    #expect(probed().shows(since: start))
    // Data that wait for the other side's window are no reason against it.
    #expect(probed { $0.unsentBytes = 1 }.shows(since: start))
    let others: [(inout SocketProgress) -> Void] = [
      { $0.segmentsIn = 9 }, { $0.segmentsOut = 0 }, { $0.probes = 1 }, { $0.unacknowledged = 1 },
      // Data came, and we acknowledged them: nobody has answered us.
      { $0.dataSegmentsIn = 5 },
      { ($0.segmentsIn, $0.dataSegmentsIn, $0.segmentsOut, $0.bytesReceived) = (29, 24, 20, 20_000) },
    ]
    for change in others { #expect(!probed(change).shows(since: start)) }
    // The kernel's counters have 32 bits.
    let high = figures { ($0.segmentsIn, $0.dataSegmentsIn) = (2, .max) }
    #expect(figures { ($0.segmentsIn, $0.dataSegmentsIn) = (5, 1) }.bareSegmentsIn == 4)
    #expect(high.bareSegmentsIn == 3)
  }

  /// RFC 6298: the timer doubles (5.5) each time that it ends without an answer; before, it is as long as an answer may
  /// take. RFC 9293, 3.8.6.1: a probe of a window that is shut is answered, and the time between them grows, too.
  @Test func onlyWhatWasSentInVainIsStalled() {
    let far: (inout SocketProgress) -> Void = { ($0.unacknowledged, $0.retransmissionTimeout) = (1, 1_500_000) }
    func changed(_ change: (inout SocketProgress) -> Void) -> SocketProgress {
      figures {
        far(&$0)
        change(&$0)
      }
    }
    #expect(!figures(far).isStalled(beyond: 0))
    #expect(changed { $0.backoff = 1 }.isStalled(beyond: 1_499_999_999))
    #expect(!changed { $0.backoff = 1 }.isStalled(beyond: 1_500_000_000))
    // Nothing is in flight.
    let shut = changed { ($0.unacknowledged, $0.unsentBytes, $0.backoff) = (0, 9, 5) }
    #expect(!shut.isStalled(beyond: 0), "each probe was answered")
    for (probes, isStalled) in [(1, false), (2, true)] as [(UInt8, Bool)] {
      let probed = changed { ($0.unacknowledged, $0.unsentBytes, $0.probes) = (0, 9, probes) }
      #expect(probed.isStalled(beyond: 0) == isStalled, "the last probe may be under way")
    }
    #expect(!changed { ($0.unacknowledged, $0.probes, $0.backoff) = (0, 2, 1) }.isStalled(beyond: 0), "only keepalive")
  }

  @Test func eachKindOfAttemptCountsSinceTheChange() {
    let start = figures { ($0.totalRetransmissions, $0.probes, $0.backoff) = (10, 1, 1) }
    #expect(start.attempts(since: start) == 0)
    #expect(figures { ($0.totalRetransmissions, $0.probes, $0.backoff) = (12, 1, 2) }.attempts(since: start) == 2)
    #expect(figures { ($0.totalRetransmissions, $0.probes, $0.backoff) = (11, 4, 1) }.attempts(since: start) == 3)
    // Of what is in flight and cannot be sent, only the back-off rises; without anything in flight, it rises with each
    // probe of a window that is shut, also if that is answered.
    let silent = figures { ($0.totalRetransmissions, $0.probes, $0.backoff, $0.unacknowledged) = (10, 0, 5, 1) }
    #expect(silent.attempts(since: start) == 4)
    #expect(figures { ($0.totalRetransmissions, $0.probes, $0.backoff) = (10, 0, 5) }.attempts(since: start) == 0)
    // The kernel's counter has 32 bits.
    let high = figures { $0.totalRetransmissions = .max }
    #expect(figures { $0.totalRetransmissions = 1 }.attempts(since: high) == 2)
  }
}
#endif
