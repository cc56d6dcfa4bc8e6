// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import Yams

/// A key, with its line.
struct YAMLKey {
  let text: String
  let line: Int?

  func refusal(_ message: String) -> ConfigurationError {
    ConfigurationError(line: line, message: "\(HostText.shown(text[...])): \(message)")
  }
}

/// A value of a YAML file, whose shape is checked as it is read. An error names the line.
struct YAMLValue {
  private let node: Node

  /// Aliases multiply what a file says: each level of them as often as it is named. With so few the product stays
  /// small, whatever they lead to.
  private static let aliasLimit = 20

  init(reading text: String) throws(ConfigurationError) {
    if text.utf8.count > ExporterConfiguration.sizeLimit {
      throw ConfigurationError(line: nil, message: "it is longer than \(ExporterConfiguration.sizeLimit) bytes")
    }
    try Self.checkAliases(in: text)
    do {
      guard let node = try compose(yaml: text) else { throw ConfigurationError(line: nil, message: "it is empty") }
      self.node = node
    } catch let error as ConfigurationError {
      throw error
    } catch {
      throw Self.refusal(error)
    }
  }

  private init(_ node: Node) { self.node = node }

  /// Counted before the parser sees them: it compares keys, and a key may be an alias.
  private static func checkAliases(in text: String) throws(ConfigurationError) {
    var line = 1
    var count = 0
    var previous = UInt8(ascii: "\n")
    for byte in text.utf8 {
      if byte == UInt8(ascii: "*"), " \n\t[{,:-?".utf8.contains(previous) { count += 1 }
      if count > aliasLimit {
        throw ConfigurationError(
          line: line,
          message: "more than \(aliasLimit) aliases (*name) stand in the file; write out what they stand for")
      }
      if byte == UInt8(ascii: "\n") { line += 1 }
      previous = byte
    }
  }

  private static func refusal(_ error: any Error) -> ConfigurationError {
    switch error as? YamlError {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      ConfigurationError(line: mark.line, message: "this is no YAML: \(problem)")
    case .duplicatedKeysInMapping(let keys, let context):
      ConfigurationError(
        line: context.mark.line, message: "\(keys.first ?? "a key") is there twice; remove one of them")
    default: ConfigurationError(line: nil, message: "this is no YAML")
    }
  }

  private var line: Int? { node.mark?.line }

  func refusal(_ message: String) -> ConfigurationError { ConfigurationError(line: line, message: message) }

  /// The value for a message.
  var shown: String { node.string.map { HostText.quoted($0[...]) } ?? "what is there" }

  /// The keys and values of a mapping; none if there is nothing.
  func entries() throws(ConfigurationError) -> [(key: YAMLKey, value: YAMLValue)] {
    if isNothing { return [] }
    guard let mapping = node.mapping else { throw refusal("keys are expected here, each with a colon") }
    var entries: [(YAMLKey, YAMLValue)] = []
    for (key, value) in mapping {
      guard let text = key.string else { throw YAMLValue(key).refusal("a key has to be a text") }
      entries.append((YAMLKey(text: text, line: key.mark?.line), YAMLValue(value)))
    }
    return entries
  }

  /// The items of a list; none if there is nothing.
  func items() throws(ConfigurationError) -> [YAMLValue] {
    if isNothing { return [] }
    guard let sequence = node.sequence else { throw refusal("a list is expected here, such as [200, 204]") }
    return sequence.map(YAMLValue.init)
  }

  private var isNothing: Bool { node.null != nil }

  func string() throws(ConfigurationError) -> String {
    guard let text = node.string else { throw refusal("a text is expected here") }
    return text
  }

  func boolean(_ name: String) throws(ConfigurationError) -> Bool {
    switch node.string {
    case "true": true
    case "false": false
    default: throw refusal("\(name): give true or false")
    }
  }

  func integer(_ name: String, in range: ClosedRange<Int>) throws(ConfigurationError) -> Int {
    guard let number = node.string.flatMap({ Int($0) }), range.contains(number) else {
      throw refusal("\(name): \(shown) is no number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func duration(_ name: String) throws(ConfigurationError) -> Duration {
    guard let duration = node.string.flatMap(GoDuration.parse), duration > .zero else {
      throw refusal("\(name): \(shown) is no duration above zero, such as 5s or 1m30s")
    }
    return duration
  }
}

/// Durations as Go writes them: "1m30s", "1.5s".
enum GoDuration {
  private static let units: [(text: String, seconds: Double)] = [
    ("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1), ("m", 60), ("h", 3_600),
  ]

  static func parse(_ text: String) -> Duration? {
    var rest = text[...]
    var seconds = 0.0
    while !rest.isEmpty {
      let digits = rest.prefix { $0 == "." || $0.isASCII && $0.isNumber }
      rest = rest[digits.endIndex...]
      let unit = rest.prefix { $0 != "." && !$0.isNumber }
      rest = rest[unit.endIndex...]
      guard let number = Double(digits), let unit = units.first(where: { $0.text == unit }) else { return nil }
      seconds += number * unit.seconds
    }
    return text.isEmpty || seconds > 1e9 ? nil : .seconds(seconds)
  }
}
