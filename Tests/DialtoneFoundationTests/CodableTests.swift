// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Foundation
import Testing

/// A state as JSON, in the keys of the command.
struct CodableTests {
  /// From the documentation of the command.
  private static let line = """
    {"time":"2026-01-31T12:00:00.000001Z","target":"internet","status":"reachable","flags":["reachable"],\
    "flagsDescription":"-R -------","interface":{"name":"wlan0","index":3,"kind":"wifi"},\
    "source":"192.0.2.2","gateway":"192.0.2.1","destination":"198.41.0.4","reason":null}
    """

  private static let states: [Reachability] = [
    Reachability(
      .reachable, interface: NetworkInterface(name: "wlan0", index: 3, kind: .wifi), source: IPAddress("192.0.2.2"),
      gateway: IPAddress("192.0.2.1"), destination: IPAddress("198.41.0.4")),
    Reachability(
      .reachable, flags: .isDirect, interface: NetworkInterface(name: "v0", index: 2, kind: .wired),
      source: IPAddress("fe80::1"), destination: IPAddress("fe80::2%v0")),
    Reachability(.unreachable, reason: .noCarrier), Reachability(.requiresConnection, reason: .radioBlocked),
    Reachability(.undetermined, reason: .outOfDescriptors), Reachability(.undetermined),
  ]

  private func decode(_ text: String) throws -> Reachability {
    try JSONDecoder().decode(Reachability.self, from: Data(text.utf8))
  }

  @Test func readsALineOfTheCommand() throws {
    let state = try decode(Self.line)
    #expect(state.isReachable && state.flags == .reachable && state.reason == nil)
    #expect(state.interface == NetworkInterface(name: "wlan0", index: 3, kind: .wifi))
    #expect(state.source == IPAddress("192.0.2.2") && state.gateway == IPAddress("192.0.2.1"))
    #expect(state.destination == IPAddress("198.41.0.4"))
    #expect(state.timestamp?.description == "2026-01-31T12:00:00.000001Z")
  }

  @Test func writesTheKeysOfTheCommand() throws {
    let state = try decode(Self.line)
    let written = try JSONSerialization.jsonObject(with: JSONEncoder().encode(state)) as? NSDictionary
    let expected = try JSONSerialization.jsonObject(with: Data(Self.line.utf8)) as? NSDictionary
    let withoutTarget = try #require(expected?.mutableCopy() as? NSMutableDictionary)
    withoutTarget.removeObject(forKey: "target")
    #expect(written == withoutTarget)
  }

  @Test(arguments: states)
  func isReadAsItWasWritten(state: Reachability) throws {
    let encoder = JSONEncoder()
    let read = try JSONDecoder().decode(Reachability.self, from: encoder.encode(state))
    #expect(read.isSameState(as: state) && read.source == state.source && read.destination == state.destination)
    #expect(read.timestamp?.description == state.timestamp?.description)
    // Keys are never left out.
    let keys = try JSONSerialization.jsonObject(with: encoder.encode(state)) as? [String: Any]
    #expect(keys?.count == 9)
  }

  @Test func whatALaterVersionAddsIsNotFatal() throws {
    let state = try decode(
      #"{"status":"unreachable","reason":"sunspots","interface":{"name":"x0","index":9,"kind":"laser"},"new":1}"#)
    #expect(state.status == .unreachable && state.reason == nil && state.interface?.kind == .other)
    #expect(state.timestamp == nil)
  }

  /// Whether it is reachable, the flags say, too.
  @Test func flagsThatAreMissingFollowFromTheRest() throws {
    let state = try decode(#"{"status":"reachable","interface":{"name":"wwan0","index":9,"kind":"cellular"}}"#)
    #expect(state.flags == [.reachable, .isWWAN, .transientConnection])
    #expect(try decode(#"{"status":"unreachable"}"#).flags == [])
  }

  @Test(arguments: [
    "{}", #"{"status":"fine"}"#, #"{"status":"reachable","source":"here"}"#, #"{"status":null}"#,
    #"{"status":"reachable","interface":{"name":"a/b","index":1,"kind":"wifi"}}"#,
    #"{"status":"reachable","flagsDescription":"R"}"#, #"{"status":"reachable","time":"yesterday"}"#,
    #"{"status":"reachable","time":"2026-02-30T12:00:00Z"}"#, #"{"status":"reachable","time":"2026-01-31T24:00:00Z"}"#,
    #"{"status":"reachable","time":"2026-01-31T12:00:00.Z"}"#, #"{"status":"reachable","time":"2026-01-31 12:00:00Z"}"#,
  ])
  func refusesWhatNobodyWrites(text: String) {
    #expect(throws: DecodingError.self) { try decode(text) }
  }

  /// Foundation's calendar is the judge.
  @Test(arguments: [
    "1700-02-28T00:00:00Z", "1899-12-31T23:59:59Z", "1969-12-31T23:59:59Z", "1970-01-01T00:00:01Z",
    "2000-02-29T12:34:56Z", "2026-11-24T00:16:48Z", "2100-03-01T00:00:00Z", "2262-04-11T23:47:16Z",
  ])
  func readsTimesAsTheyAre(text: String) throws {
    let state = try decode(#"{"status":"unreachable","time":"\#(text)"}"#)
    let fields = DateFormatter()
    fields.calendar = Calendar(identifier: .iso8601)
    fields.locale = Locale(identifier: "en_US_POSIX")
    fields.timeZone = TimeZone(secondsFromGMT: 0)
    fields.dateFormat = "yyyy-MM-dd'T'HH:mm:ss'Z'"
    #expect(state.timestamp?.description == text.replacing("Z", with: ".000000Z"))
    let seconds = try #require(fields.date(from: text)).timeIntervalSince1970
    #expect(state.timestamp?.durationSince1970 == .seconds(Int64(seconds)))
  }

  @Test func everyStatusIsListedOnceAndReadByItsIdentifier() {
    #expect(Reachability.Status.allCases == [.undetermined, .unreachable, .requiresConnection, .reachable])
    for status in Reachability.Status.allCases {
      #expect(Reachability.Status(identifier: status.identifier) == status)
    }
    #expect(Reachability.Status(identifier: "Reachable") == nil)
  }
}
