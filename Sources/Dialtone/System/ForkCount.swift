// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CNetlink

/// Tells a process from the one that it was forked from: threads are not inherited, and descriptors are shared with the
/// parent.
package enum ForkCount {
  /// Another number in a child of fork(2) than in its parent. One plain load.
  package static var current: UInt32 { cnetlink_fork_count() }
}
