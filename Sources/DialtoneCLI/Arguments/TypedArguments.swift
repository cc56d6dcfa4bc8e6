// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CDialtoneSystem

enum TypedArguments {
  /// All of them, without the command's own name.
  ///
  /// They are what the C runtime gave to main. Swift reads them in /proc/self/cmdline, and finds none if /proc is not
  /// mounted, as in a chroot. Swift is asked only if the C runtime does not tell (musl).
  static func all() throws -> [String] {
    var count: CInt = 0
    var first = unsafe csystem_arguments(&count)
    if unsafe first == nil { unsafe (first, count) = (CommandLine.unsafeArgv, CommandLine.argc) }
    // The C runtime keeps `count` pointers to C strings for the life of the process, and nobody changes them.
    let arguments = unsafe UnsafeBufferPointer(start: first, count: Int(count))
    return try unsafe arguments.dropFirst().enumerated().compactMap { position, argument in
      guard let argument = unsafe argument else { return nil }
      return try unsafe text(argument, position: position + 1)
    }
  }

  /// One of them, counted from 1. Swift alone would replace what is not UTF-8 with other characters, and so name
  /// another host.
  static func text(_ argument: UnsafePointer<CChar>, position: Int) throws -> String {
    guard let text = unsafe String(validatingCString: argument) else {
      let repaired = unsafe String(cString: argument)
      let name = hasSecret(repaired) ? "argument \(position)" : "argument \(position), \"\(repaired)\","
      throw UsageError(message: "\(name) is not valid UTF-8; write it in UTF-8", command: nil)
    }
    return text
  }

  /// What is wrong with `arguments`, without those that may contain a secret. The parser repeats what it cannot read,
  /// wherever it was typed.
  static func withoutSecrets(_ message: String, _ arguments: [String]) -> String {
    var message = message
    for argument in arguments where hasSecret(argument) {
      message = message.replacing(argument, with: "…")
      if let value = argument.split(separator: "=", maxSplits: 1).last, hasSecret(value) {
        message = message.replacing(value, with: "…")
      }
    }
    return message
  }

  /// Whether there is an @ behind something, which may be a secret (SECURITY.md).
  private static func hasSecret(_ text: some StringProtocol) -> Bool { text.unicodeScalars.dropFirst().contains("@") }
}

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
