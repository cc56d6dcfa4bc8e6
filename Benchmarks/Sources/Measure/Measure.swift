// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CBenchmark
import Glibc

/// Makes changes, and measures the programs that watch them. In the namespace that the script `run` makes: `v0` with an
/// address and a default route over it. A program is named `NAME=COMMAND`; its words are separated by spaces.
///
///     Measure latency ROUNDS CHANGES PROGRAM…    from a changed default route to what a watcher tells
///     Measure touch ROUNDS CHANGES PROGRAM…      the same for a route to 192.0.2.0/24
///     Measure crowd ROUNDS CHANGES PROGRAM…      as `touch`, each just after an event of one of 1,000 idle links
///     Measure foreign SECONDS RATE PROGRAM…      what a watcher pays for changes that do not concern it
///     Measure idle SECONDS 0 PROGRAM…            what a watcher does while nothing changes
///     Measure start ROUNDS PROGRAM…              a whole process, until it ends
///     Measure first ROUNDS PROGRAM…              what a program says that its first answer took
///     Measure routes COUNT PROGRAM…              a PROGRAM as `start`, beside that many routes
///     Measure routes-first COUNT PROGRAM…        a PROGRAM as `first`, beside that many routes
///     Measure links|addresses COUNT PROGRAM…     the same beside links or addresses
///
/// The programs take turns, so that all have the same machine. Output: a line each, with tabs, figures in microseconds.
@main
struct Measure {
  static func main() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count >= 3, let number = Int(arguments[1]) else { throw Failure("see Measure.swift for the usage") }
    let second = Int(arguments[2])
    switch (arguments[0], second) {
    case ("latency", let changes?):
      try Watchers(programs(arguments[3...])).latency(rounds: number, changes: changes, route: .internet)
    case ("touch", let changes?):
      try Watchers(programs(arguments[3...])).latency(rounds: number, changes: changes, route: .documentation)
    case ("crowd", let changes?):
      try Surroundings.links(1_000) {
        try Watchers(programs(arguments[3...]))
          .latency(rounds: number, changes: changes, route: .documentation, afterEventOf: "d7")
      }
    case ("foreign", let rate?): try Watchers(programs(arguments[3...])).foreign(seconds: number, rate: rate)
    case ("idle", _?): try Watchers(programs(arguments[3...])).idle(seconds: number)
    case ("first", _): try Starts(programs(arguments[2...])).measureFirst(rounds: number)
    case ("routes-first", _):
      try Surroundings.routes(number) { try Starts(programs(arguments[2...])).measureFirst(rounds: 5) }
    case ("start", _): try Starts(programs(arguments[2...])).measure(rounds: number)
    case ("routes", _):
      try Surroundings.routes(number) { try Starts(programs(arguments[2...])).measure(rounds: 3) }
    case ("links", _): try Surroundings.links(number) { try Starts(programs(arguments[2...])).measure(rounds: 3) }
    case ("addresses", _):
      try Surroundings.addresses(number) { try Starts(programs(arguments[2...])).measure(rounds: 3) }
    default: throw Failure("see Measure.swift for the usage")
    }
  }

  private static func programs(_ texts: ArraySlice<String>) throws -> [Program] { try texts.map(Program.init) }
}

/// A program that is measured.
struct Program {
  let name: String
  private let words: [String]

  init(_ text: String) throws {
    guard let sign = text.firstIndex(of: "=") else { throw Failure("not NAME=COMMAND: \(text)") }
    name = String(text[..<sign])
    words = text[text.index(after: sign)...].split(separator: " ").map(String.init)
  }

  /// Starts it. Returns its number, and the descriptor of its output.
  func start() throws -> (process: pid_t, output: CInt) {
    // They live until the call has ended, which copies them.
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var output: CInt = -1
    let process = unsafe bench_start(&arguments, &output)
    try check(process > 0 ? 0 : process, "start \(name)")
    return (process, output)
  }
}

struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

func check(_ result: CInt, _ what: String) throws {
  if result < 0 { throw Failure("cannot \(what): \(unsafe String(cString: strerror(-result)))") }
}

extension Array<Int64> {
  /// The value that this share of all is not above.
  func quantile(_ share: Double) -> Double {
    if isEmpty { return .nan }
    return Double(sorted()[Swift.min(count - 1, Int(Double(count) * share))])
  }
}

/// One row of the output.
func row(_ name: String, _ figures: [(name: String, value: Double)]) {
  let texts = figures.map { "\($0.name)=\(($0.value * 100).rounded() / 100)" }
  print(([name] + texts).joined(separator: "\t"))
  fflush(nil)
}
