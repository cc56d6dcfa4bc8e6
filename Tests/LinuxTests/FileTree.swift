// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import TestSupport
import Testing

/// Files of a test, below a folder of its own. They are removed with this object.
final class FileTree: Sendable {
  private let root: TemporaryFolder
  private let folders: [String]
  private let files: [String]

  var path: String { root.path }

  /// Each folder stands before what is in it. A file without a text is a FIFO.
  init(folders: [String], files: [(name: String, text: String?)] = []) throws {
    root = try TemporaryFolder()
    (self.folders, self.files) = (folders, files.map(\.name))
    // The names are only read, during the calls.
    for folder in folders { try #require(unsafe mkdir("\(path)/\(folder)", 0o755) == 0) }
    for (name, text) in files {
      if let text { try write(name, text) } else { try #require(unsafe mkfifo("\(path)/\(name)", 0o644) == 0) }
    }
  }

  deinit {
    for name in files { _ = unsafe unlink("\(path)/\(name)") }
    for folder in folders.reversed() { _ = unsafe rmdir("\(path)/\(folder)") }
  }

  func write(_ name: String, _ text: String) throws {
    // The names and texts are only read, during the calls.
    let descriptor = unsafe creat("\(path)/\(name)", 0o644)
    defer { _ = close(descriptor) }
    try #require(unsafe CDialtoneSystem.write(descriptor, text, text.utf8.count) == text.utf8.count)
  }
}
#endif
