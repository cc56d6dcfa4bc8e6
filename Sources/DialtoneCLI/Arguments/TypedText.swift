// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// A target or a URL as it was typed, and where it stands, for errors.
struct TypedText: Equatable, Sendable {
  enum Place: Equatable, Sendable {
    /// Among the arguments of its kind, counted from 1; without a number if it is the only one.
    case argument(Int?)
    /// A line of a list, counted from 1.
    case line(Int, list: String)
  }

  let text: String
  let place: Place

  /// What was typed as arguments.
  static func arguments(_ texts: [String]) -> [TypedText] {
    texts.enumerated().map { position, text in
      TypedText(text: text, place: .argument(texts.count > 1 ? position + 1 : nil))
    }
  }

  /// What is wrong with it, with the place in a list in front.
  func refused(_ error: ValidationError) -> ValidationError {
    guard case .line(let line, let list) = place else { return error }
    return ValidationError("\(ListFile.option): \(ListFile.shown(list)), line \(line): \(error.message)")
  }
}
