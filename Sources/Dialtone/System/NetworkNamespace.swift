// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The network namespace of a thread (network_namespaces(7)), in which its sockets are made. The threads that it starts
/// are in the same one. Without its file in /proc, as on other systems, all threads are taken to be in one.
struct NetworkNamespace: Sendable {
  private let file = FileIdentity(at: path)

  private static var path: String { "/proc/thread-self/ns/net" }

  /// Whether the calling thread is in it.
  var isCurrent: Bool {
    guard let file, let current = FileIdentity(at: Self.path) else { return true }
    return current == file
  }
}
