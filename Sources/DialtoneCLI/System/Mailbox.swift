// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import Dialtone

/// States of one kind on their way from Dialtone's threads to the main one.
///
/// Invariants: each target's states stay in order; its newest is never lost; memory is bounded, for where the reader of the
/// output stalls: beyond `limit`, a target's older state makes room for its newer one.
final class Mailbox<State: Sendable>: Sendable {
  struct Letter: Sendable {
    let target: Int
    let state: State
  }

  private static var limit: Int { 1024 }

  /// Readable while there is something to take: an eventfd(2).
  let descriptor: CInt
  private let letters = Lock<[Letter]>([])

  init() throws(SystemError) {
    descriptor = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
    if descriptor < 0 { throw SystemError("eventfd") }
  }

  deinit { _ = close(descriptor) }

  /// For any thread.
  func post(_ state: State, for target: Int) {
    let wasEmpty = letters.withLock { letters in
      if letters.count >= Self.limit, let old = letters.lastIndex(where: { $0.target == target }) {
        letters.remove(at: old)
      }
      letters.append(Letter(target: target, state: state))
      return letters.count == 1
    }
    if wasEmpty { eventfd_write(descriptor, 1) }
  }

  func takeAll() -> [Letter] {
    var count: eventfd_t = 0
    // Emptied first, so that a letter posted meanwhile makes it readable again.
    _ = unsafe eventfd_read(descriptor, &count)
    return letters.withLock { letters in
      defer { letters = [] }
      return letters
    }
  }
}
