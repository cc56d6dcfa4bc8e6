// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneCommand
internal import CDialtoneSystem
internal import Dialtone
internal import Netlink

/// The service manager that has started the command, if it wants to be told: sd_notify(3), without its library.
struct ServiceManager: Sendable {
  /// The path of a socket, or its name after an `@` (unix(7), abstract sockets).
  private let socket: String

  /// `nil` if nobody asks to be told.
  init?() {
    guard let socket = Environment.value(of: "NOTIFY_SOCKET"), !socket.isEmpty else { return nil }
    self.socket = socket
  }

  /// Sends a message; says on standard error if that fails.
  func send(_ message: String) {
    let bytes = Array(message.utf8)
    // Both are read during the call, as many bytes as it is told.
    let status = unsafe bytes.withUnsafeBytes { unsafe command_send_local(socket, $0.baseAddress, $0.count) }
    if status == 0 { return }
    StandardStream.error.writeIgnoringErrors("dialtone: --notify: \(SystemError("NOTIFY_SOCKET"))\n")
  }
}
