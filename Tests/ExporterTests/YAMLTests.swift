// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import DialtoneExporter

/// The reader of YAML. PyYAML (Debian: python3-yaml) is the judge: what it reads, and what it writes.
@Suite(.timeLimit(.minutes(5)))
struct YAMLTests {
  private static let noPyYAML: Comment = "python3-yaml is not installed"

  private static func hasPyYAML() async throws -> Bool {
    guard Python.path != nil else { return false }
    return try await Python.run("import yaml; print('yes')", input: "") == "yes\n"
  }

  /// What PyYAML reads in each; `nil` where it refuses, or finds no document, or several.
  private static func judged(_ documents: [String]) async throws -> [Tree?] {
    let script = """
      import json, sys, yaml
      def read(text):
          try:
              tree = yaml.load(text, Loader=yaml.BaseLoader)
              json.dumps(tree, ensure_ascii=False).encode()
              return tree
          # The second: half a character, which PyYAML takes.
          except (yaml.YAMLError, ValueError):
              return None
      json.dump([read(text) for text in json.load(sys.stdin)], sys.stdout)
      """
    let input = String(decoding: try JSONEncoder().encode(documents), as: UTF8.self)
    let output = try await Python.run(script, input: input)
    let trees = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [Any]
    return try #require(trees).map(Tree.init(json:))
  }

  private static func example() throws -> String? {
    let path = "/usr/share/doc/prometheus-blackbox-exporter/examples/example.yml"
    // Minimal systems leave documentation out.
    return FileManager.default.fileExists(atPath: path) ? try String(contentsOfFile: path, encoding: .utf8) : nil
  }

  @Test(.enabled(noPyYAML, hasPyYAML))
  func readsTheSameAsPyYAML() async throws {
    let documents = try YAMLDocuments.all + [BlackboxTests.configuration] + [Self.example()].compactMap(\.self)
    let judged = try await Self.judged(documents)
    try #require(judged.count == documents.count)
    for (document, tree) in zip(documents, judged) {
      #expect(try Tree(yaml: document) == #require(tree, "\(document)"), "\(document)")
    }
  }

  @Test(arguments: YAMLDocuments.refused)
  func refusesByLineWithTheRemedy(_ text: String, _ line: Int, _ word: String) {
    let error = #expect(throws: ConfigurationError.self) {
      var reader = try YAMLReader(text)
      return try reader.document()
    }
    #expect(error?.line == line && error?.message.contains(word) == true, "\(error.map(String.init) ?? "")")
  }

  @Test func findsNoDocumentInNothing() throws {
    for text in ["", "\n\n", "# c", "   ", "\u{FEFF}", "\r\n# c\r\n"] {
      var reader = try YAMLReader(text)
      #expect(try reader.document() == nil)
    }
  }

  // MARK: What a program writes

  private struct Written: Encodable {
    let tree: Tree
    let style: String?
    let inBrackets: Bool?
    let width: Int
    let indent: Int
    let allowsUnicode: Bool
    let start: Bool
    let lineBreak: String
  }

  /// Random trees, as PyYAML writes them in any of its styles.
  @Test(.enabled(noPyYAML, hasPyYAML))
  func readsWhatPyYAMLWrites() async throws {
    var numbers = SeededNumbers(seed: 1_202)
    let written = (0..<800).map { _ in
      Written(
        tree: Self.tree(&numbers, depth: 5),
        style: [nil, nil, "'", "\"", "|", ">"].randomElement(using: &numbers) ?? nil,
        inBrackets: [nil, true, false].randomElement(using: &numbers) ?? nil,
        width: [2, 10, 40, 80, 1_000].randomElement(using: &numbers) ?? 80, indent: .random(in: 2...8, using: &numbers),
        allowsUnicode: .random(using: &numbers), start: .random(using: &numbers),
        lineBreak: ["\n", "\r\n", "\r"].randomElement(using: &numbers) ?? "\n")
    }
    let script = """
      import json, sys, yaml
      json.dump([
          yaml.dump(w["tree"], Dumper=yaml.SafeDumper, default_style=w.get("style"),
              default_flow_style=w.get("inBrackets"), width=w["width"], indent=w["indent"],
              allow_unicode=w["allowsUnicode"], explicit_start=w["start"], line_break=w["lineBreak"])
          for w in json.load(sys.stdin)], sys.stdout)
      """
    let output = try await Python.run(script, input: String(decoding: try JSONEncoder().encode(written), as: UTF8.self))
    let documents = try JSONDecoder().decode([String].self, from: Data(output.utf8))
    let judged = try await Self.judged(documents)
    try #require(documents.count == written.count && judged.count == written.count)
    var same = 0
    for (document, (written, judged)) in zip(documents, zip(written, judged)) {
      // In narrow lines PyYAML puts backslashes in front of blanks that it then reads itself.
      #expect(try Tree(yaml: document) == judged, "\(document)")
      if judged == written.tree { same += 1 }
    }
    #expect(same > written.count * 9 / 10)
  }

  private static let words = [
    "a", "b c", "true", "null", "~", "", "- x", "? y", ": z", "k: v", "x #y", "#c", "&a", "*b", "!t", "%d", "@e", "`f",
    "|", "> g", "'q'", "\"dq\"", "\\", "\\n", "a\nb", "a\n\nb\n", " lead", "trail ", "\n", "\n\n x\ny", "tab\there",
    "é",
    "日本語", "😀", "\u{7}", "\u{1B}[0m", "[x]", "{y}", "a,b", "http://h/p?q#f", "---", "...", "--- a", "-", "1.5s", "\r",
    String(repeating: "long ", count: 20), String(repeating: "x", count: 90), "a: b\n c", "\ttab", "word\n  ind\nword",
    String(repeating: "a  b   c ", count: 15), " ", "(?i)^ab*[c]+\\s$",
  ]

  private static func text(_ numbers: inout SeededNumbers) -> String {
    if Int.random(in: 0..<3, using: &numbers) > 0 { return words.randomElement(using: &numbers) ?? "" }
    return String(
      (0..<Int.random(in: 0..<30, using: &numbers)).map { _ in
        "ab \n:#-'\"\\,[]{}é?&*!|>%".randomElement(using: &numbers) ?? "a"
      })
  }

  private static func tree(_ numbers: inout SeededNumbers, depth: Int) -> Tree {
    let kind = Int.random(in: 0..<3, using: &numbers)
    if depth == 0 || kind == 0 { return .text(text(&numbers)) }
    let children = (0..<Int.random(in: 0..<4, using: &numbers)).map { _ in tree(&numbers, depth: depth - 1) }
    if kind == 1 { return .items(children) }
    var entries: [String: Tree] = [:]
    for child in children {
      // PyYAML writes other keys behind question marks.
      let text = text(&numbers)
      let isSimple = !text.allSatisfy(\.isWhitespace) && !text.contains(where: \.isNewline) && text.count < 100
      entries[isSimple ? text : "key"] = child
    }
    return .entries(entries)
  }

  // MARK: Mistakes

  private static let pieces = [
    " ", "  ", "\n", "\n  ", "\n    ", ": ", ":", "- ", "-", "[", "]", "{", "}", ",", "'", "\"", "#", " #", "\\", "|",
    "|\n", ">", "|-", "---\n", "a", "b c", "\n\n",
  ]

  /// The text, cut off, or with something put in, left out or doubled, up to three times.
  private static func mistaken(_ text: String, _ numbers: inout SeededNumbers) -> String {
    var scalars = Array(text.unicodeScalars)
    for _ in 0..<Int.random(in: 1...3, using: &numbers) {
      let place = Int.random(in: 0...scalars.count, using: &numbers)
      switch Int.random(in: 0..<6, using: &numbers) {
      case 0: scalars.removeSubrange(place...)
      case 1: scalars.removeSubrange(place..<min(place + .random(in: 1...4, using: &numbers), scalars.count))
      case 2: scalars += scalars[..<place]
      default: scalars.insert(contentsOf: (pieces.randomElement(using: &numbers) ?? "").unicodeScalars, at: place)
      }
    }
    return String(String.UnicodeScalarView(scalars))
  }

  /// What PyYAML refuses, this reader does, with a line; what both read is the same.
  @Test(.enabled(noPyYAML, hasPyYAML))
  func misreadsNoMistake() async throws {
    var numbers = SeededNumbers(seed: 311)
    let example = Array((try Self.example() ?? BlackboxTests.configuration).unicodeScalars)
    // PyYAML refuses tabs between words, which YAML allows.
    let sources = (YAMLDocuments.all + YAMLDocuments.refused.map(\.text)).filter {
      !$0.contains("\t") && $0.count < 500
    }
    let documents = (0..<1_500).map { number in
      let part = example.dropFirst(.random(in: 0..<1_500, using: &numbers)).prefix(200)
      let source = number % 4 == 0 ? String(String.UnicodeScalarView(part)) : sources.randomElement(using: &numbers)
      return Self.mistaken(source ?? "", &numbers)
    }
    let judged = try await Self.judged(documents)
    try #require(judged.count == documents.count)
    var both = 0
    for (document, judged) in zip(documents, judged) {
      do throws(ConfigurationError) {
        var reader = try YAMLReader(document)
        guard let node = try reader.document() else { continue }
        #expect(Tree(node) == judged, "\(document.debugDescription)")
        both += 1
      } catch {
        let lines = document.unicodeScalars.count { $0 == "\n" || $0 == "\r" } + 1
        #expect((1...lines).contains(error.line ?? 0), "\(error): \(document.debugDescription)")
      }
    }
    #expect(both > 375)
  }

  /// 64 KiB of each: a reader that looks at the rest of it for each line or bracket needs minutes.
  @Test(arguments: [
    "[", "{", "- ", " ", "\n", "\t", "#", "\"", "'", "a", "a ", "a: b\n", "- a\n", "-\n", "a\n", "\"a\n ", "|\n",
    "- |\n", "\\",
    "a: [", "[a,\n", " \n", "? ", ": ", "\r\n",
  ])
  func endsQuickly(_ piece: String) {
    let count = (1 << 16) / piece.utf8.count
    var documents = [String(repeating: piece, count: count)]
    let shorter = String(repeating: piece, count: count / 16)
    documents += ["a: ", "a: |\n  ", "a: '", "a: [", "- "].map { $0 + shorter }
    let start = ContinuousClock.now
    for document in documents {
      // Either will do.
      _ = Result { () throws(ConfigurationError) -> YAMLValue? in
        var reader = try YAMLReader(document)
        return try reader.document()
      }
    }
    #expect(start.duration(to: .now) < .patience)
  }

  @Test func readsAMebibyteOfKeysQuickly() throws {
    let lines = (0..<80_000).map { "key\($0): v" }
    let start = ContinuousClock.now
    var reader = try YAMLReader(lines.joined(separator: "\n"))
    guard case .entries(let entries) = try #require(try reader.document()).content else {
      Issue.record("no keys")
      return
    }
    #expect(entries.count == lines.count && entries.last?.key.line == lines.count)
    #expect(start.duration(to: .now) < .patience)
  }
}
