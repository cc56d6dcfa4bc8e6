// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import TestSupport

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Runs `body` while the process may open no descriptor (setrlimit(2)). For exit tests.
func withoutDescriptors<Result>(_ body: () throws -> Result) throws -> Result {
  var old = rlimit()
  #if canImport(Musl)
  let resource = RLIMIT_NOFILE
  #else
  let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
  #endif
  // Both calls copy what they are given.
  guard unsafe getrlimit(resource, &old) == 0 else { throw DidNotHappen("getrlimit failed") }
  var none = rlimit(rlim_cur: 0, rlim_max: old.rlim_max)
  guard unsafe setrlimit(resource, &none) == 0 else { throw DidNotHappen("setrlimit failed") }
  defer { _ = unsafe setrlimit(resource, &old) }
  return try body()
}
#endif
