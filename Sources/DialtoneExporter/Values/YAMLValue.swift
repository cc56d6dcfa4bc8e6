// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

struct YAMLKey {
  let text: String
  let line: Int

  func refusal(_ message: String) -> ConfigurationError {
    ConfigurationError(line: line, message: "\(HostText.shown(text[...])): \(message)")
  }
}

/// A value of a YAML file: texts, and what is made of them. Its shape is checked when it is used.
struct YAMLValue {
  enum Content {
    /// Without quotes some texts stand for nothing.
    case text(String, isPlain: Bool)
    case items([YAMLValue])
    case entries([(key: YAMLKey, value: YAMLValue)])
  }

  let line: Int
  let content: Content
}

extension YAMLValue {
  init(reading text: String) throws(ConfigurationError) {
    if text.utf8.count > ExporterConfiguration.sizeLimit {
      throw ConfigurationError(line: nil, message: "it is longer than \(ExporterConfiguration.sizeLimit) bytes")
    }
    var reader = try YAMLReader(text)
    guard let value = try reader.document() else { throw ConfigurationError(line: nil, message: "it is empty") }
    self = value
  }

  private var text: String? {
    if case .text(let text, _) = content { text } else { nil }
  }

  func refusal(_ message: String) -> ConfigurationError { ConfigurationError(line: line, message: message) }

  /// The value for a message.
  var shown: String { text.map { HostText.quoted($0[...]) } ?? "what is there" }

  /// The keys and values of a mapping; none if there is nothing.
  func entries() throws(ConfigurationError) -> [(key: YAMLKey, value: YAMLValue)] {
    if isNothing { return [] }
    guard case .entries(let entries) = content else { throw refusal("keys are expected here, each with a colon") }
    return entries
  }

  /// The items of a list; none if there is nothing.
  func items() throws(ConfigurationError) -> [YAMLValue] {
    if isNothing { return [] }
    guard case .items(let items) = content else { throw refusal("a list is expected here, such as [200, 204]") }
    return items
  }

  private var isNothing: Bool {
    if case .text(let text, isPlain: true) = content {
      ["", "~", "null", "Null", "NULL"].contains(text)
    } else {
      false
    }
  }

  /// The value as a block. Headers may have credentials: their values are left out.
  var written: String { String(written("", hides: false).drop { $0 == "\n" }) }

  /// What stands behind a key or a dash, with the blank or line break before it.
  private func written(_ indentation: String, hides: Bool) -> String {
    switch content {
    case .text(_, _) where hides: " <secret>"
    case .text("", isPlain: true): ""
    case .text(let text, let isPlain): isPlain && !text.contains("\n") ? " \(text)" : " \(String(reflecting: text))"
    case .items(let items):
      // In the column of its key.
      items.map { "\n\(indentation.dropLast(2))-" + $0.written(indentation, hides: hides) }.joined()
    case .entries(let entries):
      entries.map { key, value in
        "\n\(indentation)\(key.text):" + value.written(indentation + "  ", hides: hides || key.text == "headers")
      }.joined()
    }
  }

  func string() throws(ConfigurationError) -> String {
    guard let text else { throw refusal("a text is expected here") }
    return isNothing ? "" : text
  }

  /// As blackbox_exporter's reader (go-yaml 3): YAML 1.2's words without quotes, YAML 1.1's own in any way.
  func boolean(_ name: String) throws(ConfigurationError) -> Bool {
    guard case .text(let text, let isPlain) = content else { throw refusal("\(name): give true or false") }
    switch text {
    case "true" where isPlain, "True" where isPlain, "TRUE" where isPlain: return true
    case "false" where isPlain, "False" where isPlain, "FALSE" where isPlain: return false
    case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON": return true
    case "n", "N", "no", "No", "NO", "off", "Off", "OFF": return false
    default: throw refusal("\(name): give true or false\(isPlain ? "" : ", without quotes")")
    }
  }

  /// Only as one writes it: with a zero before it, YAML 1.1 has it octal.
  func integer(_ name: String, in range: ClosedRange<Int>) throws(ConfigurationError) -> Int {
    guard case .text(let text, isPlain: true) = content, let number = Int(text), range.contains(number),
      String(number) == text
    else {
      throw refusal("\(name): \(shown) is no number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func duration(_ name: String) throws(ConfigurationError) -> Duration {
    guard let duration = text.flatMap(GoDuration.parse), duration > .zero else {
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
