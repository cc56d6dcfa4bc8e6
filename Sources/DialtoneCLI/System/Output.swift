// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone

/// Lines on standard output.
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
}
