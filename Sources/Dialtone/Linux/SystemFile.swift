// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CNetlink

/// Small files of the system, read whole.
enum SystemFile {
  /// More than any of them has.
  private static let limit = 64 * 1024

  /// The file's bytes up to a limit; `nil` where there is none that can be read.
  static func bytes(at path: String) -> [UInt8]? {
    // The path becomes a C string for the call.
    let descriptor = unsafe cnetlink_open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { _ = close(descriptor) }
    var bytes: [UInt8] = []
    while bytes.count < limit {
      let chunk = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
        // read(2) writes at most as many bytes as it is told there is room for, and answers how many.
        count = unsafe max(0, read(descriptor, buffer.baseAddress, buffer.count))
      }
      if chunk.isEmpty { break }
      bytes += chunk
    }
    return bytes
  }

  static func text(at path: String) -> String? { bytes(at: path).map { String(decoding: $0, as: UTF8.self) } }
}
#endif
