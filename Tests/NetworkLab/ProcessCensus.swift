// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// What this process holds, for tests of leaks. Other tests change it too: ask in a process, or a suite, of its own.
package struct ProcessCensus: Sendable, Hashable {
  package var descriptors: Int
  /// A thread that has been joined counts for a moment longer: compare with ``eventually(within:_:fileID:line:_:)``.
  package var threads: Int
  /// In bytes.
  package var residentMemory: Int
  /// What the process has asked the allocator for and not given back, in bytes; nil where that is not counted. Unlike the
  /// resident memory it does not grow by what the allocator keeps.
  package var heap: Int?

  /// Of this process, or another.
  package init(of pid: Int32? = nil) throws(LabError) {
    let folder = "/proc/\(pid.map { "\($0)" } ?? "self")"
    // The paths are only read, during the calls.
    descriptors = Int(try check(unsafe lab_count_entries("\(folder)/fd"), "counting descriptors"))
    threads = Int(try check(unsafe lab_count_entries("\(folder)/task"), "counting threads"))
    var text = [CChar](repeating: 0, count: 256)
    // The function writes at most that many bytes; the last stays 0.
    let count = unsafe text.withUnsafeMutableBufferPointer {
      unsafe lab_read_file("\(folder)/statm", $0.baseAddress, $0.count - 1)
    }
    try check(count, "reading statm")
    // The second number is the resident pages (proc_pid_statm(5)).
    let pages = String(text).split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    // Of this process alone.
    heap = pid == nil ? Int(exactly: lab_heap_in_use()).flatMap { $0 < 0 ? nil : $0 } : nil
    residentMemory = pages * sysconf(Int32(_SC_PAGESIZE))
  }

  /// Of this process, once the runtime has what it opens for its first timers and keeps: four descriptors and some
  /// threads, not all at once. Begin a test of leaks with it.
  package static func afterWarmUp() async throws -> ProcessCensus {
    var last = try ProcessCensus()
    var unchanged = 0
    while unchanged < 5 {
      try await Task.sleep(for: .milliseconds(2))
      let census = try ProcessCensus()
      unchanged = census.descriptors == last.descriptors && census.threads == last.threads ? unchanged + 1 : 0
      last = census
    }
    return last
  }
}
#endif
