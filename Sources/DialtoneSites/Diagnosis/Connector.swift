// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone

/// Connects to all addresses at once, and closes each connection as soon as it is made. Runs on a thread of its own.
final class Connector {
  /// How long nobody may answer, in milliseconds: the first segment is sent again after one second and after three
  /// (RFC 6298, 2).
  static let silence: Int64 = 3_500

  private struct Attempt {
    let socket: ProbeSocket?
    var result: ConnectEvidence.Attempt
    var isOpen: Bool
  }

  private let patience: Patience
  private var attempts: [Attempt] = []
  private let witness: PacketWitness?
  private let start: Int64

  /// Whether the time was up before everybody had theirs to answer.
  private(set) var isHurried = false

  /// Begins to connect to each address on each port.
  init(_ addresses: [IPAddress], ports: [UInt16], interface: UInt32?, _ patience: Patience) {
    self.patience = patience
    // It has to look before anything is sent.
    witness = PacketWitness()
    start = TimeSource.system.now()
    for address in addresses {
      for port in ports {
        let socket = ProbeSocket(address, port: port, isStream: true, interface: interface)
        var attempt = Attempt(
          socket: socket, result: ConnectEvidence.Attempt(address: address, port: port, result: .silent), isOpen: true)
        switch socket?.start {
        case nil:
          attempt.result.result = .failed(errno: EMFILE, words: "this machine has no descriptor left")
          attempt.isOpen = false
        case 0?: settle(&attempt)
        case EINPROGRESS?: break
        case let errno?:
          attempt.result.result = .failed(errno: errno, words: SiteError.text(errno: errno))
          attempt.isOpen = false
        }
        attempts.append(attempt)
      }
    }
  }

  /// Waits until each attempt has ended, or for a time.
  ///
  /// - Parameters:
  ///   - limit: How long to wait at most, in milliseconds since the beginning.
  ///   - isDecided: Whether what is known is enough.
  func wait(upTo limit: Int64, until isDecided: () -> Bool = { false }) {
    while attempts.contains(where: \.isOpen), !isDecided() {
      let elapsed = (TimeSource.system.now() - start) / 1_000_000
      if elapsed >= limit { break }
      if patience.isOver {
        isHurried = elapsed < Self.silence - 100
        break
      }
      let open = attempts.indices.filter { attempts[$0].isOpen }
      var list = open.map { (attempts[$0].socket?.descriptor ?? -1, wantsWriting: true) }
      if let witness { list.append((witness.descriptor, wantsWriting: false)) }
      // Looked at again each 100 ms, for what else may decide.
      for event in patience.wait(list, until: patience.moment(in: max(1, min(100, limit - elapsed)))) {
        if event.position < 0 { return }
        if event.position == open.count { witness?.read() } else { settle(&attempts[open[event.position]]) }
      }
    }
    witness?.read()
  }

  private func settle(_ attempt: inout Attempt) {
    guard let socket = attempt.socket else { return }
    attempt.isOpen = false
    let elapsed = Double(TimeSource.system.now() - start) / 1_000_000
    let errno = socket.takeError()
    if errno == 0 {
      attempt.result.result = .connected(milliseconds: elapsed)
    } else if let refusal = socket.takeRefusal() {
      attempt.result.result = .refusal(refusal.evidence)
    } else if errno == ECONNREFUSED || errno == ECONNRESET {
      attempt.result.result = .reset
    } else if errno == ETIMEDOUT {
      attempt.result.result = .silent
    } else {
      attempt.result.result = .failed(errno: errno, words: SiteError.text(errno: errno))
    }
  }

  /// Whether one attempt of a family has led to a connection.
  func isConnected(_ family: IPAddress.Family) -> Bool {
    results(family).contains { if case .connected = $0.result { true } else { false } }
  }

  /// Whether nothing at all has come back for a family.
  func isSilent(_ family: IPAddress.Family) -> Bool { results(family).allSatisfy { $0.result == .silent } }

  /// The interface by which an answer came in, if the attempt left by another.
  func otherWay(of attempt: ConnectEvidence.Attempt) -> UInt32? {
    witness?.sight(of: attempt.address, port: attempt.port)?.otherWay
  }

  /// What came of the attempts of a family.
  func results(_ family: IPAddress.Family) -> [ConnectEvidence.Attempt] {
    attempts.filter { $0.result.address.family == family }.map { attempt in
      var result = attempt.result
      if let sight = witness?.sight(of: result.address, port: result.port) {
        result.hasLeft = sight.hasLeft
        result.hasReturned = sight.hasReturned
      }
      return result
    }
  }
}

extension ConnectionRefusal {
  /// What the rules look at.
  var evidence: ConnectEvidence.Refusal {
    let pair = (type, code)
    let isProhibition =
      isIPv6 ? type == 1 && [1, 5, 6].contains(code) : type == 3 && [9, 10, 13].contains(code)
    return ConnectEvidence.Refusal(
      offender: offender, isOwn: isOwn, isHostUnreachable: isHostUnreachable, isProhibition: isProhibition,
      isPortUnreachable: isIPv6 ? pair == (1, 4) : pair == (3, 3), words: message)
  }
}
#endif
