// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// What a system call filter refuses, as a sandbox does.
package struct LabDenial: Sendable, Hashable {
  let kind: Int32
  let code: Int32

  /// `socket(AF_NETLINK, …)` fails with that errno: EPERM, or EAFNOSUPPORT.
  package static func netlinkSockets(_ code: Int32 = EPERM) -> LabDenial {
    LabDenial(kind: LAB_DENY_NETLINK, code: code)
  }

  /// Joining a group by `setsockopt` fails with that errno. Joining by `bind` is not refused, because a filter cannot
  /// see it.
  package static func multicast(_ code: Int32 = EPERM) -> LabDenial { LabDenial(kind: LAB_DENY_MULTICAST, code: code) }

  /// `inotify_init1` fails with that errno: EMFILE, as if the user had as many instances as are allowed.
  package static func inotify(_ code: Int32 = EMFILE) -> LabDenial { LabDenial(kind: LAB_DENY_INOTIFY, code: code) }

  /// No thread can be started: EAGAIN, as if the user had as many as are allowed. Unlike that limit, this also holds
  /// for root.
  package static let threads = LabDenial(kind: LAB_DENY_THREADS, code: EAGAIN)
}
#endif
