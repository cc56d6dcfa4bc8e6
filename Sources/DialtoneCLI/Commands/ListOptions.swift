// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// Where to read more targets or URLs, besides the command line.
struct ListOptions: ParsableArguments {
  @Option(
    name: .customLong("from-file"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Read more of them from this file, one a line; # begins a comment, and - is standard input.", valueName: "file"),
    completion: .file())
  var files: [String] = []

  /// The arguments, then what the files have. Call it once: standard input can be read only once.
  func entries(after arguments: [String]) throws -> [TypedText] {
    try TypedText.arguments(arguments) + files.flatMap(ListFile.read)
  }
}
