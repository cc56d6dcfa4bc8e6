// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone

/// Standard output or standard error, each text written at once, also into pipes and files.
struct StandardStream: Sendable {
  static let output = StandardStream(descriptor: STDOUT_FILENO)
  static let error = StandardStream(descriptor: STDERR_FILENO)

  /// The name of the call in errors about the output.
  static let outputName = "standard output"

  let descriptor: CInt

  /// Keeps sockets of our own out of the places of the standard streams, if the caller has closed one.
  ///
  /// - Throws: `SystemError` if standard output is closed.
  static func prepare() throws(SystemError) {
    var information = stat()
    for descriptor in STDIN_FILENO...STDERR_FILENO where unsafe fstat(descriptor, &information) != 0 {
      if descriptor == STDOUT_FILENO { throw SystemError(Self.outputName) }
      // Takes the lowest free number, which is this one. The path is only read during the call.
      _ = unsafe csystem_open("/dev/null", O_RDWR)
    }
  }

  var isTerminal: Bool { isatty(descriptor) == 1 }

  /// How many columns the terminal has now; 80 if it does not tell.
  var columns: Int {
    let columns = Int(csystem_terminal_columns(descriptor))
    return columns > 0 ? columns : 80
  }

  /// Writes all of `text`.
  ///
  /// - Throws: `SystemError`; its errno is EPIPE if nobody reads any more and SIGPIPE is ignored.
  func write(_ text: String) throws(SystemError) {
    let bytes = Array(text.utf8)
    var position = 0
    while position < bytes.count {
      let rest = bytes[position...]
      // write(2) reads as many bytes as it is told, which the slice has.
      let count = unsafe rest.withUnsafeBytes { unsafe CDialtoneSystem.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        position += count
        continue
      }
      let error = SystemError(Self.outputName)
      switch error.errno {
      case EINTR: continue
      case EAGAIN: try waitUntilWritable()
      default: throw error
      }
    }
  }

  /// For text whose failure nobody can be told of.
  func writeIgnoringErrors(_ text: String) {
    do {
      try write(text)
    } catch {
      // Standard error is gone; the exit status remains.
    }
  }

  /// Waits if somebody else has made the stream non-blocking.
  private func waitUntilWritable() throws(SystemError) {
    let poll = epoll_create1(CInt(EPOLL_CLOEXEC))
    if poll < 0 { throw SystemError("epoll_create1") }
    defer { _ = close(poll) }
    // The kernel copies the one event and fills the other.
    var event = unsafe epoll_event()
    unsafe event.events = EPOLLOUT.rawValue
    if unsafe epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) != 0 { throw SystemError(Self.outputName) }
    _ = unsafe epoll_wait(poll, &event, 1, -1)
  }
}
