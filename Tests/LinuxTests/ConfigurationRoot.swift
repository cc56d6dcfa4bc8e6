// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import TestSupport
import Testing

/// A folder with an `etc` in it, which is removed at the end of this object.
final class ConfigurationRoot: Sendable {
  private let folder: TemporaryFolder

  var path: String { folder.path }

  init() throws {
    folder = try TemporaryFolder()
    for folder in ["etc", "run"] { try #require(unsafe mkdir("\(path)/\(folder)", 0o755) == 0) }
  }

  deinit {
    for name in [
      "etc/resolv.conf", "etc/new", "etc/hosts", "etc/nsswitch.conf", "run/stub", "run/other", "run/new",
      "run/systemd/resolve/stub",
    ] {
      _ = unsafe unlink("\(path)/\(name)")
    }
    for folder in ["etc", "run/systemd/resolve", "run/systemd", "run"] { _ = unsafe rmdir("\(path)/\(folder)") }
  }

  // The names and texts below are only read, during the calls.

  func write(_ name: String, _ text: String) throws {
    let descriptor = unsafe creat("\(path)/\(name)", 0o644)
    try #require(descriptor >= 0)
    defer { _ = close(descriptor) }
    try #require(unsafe CDialtoneSystem.write(descriptor, text, text.utf8.count) == text.utf8.count)
  }

  /// When the file was written, in seconds and nanoseconds.
  func modificationTime(of name: String) throws -> [Int] {
    var status = stat()
    try #require(unsafe stat("\(path)/\(name)", &status) == 0)
    return [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
  }

  func move(_ name: String, to new: String) throws {
    try #require(unsafe rename("\(path)/\(name)", "\(path)/\(new)") == 0)
  }

  func link(_ name: String, to target: String) throws {
    try #require(unsafe symlink(target, "\(path)/\(name)") == 0)
  }

  func makeFolder(_ name: String) throws { try #require(unsafe mkdir("\(path)/\(name)", 0o755) == 0) }

  func deleteFolder(_ name: String) throws { try #require(unsafe rmdir("\(path)/\(name)") == 0) }

  func delete(_ name: String) throws { try #require(unsafe unlink("\(path)/\(name)") == 0) }
}
#endif
