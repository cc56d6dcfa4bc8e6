// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CTestSupport

/// What a round of the same work leaves behind, once it has been done before.
///
/// A leak leaves something in every round. The runtime, its pools and the allocator's cache of each thread keep
/// something in one round or another, which a comparison of before and after would take for a leak. Several rounds are
/// judged. Descriptors and threads come and go: the middle round and the mean count, whichever is less. Caches take
/// memory little by little: the least round counts. A round must do its work often enough that a leak is more than one.
package struct Leftovers: Sendable, CustomStringConvertible {
  package let descriptors: Int
  package let threads: Int
  /// In bytes. Pages with something in use on them stay, even if most of them is free.
  package let residentMemory: Int
  /// In bytes; 0 if it is not counted.
  package let heap: Int
  private let censuses: [ProcessCensus]

  /// How much a round may leave. A sanitizer keeps records, and freed memory: under it memory does not count.
  package struct Limits: Sendable {
    package var descriptors = 0
    package var threads = Int.max
    package var heap = Int.max
    package var residentMemory = Int.max

    package init(
      descriptors: Int = 0, threads: Int = .max, heap: Int = .max, residentMemory: Int = .max
    ) {
      self.descriptors = descriptors
      self.threads = threads
      if isSanitized { return }
      self.heap = heap
      self.residentMemory = residentMemory
    }
  }

  /// Does one round that does not count, then others, two at least, until what they left is within the limits. A leak
  /// never is, however many there are; caches are full at last, and on a busy machine they take longer.
  package init(within limits: Limits, upTo most: Int = 10, _ round: () async throws -> Void) async throws {
    var censuses = [try await Self.census(round), try await Self.census(round)]
    repeat {
      censuses.append(try await Self.census(round))
      self.init(censuses)
    } while !isWithin(limits) && censuses.count <= most
  }

  /// Does one round that does not count, then this many. A round ends when everything that it began has ended.
  package init(ofEach rounds: Int = 5, _ round: () async throws -> Void) async throws {
    var censuses: [ProcessCensus] = []
    for _ in 0...rounds { censuses.append(try await Self.census(round)) }
    self.init(censuses)
  }

  private static func census(_ round: () async throws -> Void) async throws -> ProcessCensus {
    try await round()
    ctestsupport_trim_heap()
    return try ProcessCensus()
  }

  private init(_ censuses: [ProcessCensus]) {
    let pairs = zip(censuses.dropFirst(), censuses)
    func least(_ growth: (ProcessCensus, ProcessCensus) -> Int) -> Int { pairs.map(growth).min() ?? 0 }
    func usual(_ growth: (ProcessCensus, ProcessCensus) -> Int) -> Int {
      let growths = pairs.map(growth).sorted()
      return min(growths[growths.count / 2], growths.reduce(0, +) / growths.count)
    }
    descriptors = usual { $0.descriptors - $1.descriptors }
    threads = usual { $0.threads - $1.threads }
    residentMemory = least { $0.residentMemory - $1.residentMemory }
    heap = least { ($0.heap ?? 0) - ($1.heap ?? 0) }
    self.censuses = censuses
  }

  /// How many rounds there were in all.
  package var rounds: Int { censuses.count }

  package func isWithin(_ limits: Limits) -> Bool {
    descriptors <= limits.descriptors && threads <= limits.threads && heap < limits.heap
      && residentMemory < limits.residentMemory
  }

  package var description: String {
    """
    a round left \(descriptors) descriptors, \(threads) threads, \(heap) bytes of heap, \(residentMemory) of memory: \
    \(censuses)
    """
  }
}
#endif
