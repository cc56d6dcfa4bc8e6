// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import SwiftSyntax

/// A small change of a program's meaning, at one place of a file. It is written so that it is made at run time, by its
/// number, and keeps the lines of the file.
struct Change {
  /// Where the text that is changed begins and ends, in UTF-8.
  let range: Range<Int>
  let line: Int
  let endLine: Int
  /// What is changed, such as "a < b".
  let before: String
  /// What it becomes.
  let after: String
  let form: Form

  enum Form {
    /// The text is an expression, and another one takes its place.
    case expression
    /// The text is a statement that is left out.
    case leftOut
  }

  /// The text with the switch of that number in it.
  func text(number: Int) -> String {
    switch form {
    case .expression: "(mutantIsOn(\(number)) ? (\(after)) : (\(before)))"
    case .leftOut: "if !mutantIsOn(\(number)) { \(before) }"
    }
  }
}
