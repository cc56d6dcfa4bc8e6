// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone

/// Options that need not be given. What stands behind one is its value, even if it begins with a dash.
extension Option {
  init<Read: ExpressibleByArgument>(
    name: NameSpecification = .long, _ help: String, value: String, completion: CompletionKind? = nil
  ) where Value == Read? {
    self.init(
      name: name, parsing: .unconditional, help: ArgumentHelp(help, valueName: value), completion: completion)
  }

  init<Read>(
    name: NameSpecification = .long, _ help: String, value: String, completion: CompletionKind? = nil,
    transform: @escaping @Sendable (String) throws -> Read
  ) where Value == Read? {
    self.init(
      name: name, parsing: .unconditional, help: ArgumentHelp(help, valueName: value), completion: completion,
      transform: transform)
  }

  init(interface help: String) where Value == String? {
    self.init(
      name: [.customShort("i", allowingJoined: true), .customLong("interface")], help, value: "name",
      completion: .custom { _, _, _ in InterfaceName.completions() }, transform: InterfaceName.parse)
  }

  init(timeout help: String) where Value == Duration? {
    self.init(
      name: [.customShort("t", allowingJoined: true), .customLong("timeout")], help, value: "duration",
      transform: DurationArgument.positive)
  }
}

/// The families that count: the same for all commands.
struct FamilyOptions: ParsableArguments {
  @Flag(name: .customShort("4"), help: "Only IPv4 counts.")
  var onlyIPv4 = false

  @Flag(name: .customShort("6"), help: "Only IPv6 counts.")
  var onlyIPv6 = false

  /// `nil` is both.
  var family: IPAddress.Family? { onlyIPv4 ? .ipv4 : onlyIPv6 ? .ipv6 : nil }

  func validate() throws {
    if onlyIPv4, onlyIPv6 { throw ValidationError("-4 and -6 exclude each other; give one of them, or none for both") }
  }
}

/// Whether the exit status is all that is wanted: the same for all commands that end by themselves.
struct QuietOptions: ParsableArguments {
  @Flag(name: [.customShort("q"), .customLong("quiet")], help: "Print nothing; the exit status tells.")
  var isQuiet = false
}

/// Where to read more targets or URLs, besides the command line.
struct ListOptions: ParsableArguments {
  @Option(
    name: .customLong("from-file"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Read more targets or URLs from this file, one a line; # begins a comment, and - is standard input.",
      valueName: "file"),
    completion: .file())
  var files: [String] = []

  /// The arguments, then what the files have. Call it once: standard input can be read only once.
  func entries(after arguments: [String]) throws -> [TypedText] {
    try TypedText.arguments(arguments) + files.flatMap(ListFile.read)
  }
}
