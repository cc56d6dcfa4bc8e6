// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Compares API.md with the symbol graphs of the libraries. Scripts/api compiles and calls it:
//
//   api (check | write) PAGE GRAPHS MODULE…
//   api (freeze | compare) DECLARATIONS GRAPHS MODULE…
//
// The second form writes the declarations of all public names into a file, a line each, or names those of the file that
// are gone.
//
// The page has a heading of the second level for each module, and one of the third for each public type and each type
// of another module that is extended. Below the latter stands a line that says why the type is public, then a table:
// names of members in backticks, and why they are public. Names below the heading "Everywhere" count for every type.

import Foundation

/// The part of a symbol graph that is read here (swift-docc-symbolkit, SymbolGraph).
struct SymbolGraph: Decodable {
  struct Symbol: Decodable {
    struct Kind: Decodable { var identifier: String }
    struct Fragment: Decodable { var spelling: String }
    var kind: Kind
    var pathComponents: [String]
    var accessLevel: String
    var declarationFragments: [Fragment]?
  }
  var symbols: [Symbol]
}

/// Public names: those of a module's types, and of each type the members.
typealias Names = [String: Set<String>]

let kindsOfTypes: Set = [
  "swift.class", "swift.struct", "swift.enum", "swift.protocol", "swift.actor", "swift.extension",
]

/// The public symbols of a module, those that it adds to another's types included.
func symbols(of module: String, in graphs: String) throws -> [SymbolGraph.Symbol] {
  var symbols: [SymbolGraph.Symbol] = []
  for file in try FileManager.default.subpathsOfDirectory(atPath: graphs) {
    let name = (file as NSString).lastPathComponent
    guard name == "\(module).symbols.json" || name.hasPrefix("\(module)@") && name.hasSuffix(".symbols.json") else {
      continue
    }
    let data = try Data(contentsOf: URL(fileURLWithPath: "\(graphs)/\(file)"))
    symbols += try JSONDecoder().decode(SymbolGraph.self, from: data).symbols.filter { $0.accessLevel == "public" }
  }
  return symbols
}

func names(of module: String, in graphs: String) throws -> Names {
  var names: Names = [:]
  for symbol in try symbols(of: module, in: graphs) {
    if kindsOfTypes.contains(symbol.kind.identifier) {
      names[symbol.pathComponents.joined(separator: "."), default: []].formUnion([])
    } else {
      let type = symbol.pathComponents.dropLast().joined(separator: ".")
      names[type.isEmpty ? "(global)" : type, default: []].insert(symbol.pathComponents.last ?? "")
    }
  }
  return names
}

/// A line for each public name: the name, a tab, and the declaration.
func declarations(of module: String, in graphs: String) throws -> Set<String> {
  Set(
    try symbols(of: module, in: graphs).filter { $0.kind.identifier != "swift.extension" }.map { symbol in
      let name = ([module] + symbol.pathComponents).joined(separator: ".")
      let words = (symbol.declarationFragments ?? []).map(\.spelling).joined()
      return name + "\t" + words.split { $0 == "\n" || $0 == " " }.joined(separator: " ")
    })
}

/// A row of a table: members, and why they are public.
struct Row {
  var members: [String]
  var reason: String
}

struct TypeSection {
  var name: String
  var reason = ""
  var rows: [Row] = []
}

struct ModuleSection {
  var name: String
  var introduction: [String] = []
  var types: [TypeSection] = []
}

/// The page, which can be written back.
struct Page {
  static let everywhere = "Everywhere"

  var introduction: [String] = []
  var modules: [ModuleSection] = []

  init(_ text: String) {
    for line in text.components(separatedBy: "\n") {
      if line.hasPrefix("## ") {
        modules.append(ModuleSection(name: String(line.dropFirst(3))))
      } else if modules.isEmpty {
        introduction.append(line)
      } else if line.hasPrefix("### ") {
        modules[modules.count - 1].types.append(TypeSection(name: String(line.dropFirst(4))))
      } else if modules[modules.count - 1].types.isEmpty {
        if !line.isEmpty { modules[modules.count - 1].introduction.append(line) }
      } else {
        let last = modules[modules.count - 1].types.count - 1
        Self.read(line, into: &modules[modules.count - 1].types[last])
      }
    }
    while introduction.last?.isEmpty ?? false { introduction.removeLast() }
  }

  private static func read(_ line: String, into type: inout TypeSection) {
    guard line.hasPrefix("|") else {
      if !line.isEmpty { type.reason += (type.reason.isEmpty ? "" : " ") + line }
      return
    }
    let cells = line.dropFirst().split(separator: "|", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
    let members = cells[0].split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    // The table's head and the line below it name nothing.
    if !members.isEmpty { type.rows.append(Row(members: members, reason: cells.count > 1 ? cells[1] : "")) }
  }

  /// Lines of prose have no more than 120 columns; those of a table cannot be broken.
  private static func wrapped(_ text: String) -> [String] {
    var lines = [""]
    for word in text.split(separator: " ") {
      let last = lines[lines.count - 1]
      if last.isEmpty {
        lines[lines.count - 1] = String(word)
      } else if last.count + 1 + word.count <= 120 {
        lines[lines.count - 1] = "\(last) \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }

  var text: String {
    var lines = introduction
    for module in modules {
      lines += ["", "## \(module.name)"]
      if !module.introduction.isEmpty { lines += [""] + module.introduction }
      for type in module.types {
        lines += ["", "### \(type.name)", ""]
        if !type.reason.isEmpty { lines += Self.wrapped(type.reason) }
        if type.rows.isEmpty { continue }
        if !type.reason.isEmpty { lines.append("") }
        lines += ["| names | why they are public |", "|---|---|"]
        lines += type.rows.map { row in
          "| \(row.members.map { "`\($0)`" }.joined(separator: ", ")) | \(row.reason)\(row.reason.isEmpty ? "" : " ")|"
        }
      }
    }
    while lines.last?.isEmpty ?? false { lines.removeLast() }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Names that count for every type.
  var common: Set<String> {
    let types = modules.filter { $0.name == Self.everywhere }.flatMap(\.types)
    return Set(types.flatMap(\.rows).flatMap(\.members))
  }

  /// Adds what the page lacks, without a reason, and takes out what is gone.
  mutating func update(_ module: String, to names: Names) {
    let common = common
    var section = modules.first { $0.name == module } ?? ModuleSection(name: module)
    section.types.removeAll { names[$0.name] == nil }
    for (name, members) in names.sorted(by: { $0.key < $1.key }) {
      let position = section.types.firstIndex { $0.name == name } ?? section.types.endIndex
      if position == section.types.endIndex { section.types.append(TypeSection(name: name)) }
      for row in section.types[position].rows.indices {
        section.types[position].rows[row].members.removeAll { !members.contains($0) }
      }
      section.types[position].rows.removeAll { $0.members.isEmpty }
      let known = Set(section.types[position].rows.flatMap(\.members)).union(common)
      for member in members.subtracting(known).sorted() {
        section.types[position].rows.append(Row(members: [member], reason: ""))
      }
    }
    if let position = modules.firstIndex(where: { $0.name == module }) {
      modules[position] = section
    } else {
      modules.append(section)
    }
  }

  /// What is wrong with the page, a line each.
  func problems(_ module: String, _ names: Names) -> [String] {
    guard let section = modules.first(where: { $0.name == module }) else { return ["\(module): it has no section"] }
    var problems: [String] = []
    for name in names.keys.sorted() where !section.types.contains(where: { $0.name == name }) {
      problems.append("\(module): \(name) is missing")
    }
    for type in section.types {
      let place = "\(module): \(type.name)"
      guard let members = names[type.name] else {
        problems.append("\(place) is not public any more")
        continue
      }
      if type.reason.isEmpty { problems.append("\(place): no line says why it is public") }
      let listed = type.rows.flatMap(\.members)
      problems += members.subtracting(listed).subtracting(common).sorted().map { "\(place): \($0) is missing" }
      problems += Set(listed).subtracting(members).sorted().map { "\(place): \($0) is not public any more" }
      problems += Dictionary(grouping: listed) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
        .map { "\(place): \($0) stands there twice" }
      for row in type.rows where row.reason.isEmpty {
        problems.append("\(place): \(row.members.joined(separator: ", ")): nothing says why it is public")
      }
    }
    return problems
  }
}

var arguments = CommandLine.arguments.dropFirst()
guard arguments.count >= 4, let mode = arguments.popFirst(), let path = arguments.popFirst(),
  let graphs = arguments.popFirst()
else { fatalError("Scripts/api calls this") }
if mode == "freeze" || mode == "compare" {
  let present = try Set(arguments.flatMap { try declarations(of: $0, in: graphs) })
  if mode == "freeze" {
    try (present.sorted().joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
  } else {
    let former = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    for line in former where !present.contains(line) { print(line) }
  }
  exit(0)
}
var page = Page(try String(contentsOfFile: path, encoding: .utf8))
var problems: [String] = []
for module in arguments {
  let names = try names(of: module, in: graphs)
  if names.isEmpty { problems.append("\(module): \(graphs) has no symbols of it") }
  if mode == "write", !names.isEmpty { page.update(module, to: names) }
  problems += page.problems(module, names)
}
if mode == "write" { try page.text.write(toFile: path, atomically: true, encoding: .utf8) }
for problem in problems { print(problem) }
exit(problems.isEmpty ? 0 : 1)
