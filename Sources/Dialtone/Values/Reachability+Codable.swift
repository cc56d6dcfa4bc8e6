// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A state as the command's `--json` writes it, without the target.
///
/// ```json
/// {"time":"2026-01-31T12:00:00.000001Z","status":"reachable","flags":["reachable"],"flagsDescription":"-R -------",
///  "interface":{"name":"wlan0","index":3,"kind":"wifi"},"source":"192.0.2.2","gateway":"192.0.2.1",
///  "destination":"198.41.0.4","reason":null}
/// ```
///
/// All keys are always written, with `null` where nothing is known. The time has microseconds.
extension Reachability: Codable {
  private enum Key: String, CodingKey {
    case time, status, flags, flagsDescription, interface, source, gateway, destination, reason
  }

  private struct Interface: Codable {
    let name: String
    let index: UInt32
    let kind: String
  }

  /// Writes the keys shown above.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(timestamp?.description, forKey: .time)
    try container.encode(status.identifier, forKey: .status)
    try container.encode(flags.names, forKey: .flags)
    try container.encode(flags.description, forKey: .flagsDescription)
    try container.encode(
      interface.map { Interface(name: $0.name, index: $0.index, kind: $0.kind.identifier) }, forKey: .interface)
    try container.encode(source?.description, forKey: .source)
    try container.encode(gateway?.description, forKey: .gateway)
    try container.encode(destination?.description, forKey: .destination)
    try container.encode(reason?.identifier, forKey: .reason)
  }

  /// Reads what ``encode(to:)`` or the command wrote.
  ///
  /// A key that is missing counts as `null`, except `status`. Other keys are ignored. A reason that this version does
  /// not know becomes `nil`, and a kind of interface ``InterfaceKind/other``: later versions may have more of both.
  ///
  /// - Throws: `DecodingError` if a text is not of the form that is written.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    func value<Value>(_ key: Key, _ make: (String) -> Value?) throws -> Value? {
      guard let text = try container.decodeIfPresent(String.self, forKey: key) else { return nil }
      if let value = make(text) { return value }
      throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "not understood: \(text)")
    }
    guard let status = try value(.status, { Status(identifier: $0) }) else {
      throw DecodingError.valueNotFound(
        String.self, .init(codingPath: container.codingPath, debugDescription: "no status"))
    }
    let interface = try container.decodeIfPresent(Interface.self, forKey: .interface)
    let link = interface.flatMap {
      NetworkInterface(name: $0.name, index: $0.index, kind: InterfaceKind(identifier: $0.kind) ?? .other)
    }
    if let interface, link == nil {
      throw DecodingError.dataCorruptedError(
        forKey: .interface, in: container, debugDescription: "no name of an interface: \(interface.name)")
    }
    self.init(
      status: status, flags: try value(.flagsDescription) { ReachabilityFlags($0) } ?? [], interface: link,
      source: try value(.source) { IPAddress($0) }, gateway: try value(.gateway) { IPAddress($0) },
      destination: try value(.destination) { IPAddress($0) },
      reason: try container.decodeIfPresent(String.self, forKey: .reason).flatMap { Reason(identifier: $0) },
      realtime: try value(.time) { UTCTimestamp($0) }?.durationSince1970.nanosecondsClamped ?? 0)
  }
}

extension Reachability.Status {
  /// The status with this ``identifier``, or `nil` if there is none.
  public init?(identifier: some StringProtocol) {
    guard let status = Self.allCases.first(where: { $0.identifier == identifier }) else { return nil }
    self = status
  }
}

extension UTCTimestamp {
  /// Reads what ``description`` wrote; `nil` if the text is not of that form. The fraction may have up to nine digits,
  /// or be missing.
  init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    func number(_ range: Range<Int>) -> Int64? {
      guard range.upperBound <= bytes.count else { return nil }
      var value: Int64 = 0
      for byte in bytes[range] {
        guard (0x30...0x39).contains(byte) else { return nil }
        value = 10 * value + Int64(byte - 0x30)
      }
      return value
    }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
      let minute = number(14..<16), let second = number(17..<19), bytes.count >= 20, bytes.last == UInt8(ascii: "Z"),
      (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60,
      [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")].allSatisfy({ bytes[$0.0] == $0.1.utf8.first })
    else { return nil }
    var nanoseconds: Int64 = 0
    if bytes.count > 20 {
      let digits = bytes.count - 21
      guard bytes[19] == UInt8(ascii: "."), (1...9).contains(digits), let fraction = number(20..<20 + digits) else {
        return nil
      }
      nanoseconds = (digits..<9).reduce(fraction) { value, _ in 10 * value }
    }
    // Years begin in March here, so that a leap day is the last one. The era is 400 years.
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted + 400) / 400 - 1
    let yearOfEra = shifted - 400 * era
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = 365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = 146_097 * era + dayOfEra - 719_468
    let seconds = 86_400 * days + 3_600 * hour + 60 * minute + second
    self.init(durationSince1970: .seconds(seconds) + .nanoseconds(nanoseconds))
    // The 31st of a shorter month.
    if !description.utf8.starts(with: bytes.prefix(19)) { return nil }
  }
}
