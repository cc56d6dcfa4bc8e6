// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneJournal

/// What the journal of systemd is told (systemd.journal-fields(7), and its native protocol).
struct JournaldMessageTests {
  private static let recorder = JournalEvent.Recorder(version: "1", boot: "b", targets: ["a", "b"])

  private static func outage(_ explanation: Explanation? = nil, reason: String? = "no-carrier") -> OpenOutage {
    OpenOutage(
      target: "a", began: moment(5), unwatched: 2_000_000, reason: reason, words: "w", explanation: explanation)
  }

  private static let found = Explanation(cause: "no-route", confidence: "likely", layer: .machine, summary: "found")
  private static let nothing = Explanation(cause: nil, confidence: "unknown", layer: .unknown, summary: "none")

  private func message(_ kind: JournalEvent.Kind, at: Moment = moment(60)) -> String? {
    JournaldMessage.bytes(JournalEvent(kind, at: at)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The priorities are those of syslog(3): 4 is a warning, 5 a notice, 6 an information.
  @Test(
    arguments: [
      (.start(recorder), "recording a, b", "ebc35c58665e4d0ca1da51c4e07f5148", 6, ""),
      (.stop(reason: "SIGTERM"), "recording ends: SIGTERM", "f0cd9a8b2fd74fb6a3a533efb36da56f", 6, ""),
      (
        .begin(outage(), isContinued: false), "a: outage begins: w", "ca31b34dff10415da16305a90447b24a", 4,
        "DIALTONE_TARGET=a\nDIALTONE_LAYER=link\nDIALTONE_REASON=no-carrier\n"
      ),
      (
        .begin(outage(reason: nil), isContinued: true), "a: outage goes on: w", "ca31b34dff10415da16305a90447b24a", 4,
        "DIALTONE_TARGET=a\nDIALTONE_LAYER=unknown\n"
      ),
      (
        .cause(outage(found)), "a: found", "a0b9b0bee82941a582331168e2e1bbf7", 5,
        "DIALTONE_TARGET=a\nDIALTONE_LAYER=machine\nDIALTONE_REASON=no-carrier\nDIALTONE_CAUSE=no-route\n"
          + "DIALTONE_CONFIDENCE=likely\n"
      ),
      (
        .cause(outage(nothing)), "a: none", "a0b9b0bee82941a582331168e2e1bbf7", 5,
        "DIALTONE_TARGET=a\nDIALTONE_LAYER=link\nDIALTONE_REASON=no-carrier\nDIALTONE_CONFIDENCE=unknown\n"
      ),
      (
        .cause(outage()), "a: w", "a0b9b0bee82941a582331168e2e1bbf7", 5,
        "DIALTONE_TARGET=a\nDIALTONE_LAYER=link\nDIALTONE_REASON=no-carrier\n"
      ),
      // From second 5 to 60, of which nobody watched two.
      (
        .end(outage(), how: "back", isWaking: false), "a: outage is over: back", "ecfdc0a2cd674e5b9c1493a1088352fa", 5,
        "DIALTONE_TARGET=a\nDIALTONE_LAYER=link\nDIALTONE_REASON=no-carrier\nDIALTONE_LASTED_USEC=53000000\n"
      ),
      (
        .path(NetworkSummary(status: "satisfied", interface: "eth0")), "packets leave by eth0: satisfied",
        "1eeac86715ba45519b49ec529d5a781b", 6, ""
      ),
      (
        .path(NetworkSummary(status: "unsatisfied")), "packets leave by no interface: unsatisfied",
        "1eeac86715ba45519b49ec529d5a781b", 6, ""
      ),
      (.sleep(5), "the machine was suspended", "7baca4e9713e4ec3a9e7d6fa8ee5de97", 6, ""),
      (.clock(-5), "the clock was set", "ad563d8330e34eef9a2c7d75571ba2a7", 6, ""),
      (
        .unknown(target: "a", reason: nil), "a: it is no longer known whether it is reachable",
        "a645af13fa614986a796e81875ce109d", 5, "DIALTONE_TARGET=a\n"
      ),
    ] as [(JournalEvent.Kind, String, String, Int, String)])
  func hasItsFields(kind: JournalEvent.Kind, text: String, identifier: String, priority: Int, more: String) {
    let name = JournalEvent(kind, at: moment(60)).name
    #expect(
      message(kind) == "MESSAGE=\(text)\nMESSAGE_ID=\(identifier)\nPRIORITY=\(priority)\n"
        + "SYSLOG_IDENTIFIER=dialtone\nDIALTONE_EVENT=\(name)\n\(more)")
  }

  @Test func saysNothingOfWhatNobodyWantsToRead() {
    #expect(message(.alive) == nil && message(.up(target: "a")) == nil)
    #expect(message(.file(Self.recorder, [], nil)) == nil)
  }

  /// systemd.io, "Native Journal Protocol": a value with a newline has a newline for its equals sign, then its length
  /// as 64 bits in little-endian order, then itself, then a newline.
  @Test(arguments: [(1, [3, 0]), (297, [0x2B, 1]), (66_000, [0xD2, 1])] as [(Int, [UInt8])])
  func aValueOfTwoLinesHasItsLength(count: Int, length: [UInt8]) throws {
    let value = "y\n" + String(repeating: "x", count: count)
    let bytes = try #require(
      JournaldMessage.bytes(JournalEvent(.unknown(target: value, reason: nil), at: moment(1))))
    // The last field of all. 66 002 is 0x101D2.
    let field = Array("DIALTONE_TARGET".utf8)
    var expected = field + [0x0A] + length + [count > 65_535 ? 1 : 0, 0, 0, 0, 0, 0]
    expected += Array(value.utf8) + [0x0A]
    #expect(Array(bytes.suffix(expected.count)) == expected)
  }

  @Test func aValueOfOneLineHasNone() throws {
    // 0x14 is twice a newline.
    let bytes = JournaldMessage.bytes(JournalEvent(.unknown(target: "a\u{14}=b", reason: nil), at: moment(1)))
    let text = String(decoding: try #require(bytes), as: UTF8.self)
    #expect(text.hasSuffix("\nDIALTONE_TARGET=a\u{14}=b\n"))
  }
}
