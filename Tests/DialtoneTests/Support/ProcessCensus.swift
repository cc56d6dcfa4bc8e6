// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What this process holds. Other tests change it too: for exit tests, which have a process of their own.
enum ProcessCensus {
  /// How many descriptors are open.
  static var descriptors: Int { names(in: "/proc/self/fd").count - 1 }  // the folder is open itself meanwhile

  /// How many of them are sockets (proc_pid_fd(5)).
  static var sockets: Int {
    names(in: "/proc/self/fd").count { descriptor in
      var text = [CChar](repeating: 0, count: 64)
      // Writes at most one byte less than there is room for; the folder itself is closed by now, and so is no link.
      let length = unsafe readlink("/proc/self/fd/\(descriptor)", &text, text.count - 1)
      return length > 0 && String(decoding: text.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self).hasPrefix("socket:")
    }
  }

  /// Whether a sanitizer keeps books in this process's memory: then its size says nothing of ours.
  static var isSanitized: Bool {
    // Looks the names up in what is loaded; nothing is called.
    unsafe dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
  }

  /// Bytes in memory (proc_pid_statm(5)).
  static var residentMemory: Int {
    guard let file = unsafe fopen("/proc/self/statm", "r") else { return 0 }
    defer { _ = unsafe fclose(file) }
    var text = [CChar](repeating: 0, count: 256)
    // Reads at most one byte less than there is room for.
    _ = unsafe fgets(&text, CInt(text.count), file)
    let words = String(decoding: text.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: " ")
    return words.count < 2 ? 0 : (Int(words[1]) ?? 0) * sysconf(CInt(_SC_PAGESIZE))
  }

  /// How many of this process's threads have this name (proc_pid_comm(5)).
  static func threads(named name: String) -> Int {
    names(in: "/proc/self/task").count { thread in
      guard let file = unsafe fopen("/proc/self/task/\(thread)/comm", "r") else { return false }
      defer { _ = unsafe fclose(file) }
      var text = [CChar](repeating: 0, count: 32)
      _ = unsafe fgets(&text, CInt(text.count), file)
      return String(decoding: text.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self).hasPrefix("\(name)\n")
    }
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
#endif
