// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import DialtoneSites

/// What passes on a connection that a root server has taken: a small question, and then one that fills a packet (RFC
/// 7766). Belongs to one thread.
struct StreamTrial {
  /// How long an answer may take, in milliseconds: what is lost is sent again three times until then.
  private static let limit: Int64 = 2_000
  /// More than one packet of Ethernet takes.
  private static let padding: UInt16 = 1_500

  private enum Reply {
    case answer, other, end, reset, silence
  }

  let socket: ProbeSocket
  let patience: Patience

  /// What came of it. An answer may take `long` milliseconds. `nil` if the time was up before.
  func outcome(_ long: Int64) -> BeyondFinding.Connection? {
    let limit = max(Self.limit, long)
    switch ask(padding: 0, limit) {
    case .answer: break
    // Somebody else speaks for root servers there.
    case .other: return .leadsOn
    case .end, .reset: return .reset
    case .silence: return patience.isOver ? nil : progress?.isUnsent == true ? .held : .silent
    }
    // Any answer to a large one shows that it has arrived.
    let large = ask(padding: Self.padding, limit)
    if large != .silence { return large == .reset ? .reset : .answered }
    return patience.isOver ? nil : progress?.isUnacknowledged == true ? .largeVanishes : .answered
  }

  private var progress: StreamProgress? { StreamProgress(of: socket.descriptor) }

  private func ask(padding: UInt16, _ limit: Int64) -> Reply {
    let id = UInt16.random(in: 1...UInt16.max)
    guard let question = DNSMessage.question("", .nameServer, id: id, wantsRecursion: false, padding: padding),
      socket.send(DNSMessage.bytes([UInt16(question.count)]) + question) == 0
    else { return .reset }
    let deadline = patience.moment(in: limit)
    var bytes: [UInt8] = []
    while patience.wait([(socket.descriptor, wantsWriting: false)], until: deadline)?.isEmpty == false {
      guard let more = socket.receive() else { return .reset }
      if more.isEmpty { return .end }
      bytes += more
      guard let length = DNSMessage.number(bytes, 0), bytes.count >= 2 + Int(length) else { continue }
      return DNSMessage.isOfRoot(Array(bytes[2..<2 + Int(length)]), id: id) == true ? .answer : .other
    }
    return .silence
  }
}
#endif
