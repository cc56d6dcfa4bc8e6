// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone

/// A program to run for changes.
struct HookOptions: ParsableArguments {
  @Option(
    name: .customLong("exec-on"), parsing: .unconditional,
    help: ArgumentHelp("Run the program of --exec for these: reachable, unreachable or change (default: change)."))
  var trigger: HookTrigger?

  @Option(
    name: .customLong("exec-timeout"), "End a run of the program after this time, such as 30s (default: 60s).",
    value: "duration", transform: DurationArgument.positive)
  var timeout: Duration?

  @Option(
    name: .customLong("exec"), parsing: .remaining,
    help: ArgumentHelp(
      "Run this program for the first state and each change; the rest of the command line is its arguments.",
      valueName: "program"), completion: .shellCommand("compgen -c"))
  var command: [String] = []

  /// A change is held back for so long, if no settling is asked for: what flaps is not worth a run.
  static let settling = Duration.seconds(1)

  /// The program; `nil` if none is asked for.
  func hook() throws -> Hook? {
    guard let program = command.first else {
      if trigger != nil { throw ValidationError("--exec-on is about --exec; add --exec PROGRAM at the end") }
      if timeout != nil { throw ValidationError("--exec-timeout is about --exec; add --exec PROGRAM at the end") }
      return nil
    }
    let hook = Hook(program: program, arguments: Array(command.dropFirst()), timeout: timeout ?? .seconds(60))
    guard hook.exists else {
      throw ValidationError(
        program.contains("/")
          ? "--exec: \(HostText.quoted(program)) is not a program that can be run"
          : "--exec: there is no program \(HostText.quoted(program)) in PATH; give its path")
    }
    return hook
  }
}
