// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone

struct StatusRequest: Equatable, Sendable {
  let targets: TargetRequest
  var printsJSON = false
  var timeout = Duration.seconds(10)
  var isQuiet = false

  func run() throws -> ExitStatus {
    InterfaceHint.write(interface: targets.configuration.interface, targets: targets.targets, isQuiet: isQuiet)
    return try MainThread.run { [self] thread in
      let run = SessionRun(
        StatusSession(targetCount: targets.targets.count), of: targets, json: printsJSON,
        options: RunOptions(timeout: timeout, isQuiet: isQuiet), on: thread)
      let monitors = targets.monitors()
      return try await run.untilEnd { children in run.follow(monitors, by: &children) }
    }
  }
}

extension StatusRequest {
  /// Reads a command line of targets, `--json` and `--quiet` alone; `nil` if there is more to it, or it is another
  /// command's.
  ///
  /// It is what scripts and prompts run most. ArgumentParser makes its generic types at run time, and so takes three
  /// quarters of the instructions of the whole command (Benchmarks/run --command).
  init?(simple arguments: [String]) throws {
    guard let command = arguments.first, command == StatusCommand.configuration.commandName else { return nil }
    var typed: [String] = []
    var json = false
    var isQuiet = false
    for argument in arguments.dropFirst() {
      switch argument {
      case "--json": json = true
      case "-q", "--quiet": isQuiet = true
      case _ where argument.hasPrefix("-"): return nil
      default: typed.append(argument)
      }
    }
    do {
      try CommandWord.check(targets: typed)
      targets = try TargetRequest(typed)
    } catch let error as ValidationError {
      throw UsageError(message: error.message, command: command)
    }
    printsJSON = json
    self.isQuiet = isQuiet
  }
}
