// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Whether a sanitizer keeps books, and what was freed, in this process's memory: then its size says nothing of ours,
/// and everything takes many times as long.
package var isSanitized: Bool {
  // Looks the names up in what is loaded; nothing is called.
  unsafe dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
}
