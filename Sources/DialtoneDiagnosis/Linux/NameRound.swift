// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneSites

/// Questions about one name to several name servers at the same time, to each by itself. Belongs to one thread.
struct NameRound {
  /// When a question is sent again, and when a server that does not answer is taken to be silent, in milliseconds.
  static let times: (resends: [Int64], end: Int64) = ([0, 1_000, 2_000], 3_000)
  /// Those of questions to root servers: the last one comes after a pause. A Linux router whose route refuses packets
  /// counts each of them twice (ip_error, icmp_send), and says so only to somebody who has sent none for two seconds.
  static let pausing: (resends: [Int64], end: Int64) = ([0, 1_000, 3_100], 3_600)
  /// How long a server may take for the question that cannot have an answer, once it has answered the others.
  private static let controlPatience: Int64 = 400
  /// How long the kernel may take with a datagram that has come in.
  private static let handOver: Int64 = 50

  /// What is asked, by the place of its reply.
  private typealias Kind = WritableKeyPath<NameFinding.Server, NameFinding.Reply?>

  private struct Conversation {
    let socket: ProbeSocket
    /// Whether the server is this machine.
    let isOwn: Bool
    let position: Int
    var open: [UInt16: Kind]
    /// The questions that netfilter has let out.
    var sent: Set<UInt16> = []
    /// How many datagrams came, with any content.
    var receivedCount = 0
  }

  private let inquiry: NameInquiry
  /// The name that is asked for, empty for the root, and one that cannot exist.
  private let name: String
  private let control = "dialtone-\(String(UInt64.random(in: 0...UInt64.max), radix: 36)).invalid"
  private let families: [IPAddress.Family]
  /// It has to look before anything is sent.
  private let witness = PacketWitness()
  private var start: Int64 = 0
  private var servers: [NameFinding.Server]
  private var conversations: [Conversation] = []
  /// Whether the time of the diagnosis was not up before the servers had theirs.
  private(set) var isWhole = false

  /// Begins a conversation with each server that there is a way to; the others get their reply at once.
  init(
    _ name: String, _ families: [IPAddress.Family], at addresses: [IPAddress], hasControl: Bool, of inquiry: NameInquiry
  ) {
    (self.inquiry, self.name, self.families) = (inquiry, name, families)
    servers = addresses.map { NameFinding.Server($0) }
    let kinds = types + (hasControl && !name.isEmpty ? [\.control] : [])
    let isEachAlone = inquiry.configuration.options.contains("single-request-reopen")
    for position in servers.indices { begin(position, isEachAlone ? kinds.map { [$0] } : [kinds]) }
  }

  private mutating func begin(_ position: Int, _ questions: [[Kind]]) {
    let address = servers[position].address
    // Linux sends nothing to a link-local address without its interface (ipv6(7)).
    if address.family == .ipv6, address.isLinkLocal, address.zone == nil { return fail(position, .failed(EINVAL)) }
    let way = inquiry.way(address)
    let isOfInterface = inquiry.interface == nil || way.link?.name == inquiry.interface
    servers[position].isBeyond = way.gateway != nil && isOfInterface
    if !way.sendsPackets, way.state.status != .undetermined,
      let fault = KernelFindings.findings(way).last(where: \.stopsPackets)
    {
      return fail(position, .noWay(fault))
    }
    for kinds in questions {
      let socket = ProbeSocket(address, port: 53, isStream: false, interface: nil)
      if socket.start != 0 {
        // A policy of IPsec, or BPF, if no filter of system calls forbids it to this program.
        let isForbidden = socket.start == EPERM && !ConnectionProbe.hasCallFilter
        return fail(position, isForbidden ? .forbidden : .failed(socket.start))
      }
      // Each has a number of its own.
      let id = UInt16.random(in: 0...UInt16.max)
      let open = Dictionary(uniqueKeysWithValues: kinds.enumerated().map { (id ^ UInt16($0.offset), $0.element) })
      let isOwn = way.state.flags.contains(.isLocalAddress)
      conversations.append(Conversation(socket: socket, isOwn: isOwn, position: position, open: open))
    }
  }

  private mutating func fail(_ position: Int, _ reply: NameFinding.Reply) {
    for type in types where servers[position][keyPath: type] == nil { servers[position][keyPath: type] = reply }
  }

  private var types: [Kind] { families.map { $0 == .ipv4 ? \.ipv4 : \.ipv6 } }

  /// Sends the questions, and takes answers until all has been said, or until the servers, or the diagnosis, have had
  /// their time.
  mutating func converse() {
    start = TimeSource.system.now()
    let times = name.isEmpty ? Self.pausing : Self.times
    var sent = 0
    while true {
      let elapsed = (TimeSource.system.now() - start) / 1_000_000
      if sent < times.resends.count, elapsed >= times.resends[sent] {
        sent += 1
        for index in conversations.indices { send(index, isFirst: sent == 1) }
      }
      if isDone(elapsed) || elapsed >= times.end { break }
      if inquiry.patience.isOver { return }
      let next = sent < times.resends.count ? times.resends[sent] : times.end
      // Where only the control question is open, it is not waited for so long.
      let pause = isAnswered ? min(next - elapsed, 50) : next - elapsed
      var list = conversations.map { ($0.socket.descriptor, wantsWriting: false) }
      if let witness { list.append((witness.descriptor, wantsWriting: false)) }
      guard let events = inquiry.patience.wait(list, until: inquiry.patience.moment(in: max(1, pause))) else { break }
      for event in events {
        if event.position == conversations.count { witness?.read() } else { take(event.position, event.hasError) }
      }
    }
    isWhole = true
  }

  /// Whether the first server, which programs believe, has answered all there is to ask.
  private var isAnswered: Bool {
    servers.first.map { $0.hasAnswered && ![$0.ipv4, $0.ipv6].contains(.silent) } ?? true
  }

  /// The first server, if programs believe what it has said.
  private var believed: NameFinding.Server? {
    inquiry.configuration.rotates ? nil : servers.prefix(1).first { $0.hasAnswered && !$0.saysNo }
  }

  /// What the first server was asked and has not answered.
  private var openAtFirst: [Kind] { conversations.filter { $0.position == 0 }.flatMap(\.open.values) }

  private func isDone(_ elapsed: Int64) -> Bool {
    if conversations.allSatisfy(\.open.isEmpty) { return true }
    guard let believed else { return false }
    let time = Int64(believed.milliseconds ?? 0)
    return openAtFirst.allSatisfy { $0 == \.control && elapsed > time + Self.controlPatience }
  }

  private func text(_ kind: Kind) -> String { kind == \.control ? control : name }

  /// The question for what cannot exist is of a type of which the name has an address if it has any.
  private func type(_ kind: Kind) -> DNSMessage.RecordType {
    if name.isEmpty { return .nameServer }
    return kind == \.ipv6 || kind == \.control && !families.contains(.ipv4) ? .aaaa : .a
  }

  private mutating func send(_ index: Int, isFirst: Bool) {
    for (id, kind) in conversations[index].open {
      guard let question = DNSMessage.question(text(kind), type(kind), id: id) else {
        conversations[index].open[id] = nil
        continue
      }
      let errno = conversations[index].socket.send(question)
      if errno == 0 || errno == EAGAIN { conversations[index].sent.insert(id) }
      // EPERM is netfilter's verdict on what this machine sends, perhaps only on so much at once.
      if [0, EAGAIN, EPERM].contains(errno) { continue }
      return end(index, refusal(index, errno))
    }
    if !isFirst, conversations[index].sent.isEmpty { end(index, .forbidden) }
  }

  private mutating func end(_ index: Int, _ reply: NameFinding.Reply) {
    fail(conversations[index].position, reply)
    conversations[index].open = [:]
  }

  private mutating func take(_ index: Int, _ hasError: Bool) {
    let (socket, position) = (conversations[index].socket, conversations[index].position)
    while let bytes = socket.receive() {
      conversations[index].receivedCount += 1
      guard let id = DNSMessage.number(bytes, 0), let kind = conversations[index].open[id],
        let answer = DNSMessage.answer(bytes, to: text(kind), type(kind))
      else { continue }
      conversations[index].open[id] = nil
      let answered = answer.isTruncated ? NameFinding.Reply.truncated : .answer(answer.code, answer.addresses)
      let reply = answer.isToQuestion ? answered : .mismatched
      servers[position][keyPath: kind] = reply
      if kind != \.control, answer.isAlias { servers[position].knowsAlias = true }
      servers[position].deniesRoot = name.isEmpty && reply.code == .success && !answer.hasNameServer
      if kind != \.control { servers[position].milliseconds = Double(TimeSource.system.now() - start) / 1_000_000 }
    }
    if !hasError { return }
    let reply = refusal(index, socket.takeError())
    for kind in conversations[index].open.values { servers[position][keyPath: kind] = reply }
    conversations[index].open = [:]
  }

  private func refusal(_ index: Int, _ errno: CInt) -> NameFinding.Reply {
    let socket = conversations[index].socket
    guard let refusal = socket.takeRefusal() else { return .failed(errno == 0 ? ECONNREFUSED : errno) }
    // The kernel says so if the neighbour, or one of several, does not answer; a firewall may say so at any time.
    let isUnheard = { inquiry.isNeighbourLost(inquiry.way(socket.address)) }
    if refusal.isOwn, refusal.isHostUnreachable, isUnheard() { return .silent }
    return refusal.isOwn && !conversations[index].isOwn ? .forbidden : .refused(refusal.statement)
  }

  // MARK: The end

  /// What the servers have said. What was asked and not answered is silence, unless another server has been believed
  /// before.
  mutating func finished() -> [NameFinding.Server] {
    var stopped: Set<Int> = []
    if let witness, isWhole {
      witness.read()
      for index in conversations.indices where isStoppedHere(index, witness) {
        stopped.insert(conversations[index].position)
      }
    }
    let isFirstEnough = believed != nil && openAtFirst.allSatisfy { $0 == \.control }
    for conversation in conversations where !(isFirstEnough && conversation.position > 0) {
      for (id, kind) in conversation.open where kind != \.control || conversation.sent.contains(id) {
        servers[conversation.position][keyPath: kind] = conversation.sent.contains(id) ? .silent : .forbidden
      }
    }
    // It has answered, and no program gets the answer.
    for position in stopped where servers[position].replies.allSatisfy({ $0 == .silent }) {
      servers[position].ipv4 = servers[position].ipv4.map { _ in .dropped }
      servers[position].ipv6 = servers[position].ipv6.map { _ in .dropped }
    }
    return servers
  }

  /// Whether more answers came in to the socket's port than the socket has got.
  private mutating func isStoppedHere(_ index: Int, _ witness: PacketWitness) -> Bool {
    let socket = conversations[index].socket
    guard let sight = witness.sight(of: socket) else { return false }
    // The kernel may be about to hand one over.
    let deadline = inquiry.patience.moment(in: Self.handOver)
    while sight.answerCount > conversations[index].receivedCount {
      let events = inquiry.patience.wait([(socket.descriptor, wantsWriting: false)], until: deadline)
      guard let event = events?.first else { break }
      take(index, event.hasError)
    }
    return sight.answerCount > conversations[index].receivedCount
  }
}
#endif
