// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
package import Dialtone

/// A file that is always whole: it is written beside, and takes the place of the former one (rename(2)), with its owner
/// and mode. A link stays, and leads to the new file. What has to stay is written to: a terminal or a pipe, a
/// descriptor of this process, such as /dev/stdout, and a file that something is mounted on.
package enum ReplacedFile {
  /// - Parameters:
  ///   - text: All that will be in it.
  ///   - path: The file.
  ///   - newMode: Its mode if it was not there; node_exporter has to read it.
  /// - Throws: `SystemError` with the path.
  package static func write(_ text: String, to path: String, newMode: UInt32 = 0o644) throws(SystemError) {
    var former = stat()
    let bytes = Array(text.utf8)
    do throws(SystemError) {
      // The path is only read, and the structure is written during the call.
      let isThere = unsafe stat(path, &former) == 0
      if !isThere, csystem_errno() != ENOENT { throw SystemError("stat") }
      let place = destination(path)
      if !isThere { return try replace(place, by: bytes, mode: newMode, owner: nil) }
      if former.st_mode & UInt32(S_IFMT) == UInt32(S_IFREG) {
        if let own = ownDescriptor(place) { return try write(bytes, to: own) }
        do throws(SystemError) {
          return try replace(place, by: bytes, mode: former.st_mode & 0o7777, owner: former)
        } catch {
          if error.errno != EBUSY { throw error }
        }
      }
      // The path is only read.
      let descriptor = unsafe csystem_open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY)
      if descriptor < 0 { throw SystemError("open") }
      defer { _ = close(descriptor) }
      try write(bytes, to: descriptor)
    } catch {
      throw SystemError(path, errno: error.errno)
    }
  }

  /// Where a path leads: itself, or what it is a link to, be that there or not.
  private static func destination(_ path: String) -> String {
    var place = path
    // stat(2) has refused loops.
    while true {
      if ownDescriptor(place) != nil { return place }
      var target = [CChar](repeating: 0, count: Int(PATH_MAX))
      // readlink(2) writes at most as many bytes as it is told, and no zero behind them.
      let count = unsafe readlink(place, &target, target.count)
      if count < 0 { return place }
      let link = String(decoding: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      place = link.hasPrefix("/") ? link : folder(of: place) + link
    }
  }

  /// The descriptor of this process that a path in proc(5) stands for.
  private static func ownDescriptor(_ path: String) -> CInt? {
    let folder = folder(of: path)
    guard let own = resolved("/proc/self/fd"), resolved(String(folder)) == own else { return nil }
    return CInt(path[folder.endIndex...])
  }

  /// The path up to its last slash.
  private static func folder(of path: String) -> Substring { path.lastIndex(of: "/").map { path[...$0] } ?? "" }

  /// Where the path leads, without links; `nil` if nothing is there.
  private static func resolved(_ path: String) -> String? {
    // realpath(3) returns memory that is the caller's.
    guard let place = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(place) }
    return unsafe String(cString: place)
  }

  private static func replace(
    _ path: String, by bytes: [UInt8], mode: UInt32, owner: stat?
  ) throws(SystemError) {
    // mkstemp(3) writes over the last six letters, before the zero at the end. The name does not end with .prom, so
    // node_exporter does not read it; nor is it made of the file's, which may be as long as a name can be.
    var name = Array("\(folder(of: path)).dialtone.XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&name)
    if descriptor < 0 { throw SystemError("mkstemp") }
    do throws(SystemError) {
      let file = OwnedDescriptor(descriptor)
      if csystem_close_on_exec(descriptor) != 0 { throw SystemError("fcntl") }
      try write(bytes, to: file.rawValue)
      if let owner, fchown(file.rawValue, owner.st_uid, owner.st_gid) != 0 {
        // Of another's file it becomes one's own.
        let error = SystemError("fchown")
        if error.errno != EPERM { throw error }
      }
      if fchmod(file.rawValue, mode) != 0 { throw SystemError("fchmod") }
      // Both names end with a zero, and are only read.
      if unsafe rename(&name, path) != 0 { throw SystemError("rename") }
    } catch {
      _ = unsafe unlink(&name)
      throw error
    }
  }

  private static func write(_ bytes: [UInt8], to file: CInt) throws(SystemError) {
    var position = 0
    while position < bytes.count {
      let rest = bytes[position...]
      // write(2) reads as many bytes as it is told, which the slice has.
      let count = unsafe rest.withUnsafeBytes { unsafe CDialtoneSystem.write(file, $0.baseAddress, $0.count) }
      if count > 0 {
        position += count
        continue
      }
      let error = SystemError("write")
      if error.errno != EINTR { throw error }
    }
  }
}
