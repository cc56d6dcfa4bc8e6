// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import SwiftOperators
import SwiftParser
import SwiftSyntax

/// Finds all places of a file where a small change of meaning can be made.
final class ChangeFinder: SyntaxVisitor {
  private(set) var changes: [Change] = []
  private let converter: SourceLocationConverter

  /// The changes that can be made in a text, in its order.
  static func changes(in text: String) -> [Change] {
    let parsed = Parser.parse(source: text)
    // An operator that is not the standard library's is left as it is.
    let folded = OperatorTable.standardOperators.foldAll(parsed, errorHandler: { _ in })
    let finder = ChangeFinder(SourceLocationConverter(fileName: "", tree: parsed))
    finder.walk(folded)
    return finder.changes
  }

  private init(_ converter: SourceLocationConverter) {
    self.converter = converter
    super.init(viewMode: .sourceAccurate)
  }

  private static let opposites = [
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
    "&+": "&-", "&-": "&+",
  ]

  override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
    if let operation = node.operator.as(BinaryOperatorExprSyntax.self)?.operator.text,
      let opposite = Self.opposites[operation]
    {
      let (left, right) = (node.leftOperand.trimmedDescription, node.rightOperand.trimmedDescription)
      add(node, "\(left) \(opposite) \(right)")
    }
    return .visitChildren
  }

  override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    add(node, node.literal.text == "true" ? "false" : "true")
    return .skipChildren
  }

  override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    // A small number may be a count or a position, a large one a limit.
    let text = node.trimmedDescription
    add(node, text.count <= 2 ? "\(text) + 1" : "\(text) * 2")
    return .skipChildren
  }

  /// A condition that is no comparison: its contrary.
  override func visit(_ node: ConditionElementSyntax) -> SyntaxVisitorContinueKind {
    if case .expression(let condition) = node.condition, !condition.is(InfixOperatorExprSyntax.self) {
      add(condition, "!(\(condition.trimmedDescription))")
    }
    return .visitChildren
  }

  /// A call whose result nobody uses. The only statement of a block may be its value.
  override func visit(_ node: CodeBlockItemListSyntax) -> SyntaxVisitorContinueKind {
    guard node.count > 1 else { return .visitChildren }
    for item in node {
      guard case .expr(let expression) = item.item, let call = Self.call(expression) else { continue }
      let needed = ["fatalError", "preconditionFailure", "precondition", "assert", "self.init", "super.init"]
      if !needed.contains(call) {
        add(expression, "", .leftOut)
      }
    }
    return .visitChildren
  }

  private static func call(_ expression: ExprSyntax) -> String? {
    if let call = expression.as(FunctionCallExprSyntax.self) { return call.calledExpression.trimmedDescription }
    if let attempt = expression.as(TryExprSyntax.self) { return call(attempt.expression) }
    if let wait = expression.as(AwaitExprSyntax.self) { return call(wait.expression) }
    if let unsafe = expression.as(UnsafeExprSyntax.self) { return call(unsafe.expression) }
    return nil
  }

  /// Only what is compiled here.
  override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
    let clause = node.clauses.first { $0.condition.map(Self.holds) ?? true }
    if let elements = clause?.elements { walk(elements) }
    return .skipChildren
  }

  private static func holds(_ condition: ExprSyntax) -> Bool {
    let text = condition.trimmedDescription
    if let sequence = condition.as(SequenceExprSyntax.self),
      let folded = try? OperatorTable.standardOperators.foldSingle(sequence)
    {
      return holds(folded)
    }
    if let operation = condition.as(InfixOperatorExprSyntax.self) {
      let (left, right) = (holds(operation.leftOperand), holds(operation.rightOperand))
      return operation.operator.trimmedDescription == "&&" ? left && right : left || right
    }
    if text.hasPrefix("!"), let negated = condition.as(PrefixOperatorExprSyntax.self) {
      return !holds(negated.expression)
    }
    // The traits are those of a clone.
    return ["os(Linux)", "canImport(Glibc)", "canImport(FoundationNetworking)", "NIO", "Sites", "Command"].contains(
      text)
  }

  // What has to be a literal, or is no code that runs.
  override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: EnumCaseElementSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: ExpressionPatternSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: GenericArgumentClauseSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: InlineArrayTypeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: FunctionParameterClauseSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

  private func add(_ node: some SyntaxProtocol, _ after: String, _ form: Change.Form = .expression) {
    let range = node.positionAfterSkippingLeadingTrivia.utf8Offset..<node.endPositionBeforeTrailingTrivia.utf8Offset
    changes.append(
      Change(
        range: range, line: converter.location(for: node.positionAfterSkippingLeadingTrivia).line,
        endLine: converter.location(for: node.endPositionBeforeTrailingTrivia).line,
        before: node.trimmedDescription, after: after, form: form))
  }
}
