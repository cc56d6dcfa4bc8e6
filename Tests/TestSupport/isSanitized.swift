// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Whether a sanitizer keeps its records and freed memory in this process. Then the process's size says nothing about
/// our memory, and everything takes many times as long.
package var isSanitized: Bool {
  // This looks the names up among the loaded symbols, and calls nothing.
  unsafe dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
}
