// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Testing

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// An empty folder of its own below /tmp. It is removed at the end of this object, if it is empty then.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() throws {
    var template = Array("/tmp/dialtone-XXXXXX".utf8CString)
    // mkdtemp(3) writes within the template.
    path = try #require(unsafe mkdtemp(&template).map { unsafe String(cString: $0) })
  }

  // The path is only read, during the call.
  deinit { _ = unsafe rmdir(path) }
}
#endif
