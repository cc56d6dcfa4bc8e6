// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Runs `body` while the process may open no descriptor (setrlimit(2)). For exit tests.
package func withoutDescriptors<Result>(_ body: () throws -> Result) throws -> Result {
  let old = try setLimit(descriptors, 0)
  defer { restoreLimit(descriptors, old) }
  return try body()
}

/// Runs `body` while the process may open no descriptor (setrlimit(2)). For exit tests.
package func withoutDescriptors<Result>(_ body: () async throws -> Result) async throws -> Result {
  let old = try setLimit(descriptors, 0)
  defer { restoreLimit(descriptors, old) }
  return try await body()
}

/// Runs `body` while the process may open this many more descriptors, which have the lowest free numbers. For exit
/// tests.
package func withDescriptors<Result>(left count: Int, _ body: () async throws -> Result) async throws -> Result {
  // One more, so that none is a limit, too.
  let free = (0...count).map { _ in dup(0) }
  let limit = free.last ?? -1
  for descriptor in free { close(descriptor) }
  guard limit >= 0 else { throw DidNotHappen("dup failed") }
  let old = try setLimit(descriptors, rlim_t(limit))
  defer { restoreLimit(descriptors, old) }
  return try await body()
}

/// Makes the runtime open the descriptors with which it waits, and returns once they exist. After this, a count of
/// descriptors does not grow by them.
package func openRuntimeDescriptors() async throws {
  // Dispatch makes its two timers, one after the other, once a wait is scheduled for later. This wait is, for longer
  // than a test lasts.
  Task.detached { try await Task.sleep(for: .seconds(3_600)) }
  try await eventually("the runtime has its timers") { timerCount() > 1 }
}

/// The number of timers of timerfd_create(2) in the process.
private func timerCount() -> Int {
  (0..<1_024)
    .count { descriptor in
      var text = [CChar](repeating: 0, count: 64)
      // At most as many bytes are written as there are.
      let length = unsafe readlink("/proc/self/fd/\(descriptor)", &text, text.count)
      return length > 0 && text.prefix(length).elementsEqual("anon_inode:[timerfd]".utf8.map { CChar($0) })
    }
}

/// Runs `body` while the user may start no thread (setrlimit(2)). For exit tests; not as root, for whom the limit does
/// not hold.
package func withoutThreads<Result>(_ body: () throws -> Result) throws -> Result {
  let old = try setLimit(threads, 0)
  defer { restoreLimit(threads, old) }
  return try body()
}

/// How many descriptors the process may have open, if it asks for them.
package var descriptorLimit: Int {
  var limit = rlimit()
  // The call fills in what it is given.
  return unsafe getrlimit(descriptors, &limit) == 0 ? Int(clamping: limit.rlim_max) : 0
}

/// Has the process open as many.
package func allowDescriptors() throws { _ = try setLimit(descriptors, rlim_t(descriptorLimit)) }

#if canImport(Musl)
private let descriptors = RLIMIT_NOFILE
private let threads = RLIMIT_NPROC
private typealias Resource = CInt
#else
private let descriptors = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
private let threads = __rlimit_resource_t(UInt32(__RLIMIT_NPROC.rawValue))
private typealias Resource = __rlimit_resource_t
#endif

/// Returns the former limit.
private func setLimit(_ resource: Resource, _ limit: rlim_t) throws -> rlimit {
  var old = rlimit()
  // Both calls copy what they are given.
  guard unsafe getrlimit(resource, &old) == 0 else { throw DidNotHappen("getrlimit failed") }
  var new = rlimit(rlim_cur: limit, rlim_max: old.rlim_max)
  guard unsafe setrlimit(resource, &new) == 0 else { throw DidNotHappen("setrlimit failed") }
  return old
}

private func restoreLimit(_ resource: Resource, _ old: rlimit) {
  var old = old
  // Up to what it was before, and so allowed; the call copies what it is given.
  _ = unsafe setrlimit(resource, &old)
}
#endif
