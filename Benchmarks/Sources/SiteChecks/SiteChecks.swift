// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneSites
import Dispatch
import Glibc

/// `SiteChecks --count N --concurrency N URL`: checks one site `--count` times, `--concurrency` checks at a time. Fails
/// unless it is always available.
@main
struct SiteChecks {
  /// The main thread waits here: valgrind ends with it, if it goes to Dispatch.
  static func main() throws {
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
    let isOver = DispatchSemaphore(value: 0)
    Task.detached {
      do {
        try await run(check, count, concurrency)
      } catch {
        print(error)
        exit(1)
      }
      isOver.signal()
    }
    isOver.wait()
  }

  private static func run(_ check: SiteCheck, _ count: Int, _ concurrency: Int) async throws {
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
