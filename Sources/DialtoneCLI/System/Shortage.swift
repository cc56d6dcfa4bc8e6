// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import Dialtone

/// What a system that has nothing left ran out of, and what to do about it.
enum Shortage {
  /// What helps where a call failed for want of something; `nil` if it failed otherwise.
  static func remedy(for error: SystemError) -> String? {
    switch error.errno {
    case EMFILE: "the process has no file descriptor left; raise its limit (ulimit -n)"
    case ENFILE: "the system has no open file left; close some, or raise fs.file-max (sysctl)"
    case ENOMEM, ENOBUFS: "the system has no memory left"
    case EAGAIN: "the system has no thread left; raise the limit (ulimit -u)"
    default: nil
    }
  }
}
