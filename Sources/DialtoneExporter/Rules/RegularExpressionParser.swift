// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Reads RE2's syntax (https://github.com/google/re2/wiki/Syntax) without classes of Unicode and `\C`. What it does not
/// know is an error that says so: nothing is matched otherwise than RE2 would.
///
/// Each part of an expression becomes a program of its own: what it stands for, joined or repeated.
struct RegularExpressionParser {
  typealias Program = [RegularExpression.Instruction]
  typealias Refusal = RegularExpression.Refusal

  private struct Flags {
    var ignoresCase = false
    var isMultiline = false
    var dotIsAny = false
  }

  /// The sets of characters that the program has by their numbers.
  private(set) var sets: [CharacterRanges] = []
  private var setNumbers: [CharacterRanges: Int] = [:]
  private let scalars: [Unicode.Scalar]
  private var position = 0
  private var flags = Flags()
  private var depth = 0

  /// RE2 has the same.
  private static let repetitionLimit = 1_000
  private static let depthLimit = 100

  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  mutating func parse() throws(Refusal) -> Program {
    let program = try choice()
    if position < scalars.count { throw Refusal(message: "a closing parenthesis has no opening one") }
    return program
  }

  private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  private mutating func take(_ text: String) -> Bool {
    guard scalars[position...].starts(with: text.unicodeScalars) else { return false }
    position += text.unicodeScalars.count
    return true
  }

  private mutating func takeAll(_ limit: Int = .max, where isTaken: (Unicode.Scalar) -> Bool) -> String {
    let taken = scalars[position...].prefix(limit).prefix(while: isTaken)
    position += taken.count
    return String(String.UnicodeScalarView(taken))
  }

  private mutating func takeAny(or message: String) throws(Refusal) -> Unicode.Scalar {
    guard let scalar = next else { throw Refusal(message: message) }
    position += 1
    return scalar
  }

  private static func append(_ more: Program, to program: inout Program) throws(Refusal) {
    program += more
    if program.count > RegularExpression.sizeLimit { throw Refusal(message: "it is too large") }
  }

  private mutating func choice() throws(Refusal) -> Program {
    var choices = [try sequence()]
    while take("|") { choices.append(try sequence()) }
    var program = choices.removeLast()
    for choice in choices.reversed() {
      let end = program.count + 1
      var longer = [.split(1, choice.count + 2)] + choice + [.split(end, end)]
      try Self.append(program, to: &longer)
      program = longer
    }
    return program
  }

  private mutating func sequence() throws(Refusal) -> Program {
    var items: [Program] = []
    while let scalar = next, scalar != "|", scalar != ")" {
      if take("\\Q") {
        while let scalar = next, !take("\\E") {
          position += 1
          items.append(literal(scalar))
        }
        // A repetition is about the last character.
        if let last = items.popLast() { items.append(try repeated(last)) }
      } else if let item = try atom() {
        items.append(try repeated(item))
      }
    }
    var program: Program = []
    for item in items { try Self.append(item, to: &program) }
    return program
  }

  // MARK: Repetition

  private mutating func repeated(_ item: Program) throws(Refusal) -> Program {
    guard let (least, most) = try quantifier() else { return item }
    // Which match is found makes no difference.
    _ = take("?")
    let start = position
    if try quantifier() != nil {
      position = start
      throw Refusal(message: "a repetition follows another; put parentheses around the first")
    }
    // However often nothing is repeated, it is nothing. All else has instructions, which are counted.
    if item.isEmpty { return item }
    var program: Program = []
    for _ in 0..<least { try Self.append(item, to: &program) }
    guard let most else {
      let loop = item.count + 1
      try Self.append([.split(1, loop + 1)] + item + [.split(-loop, -loop)], to: &program)
      return program
    }
    // Each may be the end.
    for rest in (0..<most - least).reversed() {
      try Self.append([.split(1, (rest + 1) * (item.count + 1))] + item, to: &program)
    }
    return program
  }

  private mutating func quantifier() throws(Refusal) -> (Int, Int?)? {
    if take("*") { return (0, nil) }
    if take("+") { return (1, nil) }
    if take("?") { return (0, 1) }
    guard next == "{" else { return nil }
    let start = position
    position += 1
    let least = number()
    var most = least
    if take(",") { most = number() }
    // What is no repetition is a brace.
    guard let least, most != nil || scalars[position - 1] == ",", take("}") else {
      position = start
      return nil
    }
    if least > Self.repetitionLimit || (most ?? 0) > Self.repetitionLimit || (most.map { $0 < least } ?? false) {
      throw Refusal(message: "a repetition is more than \(Self.repetitionLimit) times, or ends before it begins")
    }
    return (least, scalars[position - 2] == "," ? nil : most)
  }

  /// A count; `nil` if none is there. One with a zero in front is none for Go.
  private mutating func number() -> Int? {
    let digits = takeAll { ("0"..."9").contains($0) }
    if digits.isEmpty || digits.count > 1 && digits.hasPrefix("0") { return nil }
    return Int(digits) ?? .max
  }

  // MARK: Atoms

  /// The next atom; `nil` for flags, which are none.
  private mutating func atom() throws(Refusal) -> Program? {
    let scalar = try takeAny(or: "it ends too early")
    switch scalar {
    case "(": return try group()
    case "[": return characters(try bracket())
    case ".": return characters(flags.dotIsAny ? .any : .notLineFeed)
    case "^": return [.assertion(flags.isMultiline ? .lineStart : .textStart)]
    case "$": return [.assertion(flags.isMultiline ? .lineEnd : .textEnd)]
    case "\\": return try escape()
    case "*", "+", "?": throw Refusal(message: "\(scalar) repeats nothing")
    case "{":
      position -= 1
      if try quantifier() != nil { throw Refusal(message: "{ repeats nothing") }
      position += 1
      return literal(scalar)
    default: return literal(scalar)
    }
  }

  private mutating func literal(_ scalar: Unicode.Scalar) -> Program {
    var ranges = CharacterRanges([scalar...scalar])
    ranges.ignoresCase = flags.ignoresCase
    if flags.ignoresCase { for other in CharacterRanges.cases(of: scalar) { ranges.insert(other...other) } }
    return characters(ranges)
  }

  private mutating func characters(_ ranges: CharacterRanges) -> Program {
    let number = setNumbers[ranges] ?? sets.count
    if number == sets.count {
      sets.append(ranges)
      setNumbers[ranges] = number
    }
    return [.characters(number)]
  }

  private mutating func group() throws(Refusal) -> Program? {
    depth += 1
    if depth > Self.depthLimit { throw Refusal(message: "more than \(Self.depthLimit) parentheses are open") }
    let outer = flags
    if take("?") {
      if take("P") {
        guard take("<") else { throw Refusal(message: "(?P is followed by no <name>") }
        try name()
      } else if try readFlags() {
        depth -= 1
        return nil
      }
    }
    let program = try choice()
    guard take(")") else { throw Refusal(message: "a parenthesis is not closed") }
    flags = outer
    depth -= 1
    return program
  }

  private mutating func name() throws(Refusal) {
    let name = takeAll { CharacterRanges.word.contains($0) }
    if name.isEmpty || !take(">") { throw Refusal(message: "a group's name is not of letters, digits and _") }
  }

  /// Reads `i`, `m`, `s`, `-s` and so on up to a colon or the end of the group. Returns whether the group ends there:
  /// then they hold for what follows. As in Go, there is one minus at most, and a flag behind it.
  private mutating func readFlags() throws(Refusal) -> Bool {
    var value = true
    while true {
      let isBare = !value && scalars[position - 1] == "-"
      switch try takeAny(or: "a parenthesis is not closed") {
      case "-" where !value, ":" where isBare, ")" where isBare:
        throw Refusal(message: "a minus takes no flag away")
      case "i": flags.ignoresCase = value
      case "m": flags.isMultiline = value
      case "s": flags.dotIsAny = value
      // Which match is found makes no difference.
      case "U": break
      case "-": value = false
      case ":": return false
      case ")": return true
      case let scalar: throw Refusal(message: "(?\(scalar) is not supported (no look-around, no back-references)")
      }
    }
  }

  private mutating func escape() throws(Refusal) -> Program {
    let scalar = try takeAny(or: "it ends with a backslash")
    switch scalar {
    case "A": return [.assertion(.textStart)]
    case "z": return [.assertion(.textEnd)]
    case "b": return [.assertion(.wordBoundary)]
    case "B": return [.assertion(.noWordBoundary)]
    default:
      if let (ranges, isNegated) = Self.sets[scalar] {
        var all = ranges
        all.isNegated = isNegated
        all.ignoresCase = flags.ignoresCase
        return characters(all)
      }
      return literal(try character(after: scalar))
    }
  }

  private static let sets: [Unicode.Scalar: (CharacterRanges, isNegated: Bool)] = [
    "d": (.digit, false), "D": (.digit, true), "w": (.word, false), "W": (.word, true), "s": (.space, false),
    "S": (.space, true),
  ]

  private static let controls: [Unicode.Scalar: Unicode.Scalar] = [
    "a": "\u{7}", "f": "\u{C}", "n": "\n", "r": "\r", "t": "\t", "v": "\u{B}",
  ]

  private mutating func character(after scalar: Unicode.Scalar) throws(Refusal) -> Unicode.Scalar {
    if let control = Self.controls[scalar] { return control }
    if scalar == "x" { return try hexadecimal() }
    if scalar.isASCII, scalar == "_" || !CharacterRanges.word.contains(scalar) { return scalar }
    throw Refusal(message: "\\\(scalar) is not supported")
  }

  private mutating func hexadecimal() throws(Refusal) -> Unicode.Scalar {
    let isBraced = take("{")
    let digits = takeAll(isBraced ? 8 : 2) { $0 != "}" }
    guard isBraced ? take("}") : digits.count == 2, digits.utf8.allSatisfy(ASCII.isHexDigit),
      let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value)
    else { throw Refusal(message: "\\x is followed by no character's number") }
    return scalar
  }

  // MARK: Brackets

  private mutating func bracket() throws(Refusal) -> CharacterRanges {
    var ranges = CharacterRanges()
    ranges.ignoresCase = flags.ignoresCase
    ranges.isNegated = take("^")
    var isFirst = true
    while isFirst || next != "]" {
      isFirst = false
      let scalar = try takeAny(or: "a bracket is not closed")
      if scalar == "[", next == ":" {
        try posixClass(into: &ranges)
      } else if scalar == "\\", let escaped = next, let (set, isNegated) = Self.sets[escaped] {
        position += 1
        ranges.insert(set, negated: isNegated)
      } else {
        try range(from: scalar, into: &ranges)
      }
    }
    position += 1
    return ranges
  }

  private mutating func member(_ scalar: Unicode.Scalar) throws(Refusal) -> Unicode.Scalar {
    scalar == "\\" ? try character(after: takeAny(or: "a bracket is not closed")) : scalar
  }

  private mutating func range(from scalar: Unicode.Scalar, into ranges: inout CharacterRanges) throws(Refusal) {
    let first = try member(scalar)
    guard next == "-", position + 1 < scalars.count, scalars[position + 1] != "]" else {
      return ranges.insert(first...first)
    }
    position += 1
    let last = try member(takeAny(or: "a bracket is not closed"))
    if last < first { throw Refusal(message: "the range \(first)-\(last) ends before it begins") }
    ranges.insert(first...last)
  }

  private static let posixClasses: [String: CharacterRanges] = [
    "alnum": CharacterRanges(["0"..."9", "A"..."Z", "a"..."z"]), "alpha": CharacterRanges(["A"..."Z", "a"..."z"]),
    "ascii": CharacterRanges(["\0"..."\u{7F}"]), "blank": CharacterRanges(["\t"..."\t", " "..." "]),
    "cntrl": CharacterRanges(["\0"..."\u{1F}", "\u{7F}"..."\u{7F}"]), "digit": .digit,
    "graph": CharacterRanges(["!"..."~"]), "lower": CharacterRanges(["a"..."z"]),
    "print": CharacterRanges([" "..."~"]),
    "punct": CharacterRanges(["!"..."/", ":"..."@", "["..."`", "{"..."~"]),
    "space": CharacterRanges(["\t"..."\r", " "..." "]), "upper": CharacterRanges(["A"..."Z"]), "word": .word,
    "xdigit": CharacterRanges(["0"..."9", "A"..."F", "a"..."f"]),
  ]

  private mutating func posixClass(into ranges: inout CharacterRanges) throws(Refusal) {
    position += 1
    let isNegated = take("^")
    let name = takeAll(where: \.properties.isAlphabetic)
    guard take(":]"), let set = Self.posixClasses[name] else {
      throw Refusal(message: "[:\(name) begins no class that is known")
    }
    ranges.insert(set, negated: isNegated)
  }
}
