// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// Whether the exit status is all that is wanted: the same for all commands that end by themselves.
struct QuietOptions: ParsableArguments {
  @Flag(name: [.customShort("q"), .customLong("quiet")], help: "Print nothing; the exit status tells.")
  var isQuiet = false
}
