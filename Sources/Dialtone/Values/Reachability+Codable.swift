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
  /// A key that is missing is read as `null`, except `status`. Without `flagsDescription` the flags follow from the
  /// rest, as in a state that you make. Other keys are ignored. A reason that this version does not know becomes `nil`,
  /// and a kind of interface ``InterfaceKind/other``: later versions may have more of both.
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
    let flags = try value(.flagsDescription) { ReachabilityFlags($0) }
    self.init(
      status: status, flags: flags ?? [], interface: link,
      source: try value(.source) { IPAddress($0) }, gateway: try value(.gateway) { IPAddress($0) },
      destination: try value(.destination) { IPAddress($0) },
      reason: try container.decodeIfPresent(String.self, forKey: .reason).flatMap { Reason(identifier: $0) },
      realtime: try value(.time) { UTCTimestamp($0) }?.durationSince1970.nanosecondsClamped ?? 0)
    if flags == nil { self.flags = normalized([]) }
  }
}

extension Reachability.Status {
  /// The status with this ``identifier``, or `nil` if there is none.
  public init?(identifier: some StringProtocol) {
    guard let status = Self.allCases.first(where: { $0.identifier == identifier }) else { return nil }
    self = status
  }
}
