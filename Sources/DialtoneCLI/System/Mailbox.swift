// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import Netlink

/// States of one kind on their way from Dialtone's threads to the main one.
///
/// Invariants: each target's states stay in order, and its newest is never lost. Memory is bounded even if the reader
/// of the output stalls: beyond `limit`, a target's older state makes room for its newer one.
final class Mailbox<State: Sendable>: Sendable {
  struct Letter: Sendable {
    let target: Int
    let state: State
  }

  private static var limit: Int { 1024 }

  /// The letters in their order, and the position of each target's newest.
  private struct Heap {
    /// `nil` if one has made room.
    var letters: [Letter?] = []
    var newest: [Int: Int] = [:]
    var count = 0

    mutating func append(_ letter: Letter) {
      if count >= Mailbox.limit, let old = newest[letter.target] {
        letters[old] = nil
        count -= 1
        if letters.count > 2 * count + Mailbox.limit { compact() }
      }
      newest[letter.target] = letters.count
      letters.append(letter)
      count += 1
    }

    /// Closes the gaps. Each time costs as much as the letters that have been added since the last time.
    private mutating func compact() {
      letters.removeAll { $0 == nil }
      for (position, letter) in letters.enumerated() { newest[letter?.target ?? 0] = position }
    }
  }

  /// Readable while there is something to take: an eventfd(2).
  private let event: OwnedDescriptor
  var descriptor: CInt { event.rawValue }
  private let heap = Lock(Heap())

  init() throws(SystemError) {
    let descriptor = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
    if descriptor < 0 { throw SystemError("eventfd") }
    event = OwnedDescriptor(descriptor)
  }

  /// For any thread.
  func post(_ state: State, for target: Int) {
    heap.withLock { $0.append(Letter(target: target, state: state)) }
    // It can hardly fail (eventfd(2)): if it does, again, and the next letter makes up for what failed each time.
    for _ in 0..<8 where eventfd_write(descriptor, 1) == 0 { return }
  }

  var isEmpty: Bool { heap.withLock { $0.count == 0 } }

  func takeAll() -> [Letter] {
    var count: eventfd_t = 0
    // Emptied first, so that a letter posted meanwhile makes it readable again.
    _ = unsafe eventfd_read(descriptor, &count)
    return heap.withLock { heap in
      defer { heap = Heap() }
      return heap.letters.compactMap { $0 }
    }
  }
}
