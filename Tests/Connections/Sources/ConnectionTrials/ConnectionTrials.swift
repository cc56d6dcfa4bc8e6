// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
import NetworkLab

/// Plays changes of a network with two uplinks to clients with Dialtone and without, side by side, and prints a table.
///
///     connection-trials [--short] [--rounds N] [--limit SECONDS] [--only TEXT]
///
/// It fails if a connection was closed that worked.
@main
struct ConnectionTrials {
  var rounds = 20
  var limit = Duration.seconds(8)
  var only: String?

  static func main() async throws {
    var trials = ConnectionTrials()
    var arguments = CommandLine.arguments.dropFirst()
    while let argument = arguments.popFirst() {
      switch argument {
      case "--short": (trials.rounds, trials.limit) = (1, .seconds(5))
      case "--rounds": trials.rounds = try number(arguments.popFirst(), argument)
      case "--limit": trials.limit = .seconds(try number(arguments.popFirst(), argument))
      case "--only": trials.only = arguments.popFirst()
      default: throw LabError("connection-trials: unknown argument: \(argument)")
      }
    }
    if let reason = NetworkLab.unavailableReason { throw LabError("connection-trials: \(reason)") }
    try await trials.run()
  }

  private static func number(_ text: String?, _ option: String) throws -> Int {
    guard let number = text.flatMap({ Int($0) }), number > 0 else { throw LabError("\(option) needs a number") }
    return number
  }

  private func run() async throws {
    var table = TrialTable(limit: limit)
    for change in TrialChange.all where only.map({ change.name.contains($0) }) ?? true {
      let world = try await TrialWorld(hasSecond: change.hasSecond)
      for _ in 0..<rounds {
        table.add(try await TrialRound(world: world, change: change, limit: limit).play(), to: change.name)
      }
      try await world.stop()
      try FileHandle.standardOutput.write(contentsOf: Data((table.text(of: change.name) + "\n").utf8))
    }
    print("Rounds of each change: \(rounds). Connections that Dialtone closed and that worked: \(table.wrongs).")
    if table.wrongs > 0 { throw LabError("connections were closed that worked") }
  }
}
#endif
