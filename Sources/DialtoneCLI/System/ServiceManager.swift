// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneCommand
internal import CDialtoneSystem
internal import Dialtone

/// The service manager that has started the command, if it wants to be told: sd_notify(3), without its library.
///
/// It is never waited for. What it does not take at once is sent again later, the newest status alone, and readiness
/// with it.
struct ServiceManager {
  private static let firstPause = Duration.milliseconds(50)
  private static let longestPause = Duration.seconds(2)

  /// The path of a socket, or its name after an `@` (unix(7), abstract sockets).
  private let socket: String
  private var pending: (message: String, at: Duration)?
  private var pause = firstPause

  /// `nil` if nobody asks to be told.
  init?() {
    guard let socket = Environment.value(of: "NOTIFY_SOCKET") else { return nil }
    self.socket = socket
  }

  /// When what is pending is to be sent again; `nil` if nothing is.
  var next: Duration? { pending?.at }

  /// Sends a message, with the readiness of one that was not taken.
  mutating func send(_ message: String, at now: Duration) {
    let ready = ServiceNotice.ready + "\n"
    let isReady = pending.map { $0.message.hasPrefix(ready) && !message.hasPrefix(ready) } ?? false
    pending = (isReady ? ready + message : message, now)
    retry(at: now)
  }

  /// Sends what is pending, if it is time; says on standard error if that fails.
  mutating func retry(at now: Duration) {
    guard let (message, time) = pending, time <= now else { return }
    pending = nil
    let bytes = Array(message.utf8)
    // Both are read during the call, as many bytes as it is told.
    let status = unsafe bytes.withUnsafeBytes { unsafe command_send_local(socket, $0.baseAddress, $0.count) }
    if status == 0 {
      pause = Self.firstPause
      return
    }
    let error = SystemError("NOTIFY_SOCKET")
    if [EAGAIN, ENOBUFS].contains(error.errno) {
      pending = (message, now + pause)
      pause = min(pause * 2, Self.longestPause)
    } else {
      Output.remark("dialtone: --notify: \(error)")
    }
  }
}

/// What a service manager is told (sd_notify(3)): readiness once each target is known, and a status line in words.
/// Pure.
struct ServiceNotice {
  static let ready = "READY=1"

  private var words: [String?]
  private var holds: [TruthValue]
  private var isReady = false
  private let names: [String]

  init(names: [String]) {
    self.names = names
    words = Array(repeating: nil, count: names.count)
    holds = Array(repeating: .unknown, count: names.count)
  }

  /// Takes the state of a target. Returns the message to send.
  mutating func message(of target: Int, _ words: String, holds: TruthValue) -> String {
    self.words[target] = words
    self.holds[target] = holds
    var lines: [String] = []
    if !isReady, self.words.allSatisfy({ $0 != nil }) {
      isReady = true
      lines.append(Self.ready)
    }
    lines.append("STATUS=\(status)")
    return lines.joined(separator: "\n")
  }

  /// Of one target all that is known; of several how many are fine, and the first that is not.
  private var status: String {
    if names.count == 1 { return line(0) }
    let fine = holds.count { $0 == .holds }
    let count = "\(fine) of \(names.count) fine"
    guard let first = holds.firstIndex(where: { $0 != .holds }) else { return count }
    return "\(count); \(line(first))"
  }

  /// One line, since the message has one entry a line.
  private func line(_ target: Int) -> String {
    TerminalText.visible("\(names[target]): \(words[target] ?? "not known yet")")
  }
}
