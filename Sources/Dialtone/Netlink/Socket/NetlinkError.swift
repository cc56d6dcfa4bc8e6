// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem

#if os(Linux)
package struct NetlinkError: Error, Hashable, Sendable {
  package enum Code: String, Sendable {
    /// `socket()` failed: no netlink here (seccomp, gVisor), or no descriptor left.
    case socketRefused
    case bindRefused
    case membershipRefused
    case filterRefused
    case sendFailed
    case receiveFailed
    /// The kernel understood the request, and refused it.
    case refusedByKernel
    /// The kernel's bytes are not what they should be.
    case malformed
    /// The kernel sent no answer, though it answers before the send returns.
    case noAnswer
    /// Parts of the answer were dropped in every attempt.
    case overrun
  }

  package let code: Code
  /// The number from errno(3), or 0.
  package let errno: Int32
  /// What was tried, in words that can follow "cannot".
  package let operation: String
  /// The kernel's explanation, from the extended acknowledgement.
  package let message: String?

  package init(_ code: Code, errno: Int32 = 0, operation: String, message: String? = nil) {
    self.code = code
    self.errno = errno
    self.operation = operation
    self.message = message
  }
}

extension NetlinkError: CustomStringConvertible {
  package var description: String {
    var reason: String
    switch code {
    case .malformed: reason = "the kernel's answer is malformed"
    case .noAnswer: reason = "the kernel did not answer"
    case .overrun: reason = "answers were lost"
    default: reason = "refused"
    }
    if errno != 0 { reason = "\(SystemError.text(of: errno)) (\(Self.names[errno] ?? "errno \(errno)"))" }
    if let message { reason += ": \(message)" }
    return "cannot \(operation): \(reason)"
  }

  /// The numbers that these system calls and the kernel's answers use; they differ between architectures.
  private static let names: [Int32: String] = [
    EACCES: "EACCES", EAFNOSUPPORT: "EAFNOSUPPORT", EAGAIN: "EAGAIN", EBADF: "EBADF", EBUSY: "EBUSY",
    ECONNREFUSED: "ECONNREFUSED", EEXIST: "EEXIST", EHOSTUNREACH: "EHOSTUNREACH", EINTR: "EINTR", EINVAL: "EINVAL",
    EMFILE: "EMFILE", EMSGSIZE: "EMSGSIZE", ENETDOWN: "ENETDOWN", ENETUNREACH: "ENETUNREACH", ENFILE: "ENFILE",
    ENOBUFS: "ENOBUFS", ENODEV: "ENODEV", ENOENT: "ENOENT", ENOMEM: "ENOMEM", ENOPROTOOPT: "ENOPROTOOPT",
    ENOSYS: "ENOSYS", ENXIO: "ENXIO", EOPNOTSUPP: "EOPNOTSUPP", EPERM: "EPERM", EPROTONOSUPPORT: "EPROTONOSUPPORT",
    ERANGE: "ERANGE", ESRCH: "ESRCH",
  ]
}
#endif
