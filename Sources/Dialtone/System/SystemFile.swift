// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem

/// Files, each read up to a limit. In the place of a configuration file there may be a device that never ends, or a
/// pipe to which nobody writes: where a path leads to a file of the system, only regular files are read.
package enum SystemFile {
  /// Why a file was not read.
  package enum Failure: Error {
    /// A call of the system failed.
    case refused(SystemError)
    /// It is no regular file.
    case irregular
    /// It has more bytes than the limit.
    case tooLong
  }

  /// Returns the bytes of a regular file.
  package static func bytes(at path: String, limit: Int) throws(Failure) -> [UInt8] {
    try bytes(of: open(path), limit: limit)
  }

  /// Returns what an open file of any kind has until its end. Reading a pipe or a terminal may block.
  package static func bytes(of file: borrowing OwnedDescriptor, limit: Int) throws(Failure) -> [UInt8] {
    try bytes(of: file.rawValue, limit: limit)
  }

  /// The same for a descriptor that somebody else owns, such as standard input.
  package static func bytes(of descriptor: CInt, limit: Int) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let chunk = try read(descriptor)
      if chunk.isEmpty { return bytes }
      bytes += chunk
      if bytes.count > limit { throw .tooLong }
    }
  }

  /// Returns a regular file, open for reading.
  package static func open(_ path: String) throws(Failure) -> OwnedDescriptor {
    // If it is a pipe, this does not wait for its other end. The path becomes a C string for the call.
    let descriptor = unsafe csystem_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    if descriptor < 0 { throw .refused(SystemError("open")) }
    let file = OwnedDescriptor(descriptor)
    guard try status(of: file).st_mode & mode_t(S_IFMT) == mode_t(S_IFREG) else { throw .irregular }
    return file
  }

  private static func status(of file: borrowing OwnedDescriptor) throws(Failure) -> stat {
    var status = stat()
    // fstat(2) writes one whole structure.
    if unsafe fstat(file.rawValue, &status) != 0 { throw .refused(SystemError("fstat")) }
    return status
  }

  /// Returns the next bytes; none at the end.
  package static func read(_ descriptor: CInt, atMost limit: Int = 16_384) throws(Failure) -> [UInt8] {
    while true {
      var result = 0
      let chunk = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
        // read(2) writes at most as many bytes as it is told there is room for, and returns how many.
        result = unsafe CDialtoneSystem.read(descriptor, buffer.baseAddress, buffer.count)
        count = max(0, result)
      }
      if result >= 0 { return chunk }
      let error = SystemError("read")
      if error.errno != EINTR { throw .refused(error) }
    }
  }
}

#if os(Linux)
/// Files of the kernel and of the resolver. Where one cannot be read, it is treated as missing from there on.
extension SystemFile {
  /// More than any file of sysfs has, and more than libc's resolver uses.
  package static let limit = 64 * 1024
  /// How much of a file is read to see whether it changed.
  private static let fingerprintLimit = 256 * 1024

  /// Returns the beginning of a file, up to a limit, or `nil` if there is no file that can be read.
  package static func text(at path: String, limit: Int = Self.limit) -> String? {
    do throws(Failure) {
      let file = try open(path)
      var bytes: [UInt8] = []
      while bytes.count < limit, let chunk = next(file) { bytes += chunk }
      return String(decoding: bytes.prefix(limit), as: UTF8.self)
    } catch {
      return nil
    }
  }

  /// Returns numbers that almost certainly differ for another text, or `nil` if there is no file that can be read.
  ///
  /// They are a hash (FNV-1a, draft-eastlake-fnv) and the length. Only the beginning of a long file is hashed; the time
  /// of its last change and its identity count, too. So writing a long file again with the same text is a change.
  static func fingerprint(of path: String) -> [UInt64]? {
    do throws(Failure) {
      let file = try open(path)
      var hash: UInt64 = 0xCBF2_9CE4_8422_2325
      var length: UInt64 = 0
      while length < fingerprintLimit, let chunk = next(file) {
        for byte in chunk { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        length += UInt64(chunk.count)
      }
      if length < fingerprintLimit { return [hash, length] }
      let status = try status(of: file)
      let change = status.st_mtim
      return [
        hash, UInt64(status.st_size), UInt64(bitPattern: Int64(change.tv_sec)), UInt64(change.tv_nsec),
        UInt64(status.st_dev), UInt64(status.st_ino),
      ]
    } catch {
      return nil
    }
  }

  package static func exists(_ path: String) -> Bool {
    // The path becomes a C string for the call.
    unsafe access(path, F_OK) == 0
  }

  /// Returns the next bytes, or `nil` at the end or after an error.
  private static func next(_ file: borrowing OwnedDescriptor) -> [UInt8]? {
    do throws(Failure) {
      let chunk = try read(file.rawValue)
      return chunk.isEmpty ? nil : chunk
    } catch {
      return nil
    }
  }
}
#endif

/// A failed system call, with its errno(3).
package struct SystemError: Error, CustomStringConvertible {
  package let call: String
  package let errno: CInt

  /// Without an errno it is what the call, named or in words, has just left.
  package init(_ call: String, errno: CInt? = nil) {
    self.errno = errno ?? csystem_errno()
    self.call = call
  }

  package var description: String { "\(call): \(Self.text(of: errno))" }

  /// The system's words for an error number, such as "Connection refused".
  package static func text(of errno: CInt) -> String {
    // strerror(3) returns a string that ends with NUL and stays valid until the thread's next call; it is copied at
    // once.
    unsafe String(cString: strerror(errno))
  }
}
