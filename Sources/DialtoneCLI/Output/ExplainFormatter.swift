// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneDiagnosis
internal import DialtoneJournal

/// The lines of `explain` for a person: the verdict, and a line for each step if they are wanted. Pure.
struct ExplainFormatter {
  let style: Style
  /// How many columns the terminal has; `nil` if there is none.
  let columns: Int?

  private static let outcomeColumns = "doubtful".count
  private static let kindColumns = DiagnosisStep.Kind.all.map(\.identifier.count).max() ?? 0

  /// The line of a step, or several if the terminal is narrow.
  func line(for step: DiagnosisStep) -> String {
    let outcome = TerminalText.padded(step.outcome.identifier, to: Self.outcomeColumns)
    let kind = TerminalText.padded(step.kind.identifier, to: Self.kindColumns)
    let family = step.family.map { $0 == .ipv4 ? "IPv4" : "IPv6" } ?? "    "
    let spans = [
      Screen.Span(outcome, look(step.outcome)), Screen.Span("  \(kind)  "), Screen.Span(family, .faint),
      Screen.Span("  "), Screen.Span(TerminalText.visible(step.text), step.outcome == .skipped ? .faint : nil),
    ]
    let head = spans.dropLast().reduce(0) { $0 + $1.text.count }
    return Screen(columns: columns, style: style).paragraph(spans, hanging: head)
  }

  private func look(_ outcome: DiagnosisStep.Outcome) -> Style.Look {
    switch outcome {
    case .ok: .good
    case .fault: .bad
    case .doubtful: .middling
    case .skipped: .faint
    }
  }

  /// The verdict: what is wrong, what to try, what works and what else does not, and how sure the cause is.
  func lines(for verdict: DiagnosisVerdict) -> String {
    let (mark, look): (String, Style.Look) =
      verdict.cause != nil ? ("✗", .bad) : verdict.isFine ? ("✓", .good) : ("?", .middling)
    var lines = wrapped(verdict.summary, indent: 2)
    lines[0] = mark + lines[0].dropFirst()
    lines = lines.map { style.text($0, look) }
    for detail in verdict.details { lines += wrapped(detail, indent: 2) }
    if let advice = verdict.advice { lines += labelled("try", [advice]) }
    if !verdict.works.isEmpty { lines += labelled("works", verdict.works) }
    if !verdict.others.isEmpty { lines += labelled("not", verdict.others) }
    if let cause = verdict.cause {
      lines.append(Screen(columns: columns).paragraph("cause: \(cause.identifier) (\(verdict.confidence.identifier))"))
    }
    return lines.joined(separator: "\n")
  }

  private static let labelColumns = 9

  private func labelled(_ label: String, _ texts: [String]) -> [String] {
    // A text that fits into a line is not broken.
    let limit = (columns ?? .max) - Self.labelColumns
    var groups: [String] = []
    for text in texts.map({ TerminalText.visible($0) }) {
      if let last = groups.last, TerminalText.columns(last) + TerminalText.columns(text) + 5 <= limit {
        groups[groups.count - 1] += " · " + text
      } else {
        // Where the mark has no room, the end of the line tells texts apart.
        if let last = groups.last, TerminalText.columns(last) + 2 <= limit { groups[groups.count - 1] += " ·" }
        groups.append(text)
      }
    }
    var lines = groups.flatMap { wrapped($0, indent: Self.labelColumns) }
    let head = TerminalText.padded("  \(label)", to: Self.labelColumns)
    lines[0] = style.text(head, .faint) + lines[0].dropFirst(Self.labelColumns)
    return lines
  }

  private func wrapped(_ text: String, indent: Int) -> [String] {
    let lines = TerminalText.wrapped(TerminalText.visible(text), to: columns ?? .max, indent: indent)
    return lines.isEmpty ? [String(repeating: " ", count: indent)] : lines
  }

  /// The whole as one object.
  static func json(_ verdict: DiagnosisVerdict, target: String, isInterrupted: Bool) -> String {
    JSONText.line { writer in
      writer.field("target", target)
      writer.field("cause", verdict.cause?.identifier)
      writer.field("confidence", verdict.confidence.identifier)
      writer.field("summary", verdict.summary)
      writer.field("advice", verdict.advice)
      writer.field("proof", verdict.proof?.witness.rawValue)
      writer.field("details", verdict.details)
      writer.field("works", verdict.works)
      writer.field("others", verdict.others)
      writer.key("steps")
      writer.array { writer in
        for step in verdict.steps {
          writer.object { writer in
            writer.field("step", step.kind.identifier)
            writer.field("outcome", step.outcome.identifier)
            writer.field("text", step.text)
            writer.field("cause", step.cause?.identifier)
            writer.field("confidence", step.confidence?.identifier)
            writer.key("evidence")
            writer.object { writer in write(step, &writer) }
          }
        }
      }
      writer.field("elapsed", milliseconds: verdict.elapsed)
      writer.field("interrupted", isInterrupted)
    }
  }

  private static func write(_ step: DiagnosisStep, _ writer: inout JSONText) {
    writer.field("family", step.family.map { $0 == .ipv4 ? "ipv4" : "ipv6" })
    for fact in step.evidence {
      switch fact.value {
      case nil:
        writer.key(fact.key)
        writer.null()
      case .text(let text)?: writer.field(fact.key, text)
      case .number(let number)?:
        writer.key(fact.key)
        writer.number("\(number)")
      case .flag(let flag)?: writer.field(fact.key, flag)
      case .list(let texts)?: writer.field(fact.key, texts)
      }
    }
  }
}
