// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Metrics of one name, and what they mean.
package struct MetricFamily: Sendable {
  package enum Kind: Sendable {
    case gauge, counter, info
  }

  struct Sample: Sendable {
    let labels: [(name: String, value: String)]
    let value: Double
  }

  /// As it is exposed, a counter's with `_total`, an info's with `_info`.
  let name: String
  let help: String
  let kind: Kind
  private(set) var samples: [Sample] = []

  package init(_ name: String, _ help: String, _ kind: Kind = .gauge) {
    (self.name, self.help, self.kind) = (name, help, kind)
  }

  // With its only sample.
  package static func gauge(_ name: String, _ help: String, _ value: Double) -> Self {
    Self(name, help).adding(value)
  }
  package static func counter(_ name: String, _ help: String, _ value: Double) -> Self {
    Self(name, help, .counter).adding(value)
  }
  static func info(_ name: String, _ help: String, _ labels: KeyValuePairs<String, String>) -> Self {
    Self(name, help, .info).adding(1, labels)
  }

  private func adding(_ value: Double, _ labels: KeyValuePairs<String, String> = [:]) -> Self {
    var family = self
    family.add(value, labels)
    return family
  }

  package mutating func add(_ value: Double, _ labels: KeyValuePairs<String, String> = [:]) {
    samples.append(Sample(labels: labels.map { ($0.key, $0.value) }, value: value))
  }
}

/// How metrics are written: Prometheus' text format 0.0.4, or OpenMetrics 1.0.0.
package enum Exposition: Sendable {
  case text, openMetrics

  package var contentType: String {
    switch self {
    case .text: "text/plain; version=0.0.4; charset=utf-8"
    case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
    }
  }

  /// What a request's Accept header asks for (RFC 9110, 12.5.1): OpenMetrics if it is named, and nothing else is
  /// preferred.
  package init(accept: String) {
    var (openMetrics, text) = (0.0, 0.0)
    for item in Array(accept.utf8).split(separator: UInt8(ascii: ",")) {
      let parts = item.split(separator: UInt8(ascii: ";")).map { part in
        String(decoding: part.filter { $0 != 0x20 && $0 != 0x09 }.map(ASCII.folded), as: UTF8.self)
      }
      let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
      switch parts.first {
      case "application/openmetrics-text"
      where parts.allSatisfy({ !$0.hasPrefix("version=") || $0 == "version=1.0.0" }):
        openMetrics = max(openMetrics, quality)
      case "text/plain", "text/*": text = max(text, quality)
      default: break
      }
    }
    self = openMetrics > 0 && openMetrics >= text ? .openMetrics : .text
  }

  /// The families in the order of their names. One without samples is left out.
  package func text(of families: [MetricFamily]) -> String {
    var text = Bytes()
    // What a probe's metrics need, as a rule.
    text.bytes.reserveCapacity(4_096)
    for family in families.sorted(by: { $0.name < $1.name }) where !family.samples.isEmpty { write(family, to: &text) }
    if self == .openMetrics { text += "# EOF\n" }
    return String(decoding: text.bytes, as: UTF8.self)
  }

  private func write(_ family: MetricFamily, to text: inout Bytes) {
    var (name, kind) = (family.name, "gauge")
    switch (family.kind, self) {
    case (.gauge, _), (.info, .text): break
    case (.counter, .text): kind = "counter"
    // In OpenMetrics the suffix belongs to the sample.
    case (.counter, .openMetrics): (name, kind) = (String(name.dropLast("_total".count)), "counter")
    case (.info, .openMetrics): (name, kind) = (String(name.dropLast("_info".count)), "info")
    }
    let (space, newline) = (UInt8(ascii: " "), UInt8(ascii: "\n"))
    text += "# HELP "
    text += name
    text += space
    text.escape(family.help, quotes: self == .openMetrics)
    text += "\n# TYPE "
    text += name
    text += space
    text += kind
    text += newline
    for sample in family.samples {
      text += family.name
      for (index, label) in sample.labels.enumerated() {
        text += UInt8(ascii: index == 0 ? "{" : ",")
        text += label.name
        text += "=\""
        text.escape(label.value, quotes: true)
        text += UInt8(ascii: "\"")
      }
      if !sample.labels.isEmpty { text += UInt8(ascii: "}") }
      text += space
      text += Self.number(sample.value)
      text += newline
    }
  }

  /// A text that grows: a fleet's probes write a hundred thousand lines a minute, and a String takes twice as long.
  private struct Bytes {
    var bytes: [UInt8] = []

    static func += (text: inout Bytes, more: String) { text.bytes.append(contentsOf: more.utf8) }

    static func += (text: inout Bytes, byte: UInt8) { text.bytes.append(byte) }

    mutating func escape(_ text: String, quotes: Bool) {
      let start = bytes.count
      self += text
      // Mostly there is nothing to escape. To look at an array's bytes takes less time than at a String's.
      guard bytes[start...].contains(where: { $0 == 0x0A || $0 == 0x5C || $0 == 0x22 }) else { return }
      bytes.removeSubrange(start...)
      for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "\\"): self += "\\\\"
        case UInt8(ascii: "\n"): self += "\\n"
        case UInt8(ascii: "\"") where quotes: self += "\\\""
        default: bytes.append(byte)
        }
      }
    }
  }

  private static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    return Int64(exactly: value).map { String($0) } ?? value.description
  }
}
