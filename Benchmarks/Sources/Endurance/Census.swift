// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CBenchmark

/// What the process holds at a moment.
struct Census: CustomStringConvertible {
  private let descriptors: Int
  private let threads: Int
  /// In KiB.
  private let memory: Int

  init() throws {
    var census = bench_census()
    guard unsafe bench_take_census(&census) == 0 else { throw Failure("/proc/self cannot be read") }
    (descriptors, threads, memory) = (Int(census.descriptors), Int(census.threads), Int(census.memory))
  }

  var description: String { "\(descriptors) descriptors, \(threads) threads, \(memory) KiB" }

  /// Fails if the last third holds more than the first. The first census counts for nothing: caches fill.
  static func requireFlat(_ censuses: [Census]) throws {
    let counted = censuses.dropFirst()
    guard counted.count >= 6 else { throw Failure("only \(censuses.count) censuses; give it more time") }
    let first = counted.prefix(counted.count / 3)
    let last = counted.suffix(counted.count / 3)
    func middle(_ part: ArraySlice<Census>, _ value: (Census) -> Int) -> Int {
      part.map(value).sorted()[part.count / 2]
    }
    // Pools of the runtime keep threads for a while.
    for (name, value, slack) in [
      ("descriptors", { (census: Census) in census.descriptors }, 2),
      ("threads", { (census: Census) in census.threads }, 4),
      ("KiB of memory", { (census: Census) in census.memory }, 4096),
    ] {
      let growth = middle(last, value) - middle(first, value)
      if growth > slack { throw Failure("\(growth) \(name) more in the end: \(censuses)") }
    }
  }
}
