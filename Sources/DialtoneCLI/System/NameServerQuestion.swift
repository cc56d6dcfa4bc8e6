// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneCommand
internal import CDialtoneSystem
internal import Dialtone

/// A question to a name server, for the addresses of a name (RFC 1035, 4.1). Pure.
struct NameServerQuestion: Sendable {
  /// The message to send over UDP.
  let message: [UInt8]
  /// The bytes of the header (RFC 1035, 4.1.1).
  private static let headerLength = 12

  init(name: HostName, id: UInt16) {
    // Recursion is desired, and there is one question.
    var message: [UInt8] = [UInt8(id >> 8), UInt8(id & 0xFF), 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    for label in name.ascii.split(separator: ".") { message += [UInt8(label.utf8.count)] + label.utf8 }
    // The root; type A, class IN.
    message += [0, 0, 1, 0, 1]
    self.message = message
  }

  /// Whether a server answers: the name has addresses, has none of that type, or does not exist. A server that fails or
  /// refuses does not answer.
  func isAnswered(by answer: some Collection<UInt8>) -> Bool {
    let answer = Array(answer)
    let noError: UInt8 = 0
    let noSuchName: UInt8 = 3
    return answer.count >= message.count && answer.prefix(2) == message.prefix(2) && answer[2] & 0x80 != 0
      && [noError, noSuchName].contains(answer[3] & 0x0F)
      // Servers return the question; some change its capitals.
      && answer[Self.headerLength..<message.count].elementsEqual(message[Self.headerLength...]) {
        ASCII.folded($0) == ASCII.folded($1)
      }
  }
}

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
        let question = NameServerQuestion(name: name, id: .random(in: .min ... .max))
        if await Self.ask(server, question, on: thread) { return true }
      }
      await thread.wait(until: next)
    }
    return false
  }

  /// Asks one server, and waits for its answer for a second.
  private static func ask(_ server: IPAddress, _ question: NameServerQuestion, on thread: MainThread) async -> Bool {
    guard let number = connect(to: server) else { return false }
    let socket = OwnedDescriptor(number)
    // Reads as many bytes as it is told, which the message has.
    let sent = unsafe question.message.withUnsafeBytes { unsafe send(number, $0.baseAddress, $0.count, 0) }
    guard sent == question.message.count else { return false }
    let end = ContinuousClock.now.advanced(by: interval)
    while await thread.wait(for: [socket.rawValue], until: end) {
      // Without EDNS, an answer has 512 bytes at most (RFC 1035, 4.2.1).
      var buffer = [UInt8](repeating: 0, count: 512)
      // Fills at most as many bytes as it is told.
      let count = unsafe recv(socket.rawValue, &buffer, buffer.count, CInt(MSG_DONTWAIT))
      // Nobody listens there (ICMP), unless it was a damaged packet (select(2)).
      if count < 0, csystem_errno() != EAGAIN { return false }
      if question.isAnswered(by: buffer.prefix(max(0, count))) { return true }
    }
    return false
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
