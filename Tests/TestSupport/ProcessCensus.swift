// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CTestSupport

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What this process holds, for tests of leaks. Other tests change it, too, so use it in a process of its own.
///
/// Swift's runtime opens a few descriptors and threads of its own, late on a busy machine: compare with a margin, or
/// judge ``Leftovers``.
package struct ProcessCensus: Sendable, Hashable {
  package var descriptors: Int
  /// A thread that has been joined counts for a moment longer: compare with ``eventually(within:_:fileID:line:_:)``.
  package var threads: Int
  /// In bytes.
  package var residentMemory: Int
  /// The bytes that the process has got from the allocator and not given back; `nil` if that is not counted. Unlike the
  /// resident memory, it does not include what the allocator keeps.
  package var heap: Int?

  package init() throws(DidNotHappen) {
    // The folder itself is open while it is read.
    descriptors = ProcessCensus.names(in: "/proc/self/fd").count - 1
    threads = ProcessCensus.names(in: "/proc/self/task").count
    guard descriptors >= 0, threads > 0 else { throw DidNotHappen("/proc/self was not read") }
    // The second number is the resident pages (proc_pid_statm(5)).
    let numbers = ProcessCensus.line("/proc/self/statm")?.split(separator: " ") ?? []
    guard numbers.count > 1, let pages = Int(numbers[1]) else { throw DidNotHappen("statm was not read") }
    residentMemory = pages * sysconf(Int32(_SC_PAGESIZE))
    let used = ctestsupport_heap_in_use()
    heap = used < 0 ? nil : used
  }

  /// How many sockets are open (proc_pid_fd(5)).
  package static var sockets: Int {
    names(in: "/proc/self/fd").count { descriptor in
      var text = [CChar](repeating: 0, count: 64)
      // Writes at most one byte less than there is room for. The folder itself is closed by now, so its entry is no
      // link.
      let length = unsafe readlink("/proc/self/fd/\(descriptor)", &text, text.count - 1)
      return length > 0 && String(text).hasPrefix("socket:")
    }
  }

  /// The number of this process's threads with this name (proc_pid_comm(5)).
  package static func threads(named name: String) -> Int {
    names(in: "/proc/self/task").count { line("/proc/self/task/\($0)/comm") == "\(name)\n" }
  }

  /// Whether all threads whose names begin so are asleep (proc_pid_stat(5)): none is about to do anything.
  package static func areAsleep(threadsNamed prefix: String) -> Bool {
    names(in: "/proc/self/task").allSatisfy { task in
      let words = line("/proc/self/task/\(task)/stat")?.split(separator: " ") ?? []
      // It has ended meanwhile.
      if words.count < 3 { return true }
      return !words[1].hasPrefix("(\(prefix)") || words[2] == "S"
    }
  }

  /// The first line, including its end; `nil` if there is none. A thread may have ended meanwhile.
  private static func line(_ path: String) -> String? {
    guard let file = unsafe fopen(path, "r") else { return nil }
    defer { _ = unsafe fclose(file) }
    var text = [CChar](repeating: 0, count: 256)
    // Writes at most one byte less than there is room for, and a zero.
    return unsafe fgets(&text, CInt(text.count), file) == nil ? nil : String(text)
  }

  private static func names(in folder: String) -> [String] {
    guard let directory = unsafe opendir(folder) else { return [] }
    defer { _ = unsafe closedir(directory) }
    var names: [String] = []
    // An entry stays valid until the next is read (readdir(3)); its name ends with a zero byte.
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}

extension String {
  /// The bytes up to the first zero.
  fileprivate init(_ text: [CChar]) {
    self.init(decoding: text.lazy.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
#endif
