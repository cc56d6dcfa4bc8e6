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
    let later = ["segs_out", "segs_in", "notsent_bytes", "min_rtt"]
    return bytes.map { ($0, 1) } + words.map { ($0, 4) } + longs.map { ($0, 8) } + later.map { ($0, 4) }
  }()

  /// What the kernel writes: each byte of the structure is its own number, so that no two members are alike.
  private static let structure = (0..<152).map { UInt8($0) }

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
      ($0.lastSent, $0.roundTrip) = (value("last_data_sent"), value("rtt"))
      $0.totalRetransmissions = value("total_retrans")
      ($0.bytesAcknowledged, $0.bytesReceived) = (value("bytes_acked"), value("bytes_received"))
      ($0.segmentsOut, $0.segmentsIn) = (value("segs_out"), value("segs_in"))
      $0.unsentBytes = value("notsent_bytes")
    }
    #expect(read == written)
    // An older kernel's structure ends before the last member: it is not read.
    #expect(unsafe SocketProgress(Array(Self.structure[..<148]).span.bytes) == read)
    #expect(unsafe SocketProgress(Array(Self.structure[..<147]).span.bytes) == nil)
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

  /// What is acknowledged later than a round trip can take was sent after the change.
  @Test func anAcknowledgementCountsAfterTwoRoundTrips() {
    let start = figures { $0.roundTrip = 100_000 }
    for acknowledged in [1, 1 << 40] as [UInt64] {
      let later = figures { ($0.roundTrip, $0.bytesAcknowledged) = (100_000, acknowledged) }
      #expect(!later.shows(sinceChange: start, age: 200_000_000))
      #expect(later.shows(sinceChange: start, age: 200_000_001))
    }
    // On a quick network, the other side's delayed acknowledgement (40 ms, TCP_DELACK_MIN) may have been under way.
    let quick = figures { ($0.roundTrip, $0.bytesAcknowledged) = (10, 1) }
    #expect(!quick.shows(sinceChange: figures { $0.roundTrip = 10 }, age: 40_000_000))
    #expect(quick.shows(sinceChange: figures { $0.roundTrip = 10 }, age: 40_000_001))
    #expect(!start.shows(sinceChange: start, age: .max), "nothing happened")
  }

  @Test func whatComesInCountsIfNothingIsOutstandingForLong() {
    let start = figures { $0.roundTrip = 500_000 }
    func received(_ change: (inout SocketProgress) -> Void = { _ in }) -> SocketProgress {
      figures {
        ($0.roundTrip, $0.bytesReceived) = (500_000, 7)
        change(&$0)
      }
    }
    #expect(!received().shows(sinceChange: start, age: 2_000_000_000), "four round trips")
    #expect(received().shows(sinceChange: start, age: 2_000_000_001))
    #expect(!received { $0.unacknowledged = 1 }.shows(sinceChange: start, age: 9_000_000_000))
    #expect(!received { $0.unsentBytes = 1 }.shows(sinceChange: start, age: 9_000_000_000))
    #expect(!received { $0.roundTrip = 10 }.shows(sinceChange: start, age: 1_000_000_000), "at least a second")
    #expect(received { $0.roundTrip = 10 }.shows(sinceChange: start, age: 1_000_000_001))
  }

  @Test func anAnsweredProbeCounts() {
    let start = figures { $0.roundTrip = 100_000 }
    func probed(_ change: (inout SocketProgress) -> Void = { _ in }) -> SocketProgress {
      figures {
        ($0.roundTrip, $0.segmentsOut, $0.segmentsIn) = (100_000, 1, 1)
        change(&$0)
      }
    }
    #expect(probed().shows(sinceChange: start, age: 200_000_001))
    #expect(!probed().shows(sinceChange: start, age: 200_000_000), "it may be older")
    let others: [(inout SocketProgress) -> Void] = [
      { $0.segmentsIn = 0 }, { $0.segmentsOut = 0 }, { $0.probes = 1 }, { $0.unacknowledged = 1 },
      { $0.unsentBytes = 1 },
    ]
    for change in others { #expect(!probed(change).shows(sinceChange: start, age: 9_000_000_000)) }
    // What was outstanding before may be what was answered.
    let busy = figures { ($0.roundTrip, $0.unacknowledged) = (100_000, 1) }
    #expect(!probed().shows(sinceChange: busy, age: 9_000_000_000))
  }

  @Test func eachKindOfAttemptCountsSinceTheChange() {
    let start = figures { ($0.totalRetransmissions, $0.probes, $0.backoff) = (10, 1, 1) }
    #expect(start.attempts(since: start) == 0)
    #expect(figures { ($0.totalRetransmissions, $0.probes, $0.backoff) = (12, 1, 2) }.attempts(since: start) == 2)
    #expect(figures { ($0.totalRetransmissions, $0.probes, $0.backoff) = (11, 4, 1) }.attempts(since: start) == 3)
    #expect(figures { ($0.totalRetransmissions, $0.probes, $0.backoff) = (10, 0, 5) }.attempts(since: start) == 4)
    // The kernel's counter has 32 bits.
    let high = figures { $0.totalRetransmissions = .max }
    #expect(figures { $0.totalRetransmissions = 1 }.attempts(since: high) == 2)
  }
}
#endif
