// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
package import Dialtone
internal import Netlink

/// A file that is always whole: it is written beside, and takes the place of the former one (rename(2)).
package enum ReplacedFile {
  package static func write(_ text: String, to path: String) throws(SystemError) {
    // mkstemp(3) writes over the last six letters, before the zero at the end. The name does not end with .prom, so
    // node_exporter does not read it.
    var name = Array("\(path).XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&name)
    if descriptor < 0 { throw SystemError("mkstemp") }
    do throws(SystemError) {
      let file = OwnedDescriptor(descriptor)
      if csystem_close_on_exec(descriptor) != 0 { throw SystemError("fcntl") }
      try write(Array(text.utf8), to: file)
      if fchmod(file.rawValue, 0o644) != 0 { throw SystemError("fchmod") }
      // Both names end with a zero, and are only read.
      if unsafe rename(&name, path) != 0 { throw SystemError("rename") }
    } catch {
      _ = unsafe unlink(&name)
      throw error
    }
  }

  private static func write(_ bytes: [UInt8], to file: borrowing OwnedDescriptor) throws(SystemError) {
    var position = 0
    while position < bytes.count {
      let rest = bytes[position...]
      // write(2) reads as many bytes as it is told, which the slice has.
      let count = unsafe rest.withUnsafeBytes { unsafe CDialtoneSystem.write(file.rawValue, $0.baseAddress, $0.count) }
      if count > 0 {
        position += count
        continue
      }
      let error = SystemError("write")
      if error.errno != EINTR { throw error }
    }
  }
}
