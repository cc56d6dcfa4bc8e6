// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import DialtoneExporter

/// What stands in a document: texts alone, as PyYAML's BaseLoader gives them.
indirect enum Tree: Equatable, Encodable {
  case text(String)
  case items([Tree])
  case entries([String: Tree])

  init(_ node: YAMLValue) {
    switch node.content {
    case .text(let text, _): self = .text(text)
    case .items(let items): self = .items(items.map(Tree.init))
    case .entries(let entries):
      self = .entries(Dictionary(uniqueKeysWithValues: entries.map { ($0.key.text, Tree($0.value)) }))
    }
  }

  init(yaml: String) throws {
    var reader = try YAMLReader(yaml)
    self = Tree(try #require(try reader.document()))
  }

  /// JSON, as Foundation reads it; `nil` for what is neither text, list nor object.
  init?(json: Any) {
    switch json {
    case let text as String: self = .text(text)
    case let items as [Any]: self = .items(items.compactMap(Tree.init(json:)))
    case let entries as [String: Any]: self = .entries(entries.compactMapValues(Tree.init(json:)))
    default: return nil
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .items(let items): try container.encode(items)
    case .entries(let entries): try container.encode(entries)
    }
  }
}
