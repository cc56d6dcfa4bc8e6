// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneCommand
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneDiagnosis

/// Asks the system's name servers until one answers: each once a second.
struct NameServerWatch: Sendable {
  private static let interval = Duration.seconds(1)
  /// How long an answer takes at most, as a rule.
  static let usual = Duration.milliseconds(250)

  let name: HostName

  /// Returns `true` once a server answers, `false` if the task is cancelled.
  func waitForAnswer(on thread: MainThread) async -> Bool {
    while !Task.isCancelled {
      let next = ContinuousClock.now.advanced(by: Self.interval)
      for server in Self.servers() {
        if await ask(server, on: thread) { return true }
      }
      await thread.wait(until: next)
    }
    return false
  }

  /// Asks one server, and waits for its answer for a second.
  private func ask(_ server: IPAddress, on thread: MainThread) async -> Bool {
    let id = UInt16.random(in: .min ... .max)
    guard let question = DNSMessage.question(name.ascii, .a, id: id), let number = Self.connect(to: server) else {
      return false
    }
    let socket = OwnedDescriptor(number)
    // Reads as many bytes as it is told, which the message has.
    let sent = unsafe question.withUnsafeBytes { unsafe send(number, $0.baseAddress, $0.count, 0) }
    guard sent == question.count else { return false }
    let end = ContinuousClock.now.advanced(by: Self.interval)
    while await thread.wait(for: [socket.rawValue], until: end) {
      // Without EDNS, an answer has 512 bytes at most (RFC 1035, 4.2.1).
      var buffer = [UInt8](repeating: 0, count: 512)
      // Fills at most as many bytes as it is told.
      let count = unsafe recv(socket.rawValue, &buffer, buffer.count, CInt(MSG_DONTWAIT))
      // Nobody listens there (ICMP), unless it was a damaged packet (select(2)).
      if count < 0, csystem_errno() != EAGAIN { return false }
      if Self.isAnswer(Array(buffer.prefix(max(0, count))), to: name, id: id) { return true }
    }
    return false
  }

  /// Whether a server answers: the name has addresses, has none of that type, or does not exist. A server that fails or
  /// refuses does not answer.
  static func isAnswer(_ bytes: [UInt8], to name: HostName, id: UInt16) -> Bool {
    guard let answer = DNSMessage.answer(bytes, to: name.ascii, .a), answer.id == id, answer.isToQuestion else {
      return false
    }
    return [.success, .nameError, .referral].contains(answer.code)
  }

  private static func connect(to server: IPAddress) -> CInt? {
    let port: UInt16 = 53
    var socket: CInt = -1
    // The calls read the address, and keep nothing.
    if var address = server.ipv4SocketAddress(port: port) {
      socket = unsafe command_connect_datagram(&address, MemoryLayout.size(ofValue: address))
    } else if var address = server.ipv6SocketAddress(port: port) {
      socket = unsafe command_connect_datagram(&address, MemoryLayout.size(ofValue: address))
    }
    return socket < 0 ? nil : socket
  }

  /// Those of resolv.conf(5), read anew. Without the file, the server is this machine.
  private static func servers() -> [IPAddress] {
    NameServers.parse(SystemFile.text(at: "/etc/resolv.conf", limit: 1 << 20) ?? "")
  }
}
