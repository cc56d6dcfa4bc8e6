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
  let old = try setDescriptorLimit(0)
  defer { restoreDescriptorLimit(old) }
  return try body()
}

/// Runs `body` while the process may open no descriptor (setrlimit(2)). For exit tests.
package func withoutDescriptors<Result>(_ body: () async throws -> Result) async throws -> Result {
  let old = try setDescriptorLimit(0)
  defer { restoreDescriptorLimit(old) }
  return try await body()
}

/// Runs `body` while the process may open so many more descriptors, which have the lowest free numbers. For exit tests.
package func withDescriptors<Result>(left count: Int, _ body: () async throws -> Result) async throws -> Result {
  // One more, so that there is a limit for none, too.
  let free = (0...count).map { _ in dup(0) }
  let limit = free.last ?? -1
  for descriptor in free { close(descriptor) }
  guard limit >= 0 else { throw DidNotHappen("dup failed") }
  let old = try setDescriptorLimit(rlim_t(limit))
  defer { restoreDescriptorLimit(old) }
  return try await body()
}

#if canImport(Musl)
private let descriptors = RLIMIT_NOFILE
#else
private let descriptors = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
#endif

/// Answers the limit that was.
private func setDescriptorLimit(_ limit: rlim_t) throws -> rlimit {
  var old = rlimit()
  // Both calls copy what they are given.
  guard unsafe getrlimit(descriptors, &old) == 0 else { throw DidNotHappen("getrlimit failed") }
  var new = rlimit(rlim_cur: limit, rlim_max: old.rlim_max)
  guard unsafe setrlimit(descriptors, &new) == 0 else { throw DidNotHappen("setrlimit failed") }
  return old
}

private func restoreDescriptorLimit(_ old: rlimit) {
  var old = old
  // Up to what it was before, and so allowed; the call copies what it is given.
  _ = unsafe setrlimit(descriptors, &old)
}
#endif
