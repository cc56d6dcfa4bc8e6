// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import Netlink
import TestSupport
import Testing

/// Stands where the kernel does: a netlink socket of Dialtone receives what a test says.
///
/// One end of a pair of local sockets takes the place of the netlink socket's file, and has its mark. The other end's
/// name has 0, the kernel's port, where a netlink address has the port (unix(7), abstract; netlink(7), sockaddr_nl).
final class ScriptedSocket {
  private let own: CInt
  private let place: CInt

  init(inPlaceOf descriptor: CInt, port: UInt8 = 0) throws {
    var pair: [CInt] = [-1, -1]
    let type = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    // The call writes both numbers.
    try #require(unsafe socketpair(AF_UNIX, type, 0, &pair) == 0)
    (own, place) = (pair[1], descriptor)
    var family = sa_family_t(AF_UNIX)
    let name =
      unsafe withUnsafeBytes(of: &family) { unsafe Array($0) } + [0, 0x44, port, port, port, port]
      + (0..<8).map { _ in UInt8.random(in: 0 ... .max) }
    // The pointer and its count come from one array, and are used only during the call.
    let bound = unsafe name.withUnsafeBytes {
      unsafe bind(pair[1], $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
    }
    FileIdentity(descriptor)?.mark(pair[0])
    try #require(bound == 0 && dup2(pair[0], descriptor) == descriptor)
    _ = close(pair[0])
  }

  deinit { _ = (close(own), close(place)) }

  /// Sends one datagram.
  func say(_ bytes: [UInt8]) {
    // The array is only read, during the call.
    let sent = unsafe send(own, bytes, bytes.count, 0)
    #expect(sent == bytes.count)
  }

  /// The next datagram that was sent to it; empty if there is none.
  func heard() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 4096)
    // The call writes at most as many bytes as there are.
    let count = unsafe recv(own, &bytes, bytes.count, 0)
    return Array(bytes.prefix(max(count, 0)))
  }
}

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
