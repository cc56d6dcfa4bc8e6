// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneCommand
internal import CDialtoneSystem
internal import Dialtone

/// Standard output or standard error, each text written at once, also into pipes and files.
struct StandardStream: Sendable {
  static let output = StandardStream(descriptor: STDOUT_FILENO)
  static let error = StandardStream(descriptor: STDERR_FILENO)

  /// The name of the call in errors about the output.
  static let outputName = "standard output"

  let descriptor: CInt

  /// Keeps sockets of our own out of the places of the standard streams, if the caller has closed one. Who reads or
  /// writes it fails as before, with EBADF (read(2), write(2)), and who does not is not concerned.
  static func prepare() {
    var information = stat()
    for descriptor in STDIN_FILENO...STDERR_FILENO where unsafe fstat(descriptor, &information) != 0 {
      let mode = descriptor == STDIN_FILENO ? O_WRONLY : descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR
      // Takes the lowest free number, which is this one. The path is only read during the call.
      _ = unsafe csystem_open("/dev/null", mode)
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
      case EAGAIN: waitUntilWritable()
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

  /// Writes up to 4,096 bytes if that blocks nobody, and nothing otherwise.
  func offer(_ text: String) {
    if command_can_write(descriptor) == 0 { return }
    // A pipe that can be written to takes as much at once (pipe(7), PIPE_BUF).
    writeIgnoringErrors(String(decoding: text.utf8.prefix(4096), as: UTF8.self))
  }

  /// Waits if somebody else has made the stream non-blocking.
  private func waitUntilWritable() {
    var event = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    // The kernel fills the structure.
    _ = unsafe poll(&event, 1, -1)
  }
}

/// Lines on standard output, and notes on standard error.
enum Output {
  /// Writes a line, at once.
  ///
  /// If nobody reads any more, the process ends as `yes | head` does: by SIGPIPE, without a word.
  static func line(_ text: String) throws(SystemError) {
    do {
      try StandardStream.output.write(text + "\n")
    } catch {
      if error.errno == EPIPE { Signals.end(by: SIGPIPE) }
      throw error
    }
  }

  /// Writes a line to standard error, in as many as the terminal needs.
  static func note(_ text: String) { StandardStream.error.writeIgnoringErrors(Screen.error.paragraphs(text) + "\n") }

  /// The same while something is under way that must not wait for a reader of standard error: if it takes nothing, the
  /// line is lost.
  static func remark(_ text: String) { StandardStream.error.offer(Screen.error.paragraphs(text) + "\n") }
}

/// A word of a command line that a person is told to type.
enum ShellWord {
  /// Quoted if a shell would read it otherwise (POSIX, Shell Command Language, 2.2).
  static func quoted(_ word: String) -> String {
    let isPlain = word.unicodeScalars.allSatisfy {
      $0.properties.isAlphabetic || ("0"..."9").contains($0) || "%+,-./:=@_".unicodeScalars.contains($0)
    }
    return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: #"'\''"#) + "'"
  }
}

/// What the shell tells of itself.
enum Environment {
  static func value(of name: String) -> String? { EnvironmentVariable[name] }

  /// POSIX' COLUMNS, if it is a number above zero.
  static var columns: Int? { value(of: "COLUMNS").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } }

  /// Whether the terminal understands no escape sequences.
  static var isDumb: Bool { value(of: "TERM") == "dumb" }

  /// The looks of what is written to standard output.
  static func style(isTerminal: Bool) -> Style {
    Style(isColoured: Style.isColoured(isTerminal: isTerminal, noColor: value(of: "NO_COLOR"), term: value(of: "TERM")))
  }
}
