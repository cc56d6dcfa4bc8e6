// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneSites

/// `SiteChecks --count N --concurrency N URL`: checks one site `--count` times, `--concurrency` checks at a time. Fails
/// unless it is always available.
@main
struct SiteChecks {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    func number(_ name: String) throws -> Int {
      guard let index = arguments.firstIndex(of: name),
        let value = arguments[index...].dropFirst().first.flatMap({ Int($0) }),
        value > 0
      else { throw Failure(description: "usage: SiteChecks --count N --concurrency N URL") }
      return value
    }
    let count = try number("--count")
    let concurrency = try number("--concurrency")
    let check = try SiteCheck(arguments.last ?? "")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<concurrency {
        group.addTask {
          for _ in stride(from: worker, to: count, by: concurrency) {
            let verdict = try await check.run()
            guard verdict.isAvailable else { throw Failure(description: "\(verdict)") }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }
}
