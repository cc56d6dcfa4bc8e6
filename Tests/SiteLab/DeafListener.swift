// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab
import Glibc
import NetworkLab

/// A port that never answers: it listens, but its queue is full, so the kernel drops requests for connections (tcp(7),
/// listen(2)). For stalls while connecting, without a network namespace.
package final class DeafListener: Sendable {
  package let port: Int
  private let descriptors: [Int32]

  package init() throws {
    var opened: [Int32] = []
    func socket() throws -> Int32 {
      let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
      let descriptor = Glibc.socket(AF_INET, Int32(kind), 0)
      guard descriptor >= 0 else { throw LabError("opening a socket", code: errno) }
      opened.append(descriptor)
      return descriptor
    }
    do {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let listener = try socket()
      // The kernel reads, and getsockname(2) writes, at most `size` bytes of the address, which has as many.
      let isListening = unsafe withUnsafeMutablePointer(to: &address) { address in
        unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          unsafe bind(listener, address, size) == 0 && listen(listener, 0) == 0
            && getsockname(listener, address, &size) == 0
        }
      }
      guard isListening else { throw LabError("listening", code: errno) }
      port = Int(UInt16(bigEndian: address.sin_port))
      // A queue of 0 holds one connection; the others are for kernels that count in another way.
      for _ in 0..<3 {
        let filler = try socket()
        _ = unsafe withUnsafePointer(to: &address) { address in
          unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe connect(filler, $0, size) }
        }
      }
      descriptors = opened
    } catch {
      for descriptor in opened { close(descriptor) }
      throw error
    }
  }

  deinit { for descriptor in descriptors { close(descriptor) } }
}
#endif
