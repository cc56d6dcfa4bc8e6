// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A regular expression in a subset of RE2's syntax, that a stranger's text is matched with.
///
/// Invariant: matching takes at most as many steps as the text has characters times the program has instructions. It
/// never takes more than its budget, and ends when it is told to. It is Thompson's simulation: all states at once, one
/// character at a time, nothing is tried twice.
package struct RegularExpression: Sendable {
  /// Why a text is no expression of the subset.
  package struct Refusal: Error, Equatable {
    package let message: String
  }

  /// The text has cost more steps than it may, or more time.
  package struct TooCostly: Error {}

  enum Assertion: Sendable, Equatable {
    case textStart, textEnd, lineStart, lineEnd, wordBoundary, noWordBoundary
  }

  enum Instruction: Sendable {
    case characters(CharacterRanges)
    case assertion(Assertion)
    /// Goes on at both places, which are counted from here, so that programs can be joined.
    case split(Int, Int)
    case match
  }

  private let program: [Instruction]

  /// More instructions than any sensible expression has.
  static let sizeLimit = 2_000
  /// About a second's work.
  package static let usualBudget = 20_000_000

  package init(_ text: String) throws(Refusal) {
    var parser = RegularExpressionParser(text)
    program = try parser.parse() + [.match]
  }

  /// Whether it matches anywhere in the text, whose bytes are read as UTF-8. `isOver` is asked from time to time.
  package func matches(
    _ bytes: some Sequence<UInt8>, budget: Int = usualBudget, isOver: () -> Bool = { false }
  ) throws(TooCostly) -> Bool {
    var simulation = Simulation(program, budget: budget)
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var next = Self.scalar(&decoder, &iterator)
    var previous: Unicode.Scalar?
    while true {
      if try simulation.begin(between: previous, next) { return true }
      guard let character = next else { return false }
      next = Self.scalar(&decoder, &iterator)
      if try simulation.advance(over: character, to: next, isOver) { return true }
      previous = character
    }
  }

  private static func scalar(
    _ decoder: inout UTF8, _ iterator: inout some IteratorProtocol<UInt8>
  ) -> Unicode.Scalar? {
    switch decoder.decode(&iterator) {
    case .scalarValue(let scalar): scalar
    case .emptyInput: nil
    case .error: "\u{FFFD}"
    }
  }

  /// The states in which the program is.
  private struct Simulation {
    private let program: [Instruction]
    private var budget: Int
    /// The instructions that wait for a character.
    private var states: [Int] = []
    /// In which round each instruction was reached last.
    private var reached: [Int]
    private var round = 0
    private var pending: [Int] = []

    init(_ program: [Instruction], budget: Int) {
      self.program = program
      self.budget = budget
      reached = [Int](repeating: -1, count: program.count)
    }

    /// Begins a match here, too. Returns whether there is one already.
    mutating func begin(
      between previous: Unicode.Scalar?, _ next: Unicode.Scalar?
    ) throws(TooCostly) -> Bool {
      try reach(0, between: previous, next)
    }

    /// Goes over a character. Returns whether the program has matched.
    mutating func advance(
      over character: Unicode.Scalar, to next: Unicode.Scalar?, _ isOver: () -> Bool
    ) throws(TooCostly) -> Bool {
      let former = states
      states.removeAll(keepingCapacity: true)
      round += 1
      for state in former {
        guard case .characters(let ranges) = program[state], ranges.contains(character) else { continue }
        if try reach(state + 1, between: character, next) { return true }
      }
      budget -= former.count
      // A program of the greatest size needs some 50 ms for this many rounds.
      if round & 0x3FF == 0, isOver() { throw TooCostly() }
      return false
    }

    /// Goes on from an instruction without a character.
    private mutating func reach(
      _ start: Int, between previous: Unicode.Scalar?, _ next: Unicode.Scalar?
    ) throws(TooCostly) -> Bool {
      pending.append(start)
      while let position = pending.popLast() {
        if reached[position] == round { continue }
        reached[position] = round
        budget -= 1
        if budget < 0 { throw TooCostly() }
        switch program[position] {
        case .characters: states.append(position)
        case .assertion(let assertion):
          if assertion.holds(between: previous, next) { pending.append(position + 1) }
        case .split(let first, let second): pending += [position + second, position + first]
        case .match: return true
        }
      }
      return false
    }
  }
}

extension RegularExpression.Assertion {
  fileprivate func holds(between previous: Unicode.Scalar?, _ next: Unicode.Scalar?) -> Bool {
    switch self {
    case .textStart: previous == nil
    case .textEnd: next == nil
    case .lineStart: previous == nil || previous == "\n"
    case .lineEnd: next == nil || next == "\n"
    case .wordBoundary: Self.isWord(previous) != Self.isWord(next)
    case .noWordBoundary: Self.isWord(previous) == Self.isWord(next)
    }
  }

  /// RE2's \w: ASCII alone.
  private static func isWord(_ scalar: Unicode.Scalar?) -> Bool {
    scalar.map(CharacterRanges.word.contains) ?? false
  }
}

/// Characters, as ranges of them.
struct CharacterRanges: Sendable {
  private(set) var ranges: [ClosedRange<UInt32>] = []
  var isNegated = false
  /// Whether capitals and small letters are the same.
  var ignoresCase = false

  init(_ ranges: [ClosedRange<Unicode.Scalar>] = []) {
    self.ranges = ranges.map { $0.lowerBound.value...$0.upperBound.value }
  }

  static let digit = CharacterRanges(["0"..."9"])
  static let word = CharacterRanges(["0"..."9", "A"..."Z", "a"..."z", "_"..."_"])
  static let space = CharacterRanges(["\t"..."\n", "\u{C}"..."\r", " "..." "])
  static let any = CharacterRanges(["\0"..."\u{10FFFF}"])
  static let notLineFeed = CharacterRanges(["\0"..."\t", "\u{B}"..."\u{10FFFF}"])

  mutating func insert(_ range: ClosedRange<Unicode.Scalar>) {
    ranges.append(range.lowerBound.value...range.upperBound.value)
  }

  /// Adds characters, or all others.
  mutating func insert(_ other: CharacterRanges, negated: Bool) {
    if !negated { return ranges += other.ranges }
    var start: UInt32 = 0
    for range in other.ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if range.lowerBound > start { ranges.append(start...range.lowerBound - 1) }
      start = max(start, range.upperBound + 1)
    }
    if start <= 0x10_FFFF { ranges.append(start...0x10_FFFF) }
  }

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    (has(scalar.value) || ignoresCase && Self.cases(of: scalar).contains { has($0.value) }) != isNegated
  }

  /// The small letter and the capital of a letter, if each is one.
  static func cases(of scalar: Unicode.Scalar) -> [Unicode.Scalar] {
    [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping].compactMap { text in
      text.unicodeScalars.count == 1 ? text.unicodeScalars.first : nil
    }
  }

  private func has(_ value: UInt32) -> Bool { ranges.contains { $0.contains(value) } }
}
