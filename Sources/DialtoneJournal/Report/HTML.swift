// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// HTML that is written piece by piece. Text is escaped; what is not text is said to be.
struct HTML {
  private(set) var source = ""

  /// Markup of ours.
  mutating func markup(_ source: String) { self.source += source }

  /// Text of anybody.
  mutating func text(_ text: String) { source += Self.escaped(text) }

  mutating func element(_ name: StaticString, class style: String? = nil, _ text: String) {
    element(name, class: style) { $0.text(text) }
  }

  /// An element. The values of its attributes are text of anybody.
  mutating func element(
    _ name: StaticString, class style: String? = nil, _ attributes: [(name: StaticString, value: String)] = [],
    _ body: (inout HTML) -> Void
  ) {
    source += "<\(name)"
    if let style { source += " class=\"\(Self.escaped(style))\"" }
    for attribute in attributes { source += " \(attribute.name)=\"\(Self.escaped(attribute.value))\"" }
    source += ">"
    body(&self)
    source += "</\(name)>"
  }

  /// Text inside an element or a quoted attribute. Control characters have no place in HTML.
  static func escaped(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      let isControl = [.control, .format].contains(scalar.properties.generalCategory)
      return isControl ? "\u{FFFD}" : references[scalar] ?? String(scalar)
    }.joined()
  }

  private static let references: [Unicode.Scalar: String] = [
    "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;",
  ]
}
