// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneSites

/// Connects to all addresses at once. Runs on a thread of its own.
final class Connector {
  /// How long nobody may answer, in milliseconds: the first segment is sent again after one second and after three
  /// (RFC 6298, 2), or each second (tcp_syn_linear_timeouts).
  static let silence: Int64 = 3_500
  /// How long the kernel may take with a segment that has come in, in milliseconds.
  private static let handOver: Int64 = 50

  private struct Attempt {
    let socket: ProbeSocket
    var result: ConnectionFinding.Attempt
    var isOpen: Bool
  }

  private let patience: Patience
  private var attempts: [Attempt] = []
  private let witness: PacketWitness?
  private let start: Int64

  /// Whether the time was up before everybody had theirs to answer.
  private(set) var isHurried = false

  /// How long it has taken so far, in milliseconds.
  var elapsed: Int64 { (TimeSource.system.now() - start) / 1_000_000 }

  init(_ addresses: [IPAddress], ports: [UInt16], interface: UInt32?, _ patience: Patience) {
    self.patience = patience
    // It has to look before anything is sent.
    witness = PacketWitness()
    start = TimeSource.system.now()
    for address in addresses {
      for port in ports {
        let socket = ProbeSocket(address, port: port, isStream: true, interface: interface)
        let isOpen = socket.start == EINPROGRESS
        let result = ConnectionFinding.Attempt(address, port: port, isOpen ? .silent : .failed(socket.start))
        attempts.append(Attempt(socket: socket, result: result, isOpen: isOpen))
        if socket.start == 0 { settle(&attempts[attempts.count - 1]) }
      }
    }
  }

  /// Whether the target may still answer after this many milliseconds of silence.
  static func isHurried(after elapsed: Int64) -> Bool { elapsed < silence - 100 }

  /// Waits until each attempt has ended, or for a time.
  ///
  /// - Parameters:
  ///   - limit: How long to wait at most, in milliseconds since the beginning.
  ///   - isDecided: Whether what is known is enough.
  func wait(upTo limit: Int64, until isDecided: () -> Bool = { false }) {
    while attempts.contains(where: \.isOpen), !isDecided() {
      let elapsed = elapsed
      if patience.isOver {
        isHurried = Self.isHurried(after: elapsed)
        break
      }
      let open = attempts.indices.filter { attempts[$0].isOpen }
      var list = open.map { (attempts[$0].socket.descriptor, wantsWriting: true) }
      if let witness { list.append((witness.descriptor, wantsWriting: false)) }
      // Looked at again each 100 ms, for what else may decide.
      let pause = max(1, min(100, limit - elapsed))
      guard let events = patience.wait(list, until: patience.moment(in: pause)) else { return }
      for event in events {
        if event.position == open.count { witness?.read() } else { settle(&attempts[open[event.position]]) }
      }
      // What has come meanwhile counts.
      if elapsed >= limit { break }
    }
    witness?.read()
    settleLate()
  }

  /// Waits for no more answers, so that nothing is sent again.
  func end() { attempts.removeAll(where: \.isOpen) }

  /// Gives what the witness has seen come in the time to get to its socket.
  private func settleLate() {
    let late = attempts.indices.filter { index in
      attempts[index].isOpen && witness?.sight(of: attempts[index].socket)?.hasReturned == true
    }
    if late.isEmpty { return }
    let list = late.map { (attempts[$0].socket.descriptor, wantsWriting: true) }
    for event in patience.wait(list, until: patience.moment(in: Self.handOver)) ?? [] {
      settle(&attempts[late[event.position]])
    }
  }

  private func settle(_ attempt: inout Attempt) {
    let socket = attempt.socket
    attempt.isOpen = false
    let elapsed = Double(TimeSource.system.now() - start) / 1_000_000
    let errno = socket.takeError()
    let outcome: ConnectionFinding.Outcome =
      switch (errno, errno == 0 ? nil : socket.takeRefusal()) {
      case (0, _): .accepted(milliseconds: elapsed)
      case (_, let refusal?): .refused(refusal.statement)
      case (ECONNREFUSED, _): .reset
      case (ETIMEDOUT, _): .silent
      default: .failed(errno)
      }
    attempt.result.tries = [outcome]
  }

  var connected: ProbeSocket? { attempts.first { $0.result.isAccepted }?.socket }

  func isConnected(_ family: IPAddress.Family) -> Bool { results(family).contains(where: \.isAccepted) }

  func isSilent(_ family: IPAddress.Family) -> Bool { results(family).allSatisfy { $0.tries == [.silent] } }

  /// What came of the attempts of a family. `name` returns the name of an interface.
  func results(_ family: IPAddress.Family, name: (UInt32) -> String? = { _ in nil }) -> [ConnectionFinding.Attempt] {
    attempts.filter { $0.result.address.family == family }.map { attempt in
      var result = attempt.result
      if let sight = witness?.sight(of: attempt.socket) {
        result.sight = ConnectionFinding.Sight(
          hasLeft: sight.hasLeft, hasReturned: sight.hasReturned, otherWay: sight.otherWay.flatMap(name))
      }
      return result
    }
  }
}

extension ConnectionRefusal {
  /// What it says (RFC 792, RFC 1812, RFC 4443).
  var statement: NetworkStatement { NetworkStatement(meaning, by: offender, isOwn: isOwn) }

  private var meaning: NetworkStatement.Meaning {
    switch (isIPv6, type, code) {
    case (false, 3, 0), (false, 3, 6), (false, 3, 11), (true, 1, 0), (true, 1, 2), (true, 1, 6): .networkUnreachable
    case (false, 3, 1), (false, 3, 7), (false, 3, 8), (false, 3, 12), (true, 1, 3): .hostUnreachable
    case (false, 3, 2): .protocolUnreachable
    case (false, 3, 3), (true, 1, 4): .portUnreachable
    case (false, 3, 4), (true, 2, _): .tooLarge
    case (false, 3, 9), (false, 3, 10), (false, 3, 13), (true, 1, 1), (true, 1, 5): .prohibited
    case (false, 11, _), (true, 3, _): .lifetimeEnded
    default: .other(type: type, code: code)
    }
  }
}
#endif
