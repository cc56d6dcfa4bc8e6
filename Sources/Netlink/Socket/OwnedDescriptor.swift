// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetlink

/// A file descriptor with one owner, closed when the owner goes.
struct OwnedDescriptor: ~Copyable, Sendable {
  let rawValue: Int32

  init(_ rawValue: Int32) {
    self.rawValue = rawValue
  }

  deinit {
    // Linux releases the number even where close(2) answers EINTR: never close it twice.
    _ = close(rawValue)
  }
}
#endif
