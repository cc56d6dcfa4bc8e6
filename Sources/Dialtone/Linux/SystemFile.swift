// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CNetlink

/// Files of the system.
enum SystemFile {
  /// More than any file of sysfs has.
  private static let limit = 64 * 1024

  /// The file's bytes up to a limit; `nil` where there is none that can be read.
  static func bytes(at path: String) -> [UInt8]? {
    let descriptor = open(path)
    guard descriptor >= 0 else { return nil }
    defer { _ = close(descriptor) }
    var bytes: [UInt8] = []
    while bytes.count < limit, let chunk = read(descriptor) { bytes += chunk }
    return bytes
  }

  /// A number that another text is all but certain to change, and the text's length; `nil` where there is no file that can be
  /// read. FNV-1a (draft-eastlake-fnv), for files of any size.
  static func fingerprint(of path: String) -> [UInt64]? {
    let descriptor = open(path)
    guard descriptor >= 0 else { return nil }
    defer { _ = close(descriptor) }
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    var length: UInt64 = 0
    while let chunk = read(descriptor) {
      for byte in chunk { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
      length += UInt64(chunk.count)
    }
    return [hash, length]
  }

  static func exists(_ path: String) -> Bool {
    // The path becomes a C string for the call.
    unsafe access(path, F_OK) == 0
  }

  private static func open(_ path: String) -> CInt {
    // Should it be a pipe, nobody waits for its other end. The path becomes a C string for the call.
    unsafe cnetlink_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
  }

  /// The next bytes, or `nil` at the end.
  private static func read(_ descriptor: CInt) -> [UInt8]? {
    let chunk = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
      // read(2) writes at most as many bytes as it is told there is room for, and answers how many.
      count = unsafe max(0, CNetlink.read(descriptor, buffer.baseAddress, buffer.count))
    }
    return chunk.isEmpty ? nil : chunk
  }

  static func text(at path: String) -> String? { bytes(at: path).map { String(decoding: $0, as: UTF8.self) } }
}
#endif
