// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem

/// Files of the system. Only regular files are read, each up to a limit. In the place of a configuration file there may
/// be a device that never ends, or a pipe to which nobody writes.
enum SystemFile {
  /// More than any file of sysfs has, and more than libc's resolver uses.
  private static let limit = 64 * 1024
  /// How much of a file is read to see whether it changed.
  private static let fingerprintLimit = 256 * 1024

  /// Returns the file's bytes up to a limit, or `nil` if there is no file that can be read.
  static func bytes(at path: String) -> [UInt8]? {
    let descriptor = open(path)
    guard descriptor >= 0 else { return nil }
    defer { _ = close(descriptor) }
    var bytes: [UInt8] = []
    while bytes.count < limit, let chunk = read(descriptor) { bytes += chunk }
    return Array(bytes.prefix(limit))
  }

  /// Returns numbers that almost certainly differ for another text, or `nil` if there is no file that can be read.
  ///
  /// They are a hash (FNV-1a, draft-eastlake-fnv) and the length. Only the beginning of a long file is hashed; the time
  /// of its last change and its identity count, too. So writing a long file again with the same text is a change.
  static func fingerprint(of path: String) -> [UInt64]? {
    let descriptor = open(path)
    guard descriptor >= 0 else { return nil }
    defer { _ = close(descriptor) }
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    var length: UInt64 = 0
    while length < fingerprintLimit, let chunk = read(descriptor) {
      for byte in chunk { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
      length += UInt64(chunk.count)
    }
    if length < fingerprintLimit { return [hash, length] }
    guard let status = status(of: descriptor) else { return nil }
    let change = status.st_mtim
    return [
      hash, UInt64(status.st_size), UInt64(bitPattern: Int64(change.tv_sec)), UInt64(change.tv_nsec),
      UInt64(status.st_dev), UInt64(status.st_ino),
    ]
  }

  static func exists(_ path: String) -> Bool {
    // The path becomes a C string for the call.
    unsafe access(path, F_OK) == 0
  }

  /// Returns a descriptor of a regular file, or a negative number.
  private static func open(_ path: String) -> CInt {
    // If it is a pipe, this does not wait for its other end. The path becomes a C string for the call.
    let descriptor = unsafe csystem_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    if descriptor < 0 || status(of: descriptor).map({ $0.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG) }) ?? false {
      return descriptor
    }
    _ = close(descriptor)
    return -1
  }

  private static func status(of descriptor: CInt) -> stat? {
    var status = stat()
    // fstat(2) writes one whole structure.
    return unsafe fstat(descriptor, &status) == 0 ? status : nil
  }

  /// Returns the next bytes, or `nil` at the end.
  private static func read(_ descriptor: CInt) -> [UInt8]? {
    let chunk = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
      // read(2) writes at most as many bytes as it is told there is room for, and returns how many.
      count = unsafe max(0, CDialtoneSystem.read(descriptor, buffer.baseAddress, buffer.count))
    }
    return chunk.isEmpty ? nil : chunk
  }

  static func text(at path: String) -> String? { bytes(at: path).map { String(decoding: $0, as: UTF8.self) } }
}
#endif
