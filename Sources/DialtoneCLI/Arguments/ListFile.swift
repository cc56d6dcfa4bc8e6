// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CDialtoneSystem
internal import Dialtone

/// Targets or URLs in a file, one a line. What follows a `#` is a comment, if the `#` begins the line or follows a
/// space.
enum ListFile {
  static let option = "--from-file"
  /// Standard input, as other programs call it.
  static let standardInput = "-"
  /// A list that has no end, such as /dev/zero, must not take all memory.
  static let limit = 64 << 20
  /// Far more bytes than a target or a URL has.
  static let lineLimit = 64 << 10

  /// Reads the whole list.
  ///
  /// - Throws: `InputError` if it cannot be read, `ValidationError` if there is nothing in it or it is no text.
  static func read(_ name: String) throws -> [TypedText] {
    let entries = try entries(of: bytes(of: name), list: name)
    if entries.isEmpty {
      throw ValidationError("\(option): \(shown(name)) has nothing in it; write one target or URL a line")
    }
    return entries
  }

  /// The list's name for a person.
  static func shown(_ name: String) -> String {
    name == standardInput ? "standard input" : TerminalText.visible(name)
  }

  static func entries(of bytes: [UInt8], list: String) throws -> [TypedText] {
    // An editor of another system may have put a byte order mark in front (RFC 3629, 6).
    let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
    var entries: [TypedText] = []
    for (number, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      let content = content(of: line)
      if content.isEmpty { continue }
      if content.count > lineLimit {
        throw ValidationError("\(option): \(shown(list)), line \(number + 1) is too long; write one target a line")
      }
      guard let text = String(validating: content, as: UTF8.self) else {
        throw ValidationError("\(option): \(shown(list)), line \(number + 1) is not valid UTF-8; write it in UTF-8")
      }
      entries.append(TypedText(text: text, place: .line(number + 1, list: list)))
    }
    return entries
  }

  /// The line without its comment and the blanks around it. A `#` in a URL has no blank before it.
  private static func content(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let comment = line.indices.first { position in
      line[position] == UInt8(ascii: "#") && (position == line.startIndex || isBlank(line[position - 1]))
    }
    return line[..<(comment ?? line.endIndex)].trimmed(isBlank)
  }

  /// A space, a tab, or the carriage return that ends lines of other systems.
  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

  private static func bytes(of name: String) throws -> [UInt8] {
    do throws(SystemFile.Failure) {
      if name == standardInput { return try SystemFile.bytes(of: STDIN_FILENO, limit: limit) }
      // It may be a pipe, as a shell makes for <(…): its other end is waited for. The path is only read during the
      // call.
      let descriptor = unsafe csystem_open(name, O_RDONLY | O_CLOEXEC)
      if descriptor < 0 { throw .refused(SystemError("open")) }
      return try SystemFile.bytes(of: OwnedDescriptor(descriptor), limit: limit)
    } catch {
      switch error {
      case .refused(let error):
        let problem = "\(option): \(shown(name)): \(SystemError.text(of: error.errno))"
        throw InputError(description: "\(problem); give a file that can be read, or - for standard input")
      // What is read from an open descriptor may be anything, but not endless.
      case .irregular, .tooLong:
        throw ValidationError("\(option): \(shown(name)) has more than \(limit >> 20) MiB; give a shorter list")
      }
    }
  }
}
