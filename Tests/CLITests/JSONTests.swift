// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneJournal
import Testing

@testable import DialtoneCLI

struct JSONTests {
  @Test(arguments: [
    ("", #""""#), ("a\"b\\c", #""a\"b\\c""#), ("\n\r\t", #""\n\r\t""#),
    ("\0\u{1}\u{1B}\u{1F}", #""\u0000\u0001\u001b\u001f""#),
    ("\u{7F}\u{9B}", #""\u007f\u009b""#), ("é𝄞/", "\"é𝄞/\""), ("a\r\nb", #""a\r\nb""#),
  ])
  func escapesStrings(text: String, json: String) {
    var writer = JSONText()
    writer.string(text)
    #expect(String(decoding: writer.bytes, as: UTF8.self) == json)
  }

  @Test func putsCommasWhereTheyBelong() {
    let text = JSONText.line { writer in
      writer.field("a", nil as String?)
      writer.field("b", [])
      writer.field("c", ["x", "y"])
      writer.key("d")
      writer.object { $0.field("e", true) }
      writer.field("f", UInt32(7))
    }
    #expect(text == #"{"a":null,"b":[],"c":["x","y"],"d":{"e":true},"f":7}"#)
  }

  @Test func writesEveryKeyOfAReachability() throws {
    let state = Reachability(
      status: .reachable, flags: .reachable, interface: NetworkInterface(name: "wlan0", index: 3, kind: .wifi),
      source: IPAddress("192.0.2.2"), gateway: IPAddress("192.0.2.1"), destination: IPAddress("198.41.0.4"),
      realtime: 1_769_860_800_000_001_999)
    let line = JSONReportFormatter(targets: [.usual]).line(for: Report(target: 0, state: state))
    let expected =
      #"{"time":"2026-01-31T12:00:00.000001Z","target":"internet","status":"reachable","flags":["reachable"],"#
      + #""flagsDescription":"-R -------","interface":{"name":"wlan0","index":3,"kind":"wifi"},"#
      + #""source":"192.0.2.2","gateway":"192.0.2.1","destination":"198.41.0.4","reason":null}"#
    #expect(line == expected)
  }

  @Test func writesNullForUnknownValues() throws {
    let targets = [try WatchedTarget("https://example.com/\"")]
    let line = JSONReportFormatter(targets: targets).line(for: Report(target: 0, state: .unknown))
    let expected =
      #"{"time":null,"target":"https://example.com/\"","status":"undetermined","flags":[],"#
      + #""flagsDescription":"-- -------","interface":null,"source":null,"#
      + #""gateway":null,"destination":null,"reason":null}"#
    #expect(line == expected)
  }

  @Test func writesTheReason() {
    let state = Reachability(status: .unreachable, reason: .noCarrier, realtime: 1)
    let line = JSONReportFormatter(targets: [.usual]).line(for: Report(target: 0, state: state))
    #expect(line.hasSuffix(#""reason":"no-carrier"}"#))
    #expect(line.hasPrefix(#"{"time":"1970-01-01T00:00:00.000000Z","#))
  }
}
