// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem

/// Which file a descriptor stands for (fstat(2)).
///
/// Each socket has a number of its own. Files without one, such as epoll(7) and eventfd(2), share a number. So Dialtone
/// marks the ones it opens: they are told from other people's, and from those that it opened shortly before or after.
package struct FileIdentity: Equatable, Sendable {
  private let device: dev_t
  private let inode: ino_t
  fileprivate let mark: Int32

  /// `nil` if the descriptor is closed.
  package init?(_ descriptor: Int32) {
    var status = stat()
    // SAFETY: fstat(2) writes to `status` during the call only.
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    device = status.st_dev
    inode = status.st_ino
    mark = csystem_mark_of(descriptor)
  }

  /// The file at a path; `nil` if there is none.
  init?(at path: String) {
    var status = stat()
    // The path becomes a C string for the call, which writes to `status` alone.
    guard unsafe stat(path, &status) == 0 else { return nil }
    (device, inode, mark) = (status.st_dev, status.st_ino, 0)
  }

  /// Marks the file that a descriptor of Dialtone stands for, and returns its identity; `nil` if it is negative, since
  /// nothing was opened.
  package static func marking(_ descriptor: Int32) -> FileIdentity? {
    if descriptor < 0 { return nil }
    // If the system refuses the mark, the identity is the one without it.
    _ = csystem_mark(descriptor, csystem_new_mark())
    return FileIdentity(descriptor)
  }

  /// Marks another file without a number of its own, so that it has this identity, too.
  package func mark(_ descriptor: Int32) { _ = csystem_mark(descriptor, mark) }
}

/// A file descriptor with one owner, closed when the owner goes.
///
/// Programs close descriptors that are not theirs, as daemons do when they begin. The number may be another file's by
/// then. That file is left alone.
package struct OwnedDescriptor: ~Copyable, Sendable {
  package let rawValue: Int32
  private let identity: FileIdentity?

  package init(_ rawValue: Int32) {
    self.rawValue = rawValue
    identity = .marking(rawValue)
  }

  /// Whether the number still stands for the file that was opened.
  package var isOurs: Bool { identity != nil && FileIdentity(rawValue) == identity }

  /// The same, as far as the mark shows it: one system call instead of two, for what is done at each event. A file of
  /// Dialtone's own that was opened much later may have the same mark.
  package var isMarkedAsOurs: Bool {
    guard let identity, identity.mark > 0 else { return isOurs }
    return csystem_mark_of(rawValue) == identity.mark
  }

  deinit {
    // Linux releases the number even if close(2) returns EINTR: never close it twice.
    if isOurs { _ = close(rawValue) }
  }
}
