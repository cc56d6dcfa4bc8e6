// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A regular expression in a subset of RE2's syntax, that a stranger's text is matched with.
///
/// Invariant: each character costs a look-up, or at most as many steps as the program has instructions. Matching never
/// takes more steps than its budget, and ends when it is told to. It is RE2's way: the states of Thompson's automaton
/// that are reached together are one state of another automaton, which is built as far as the text needs it.
package struct RegularExpression: Sendable {
  package struct Refusal: Error, Equatable {
    package let message: String
  }

  /// The text has cost more steps than it may, or more time.
  package struct TooCostly: Error {}

  /// What assertions see of a character, or of the text's edge. A word is of ASCII, as RE2's \w.
  enum Side { case edge, lineFeed, word, other }

  enum Assertion: Sendable {
    case textStart, textEnd, lineStart, lineEnd, wordBoundary, noWordBoundary

    fileprivate func holds(between previous: Side, _ next: Side) -> Bool {
      switch self {
      case .textStart: previous == .edge
      case .textEnd: next == .edge
      case .lineStart: previous == .edge || previous == .lineFeed
      case .lineEnd: next == .edge || next == .lineFeed
      case .wordBoundary: (previous == .word) != (next == .word)
      case .noWordBoundary: (previous == .word) == (next == .word)
      }
    }
  }

  enum Instruction: Sendable {
    /// Goes over a character of the set with this number.
    case characters(Int)
    case assertion(Assertion)
    /// Goes on at both places, which are counted from here, so that programs can be joined.
    case split(Int, Int)
    case match
  }

  private let program: [Instruction]
  private let sets: [CharacterRanges]

  /// More instructions than any sensible expression has.
  static let sizeLimit = 2_000
  /// About half a second's work.
  package static let usualBudget = 20_000_000

  package init(_ text: String) throws(Refusal) {
    var parser = RegularExpressionParser(text)
    program = try parser.parse() + [.match]
    sets = parser.sets
  }

  /// Whether it matches anywhere in the text, whose bytes are read as UTF-8. `isOver` is asked from time to time.
  package func matches(
    _ bytes: some Sequence<UInt8>, budget: Int = usualBudget, isOver: () -> Bool = { false }
  ) throws(TooCostly) -> Bool {
    var automaton = Automaton(self, budget: budget)
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var count = 0
    while true {
      switch decoder.decode(&iterator) {
      case .scalarValue(let scalar): if try automaton.matches(before: scalar) { return true }
      case .error: if try automaton.matches(before: "\u{FFFD}") { return true }
      case .emptyInput: return try automaton.matches(before: nil)
      }
      count += 1
      // A program of the greatest size needs some 50 ms for this many characters.
      if count & 0x3FF == 0, isOver() { throw TooCostly() }
    }
  }

  private struct Automaton {
    /// Characters that all sets and assertions see alike.
    struct Kind: Hashable {
      var side = Side.edge
      var isInSet: [Bool]
    }

    struct State: Hashable {
      /// Where the program goes on.
      var places: [Int] = []
      var previous = Side.edge
    }

    /// If more is kept, it is thrown away.
    private static let sizeLimit = 1 << 17
    private static let (unknown, matched): (Int32, Int32) = (-1, 0)

    private let expression: RegularExpression
    private var budget: Int
    private var size = 0
    /// The first is the text's end.
    private var kinds: [Kind]
    private var kindNumbers: [Kind: Int] = [:]
    /// Characters of late, and their kinds.
    private var recent = [(value: UInt32, kind: Int)](repeating: (.max, 0), count: 1 << 13)
    /// The first stands for a match.
    private var states: [State]
    private var stateNumbers: [State: Int32]
    private var state: Int32 = 1
    /// The next states: a row for each state, a column for each kind.
    private var next: [Int32]
    private var columns = 8
    /// In which round each instruction was reached last.
    private var reached: [Int]
    private var round = 0

    init(_ expression: RegularExpression, budget: Int, _ state: State = State()) {
      (self.expression, self.budget) = (expression, budget)
      kinds = [Kind(isInSet: expression.sets.map { _ in false })]
      (states, stateNumbers) = ([State(), state], [state: 1])
      next = [Int32](repeating: Self.unknown, count: 2 * columns)
      reached = [Int](repeating: 0, count: expression.program.count)
    }

    /// Goes over a character, or the end. Returns whether there is a match before it.
    mutating func matches(before character: Unicode.Scalar?) throws(TooCostly) -> Bool {
      if size > Self.sizeLimit { self = Automaton(expression, budget: budget, states[Int(state)]) }
      let number = character.map { kind(of: $0) } ?? 0
      let cell = Int(state) * columns + number
      if next[cell] == Self.unknown { next[cell] = step(over: kinds[number]) }
      if budget < 0 { throw TooCostly() }
      state = next[cell]
      return state == Self.matched
    }

    private mutating func kind(of character: Unicode.Scalar) -> Int {
      let slot = Int(character.value) & (recent.count - 1)
      if recent[slot].value == character.value { return recent[slot].kind }
      let cases = CharacterRanges.cases(of: character)
      let isWord = CharacterRanges.word.contains(character)
      let kind = Kind(
        side: isWord ? .word : character == "\n" ? .lineFeed : .other,
        isInSet: expression.sets.map { $0.contains(character, cases) })
      budget -= expression.sets.count
      let number = kindNumbers[kind] ?? kinds.count
      if number == kinds.count {
        kinds.append(kind)
        kindNumbers[kind] = number
        size += kind.isInSet.count / 8
      }
      if number == columns {
        size += next.count
        columns *= 2
        next = [Int32](repeating: Self.unknown, count: states.count * columns)
      }
      recent[slot] = (character.value, number)
      return number
    }

    /// Finds where the program goes over a character of a kind.
    private mutating func step(over kind: Kind) -> Int32 {
      let from = states[Int(state)]
      var (pending, to) = (from.places + [0], State(previous: kind.side))
      round += 1
      // A state that is new costs as much as some steps.
      budget -= 16
      while let place = pending.popLast() {
        if reached[place] == round { continue }
        reached[place] = round
        budget -= 1
        switch expression.program[place] {
        case .characters(let set): if kind.isInSet[set] { to.places.append(place + 1) }
        case .assertion(let assertion):
          if assertion.holds(between: from.previous, kind.side) { pending.append(place + 1) }
        case .split(let first, let second):
          pending.append(place + first)
          pending.append(place + second)
        case .match: return Self.matched
        }
      }
      to.places.sort()
      if let known = stateNumbers[to] { return known }
      stateNumbers[to] = Int32(states.count)
      states.append(to)
      next += repeatElement(Self.unknown, count: columns)
      size += columns + to.places.count
      return Int32(states.count - 1)
    }
  }
}

struct CharacterRanges: Hashable, Sendable {
  private var ranges: [Range<UInt32>] = []
  var isNegated = false
  /// Whether capitals and small letters are the same.
  var ignoresCase = false

  init(_ ranges: [ClosedRange<Unicode.Scalar>] = []) { for range in ranges { insert(range) } }

  static let digit = CharacterRanges(["0"..."9"])
  static let word = CharacterRanges(["0"..."9", "A"..."Z", "a"..."z", "_"..."_"])
  static let space = CharacterRanges(["\t"..."\n", "\u{C}"..."\r", " "..." "])
  static let any = CharacterRanges(["\0"..."\u{10FFFF}"])
  static let notLineFeed = CharacterRanges(["\0"..."\t", "\u{B}"..."\u{10FFFF}"])

  mutating func insert(_ range: ClosedRange<Unicode.Scalar>) {
    ranges.append(range.lowerBound.value..<range.upperBound.value + 1)
  }

  /// Adds characters, or all others.
  mutating func insert(_ other: CharacterRanges, negated: Bool) {
    ranges += negated ? Array(RangeSet(0..<0x11_0000).subtracting(RangeSet(other.ranges)).ranges) : other.ranges
  }

  /// Whether a character is one of them, or with case ignored one of its cases.
  func contains(_ scalar: Unicode.Scalar, _ cases: [Unicode.Scalar] = []) -> Bool {
    (has(scalar.value) || ignoresCase && cases.contains { has($0.value) }) != isNegated
  }

  /// The small letter and the capital of a letter, if each is one.
  static func cases(of scalar: Unicode.Scalar) -> [Unicode.Scalar] {
    [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping].compactMap { text in
      text.unicodeScalars.count == 1 ? text.unicodeScalars.first : nil
    }
  }

  private func has(_ value: UInt32) -> Bool { ranges.contains { $0.contains(value) } }
}
