// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone

/// What a system that has nothing left ran out of, and what to do about it.
enum Shortage {
  /// As many descriptors as the library needs at least: sockets of netlink, and what wakes its threads.
  private static let needed = 8

  /// What the system has run out of; `nil` if nothing. If the state of the network was refused for lack of it, it was
  /// not denied.
  static func now() -> String? {
    let socket = csystem_socket(NETLINK_ROUTE)
    if socket < 0 { return remedy(for: SystemError("socket")) }
    var opened = [socket]
    defer { for descriptor in opened { _ = close(descriptor) } }
    while opened.count < needed {
      let copy = dup(socket)
      if copy < 0 { return remedy(for: SystemError("dup")) }
      opened.append(copy)
    }
    return nil
  }

  /// What helps if a call failed for lack of something; `nil` if it failed otherwise.
  static func remedy(for error: SystemError) -> String? {
    switch error.errno {
    case EMFILE: "the process has no file descriptor left; raise its limit (ulimit -n)"
    case ENFILE: "the system has no open file left; close some, or raise fs.file-max (sysctl)"
    case ENOMEM, ENOBUFS: "the system has no memory left"
    default: nil
    }
  }
}
