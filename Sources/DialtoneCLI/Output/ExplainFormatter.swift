// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites

/// The lines of `explain` for a person: a line for each step, and the verdict. Pure.
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
    let head = "\(outcome)  \(kind)  \(family)  "
    let styledHead = "\(style.text(outcome, look(step.outcome)))  \(kind)  \(style.text(family, .faint))  "
    let text = TerminalText.visible(step.text)
    guard let columns, TerminalText.columns(head + text) > columns, columns > head.count + 20 else {
      return styledHead + (step.outcome == .skipped ? style.text(text, .faint) : text)
    }
    let indent = head.count
    let lines = TerminalText.wrapped(text, to: columns, indent: indent)
    return styledHead + lines.joined(separator: "\n").dropFirst(indent)
  }

  private func look(_ outcome: DiagnosisStep.Outcome) -> Style.Look {
    switch outcome {
    case .ok: .good
    case .fault: .bad
    case .doubtful: .middling
    case .skipped: .faint
    }
  }

  /// The verdict, in lines of their own: what is wrong, how sure that is, and what to try.
  func lines(for verdict: DiagnosisVerdict) -> String {
    let look: Style.Look = verdict.cause != nil ? .bad : verdict.isFine ? .good : .middling
    var lines = [style.text(TerminalText.visible(verdict.summary), look)]
    if let cause = verdict.cause {
      lines.append("cause: \(cause.identifier) (\(verdict.confidence.identifier))")
    }
    if let advice = verdict.advice { lines.append("try:   \(TerminalText.visible(advice))") }
    guard let columns else { return lines.joined(separator: "\n") }
    return lines.flatMap { line in
      TerminalText.columns(line) <= columns || line.contains("\u{1B}")
        ? [line] : TerminalText.wrapped(line, to: columns, indent: 0)
    }.joined(separator: "\n")
  }

  /// The whole as one object.
  static func json(_ verdict: DiagnosisVerdict, target: String) -> String {
    JSONWriter.object { writer in
      writer.field("target", target)
      writer.field("cause", verdict.cause?.identifier)
      writer.field("confidence", verdict.confidence.identifier)
      writer.field("summary", verdict.summary)
      writer.field("advice", verdict.advice)
      writer.key("steps")
      writer.array { writer in
        for step in verdict.steps {
          writer.object { writer in
            writer.field("step", step.kind.identifier)
            writer.field("outcome", step.outcome.identifier)
            writer.field("text", step.text)
            writer.key("evidence")
            writer.object { writer in write(step, &writer) }
          }
        }
      }
      writer.field("elapsed", milliseconds: verdict.elapsed)
    }
  }

  private static func write(_ step: DiagnosisStep, _ writer: inout JSONWriter) {
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
