// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneSites
internal import Netlink

/// Asks the configured name servers for one name, each by itself, to see which of them does what. Runs on a thread of
/// its own.
struct NameInquiry {
  /// When a question is sent again, and when a server that does not answer counts as silent, in milliseconds.
  private static let resends: [Int64] = [0, 1_000, 2_000]
  private static let end: Int64 = 3_000
  /// How long a server may take for the question that cannot have an answer, once it has answered the others.
  private static let controlPatience: Int64 = 400
  /// How long the kernel may take with a datagram that has come in.
  private static let handOver: Int64 = 50

  fileprivate enum Kind: Hashable {
    case ipv4, ipv6, control
  }

  /// What is asked of one server.
  private struct Conversation {
    let socket: ProbeSocket
    /// Whether the server is this machine.
    let isOwn: Bool
    let position: Int
    /// The name that is asked for, empty for the root, and one that cannot exist.
    let name: String
    let control: String
    /// The type of the question for the latter, of which the former has an address if it has any.
    let controlType: DNSMessage.RecordType
    var open: [UInt16: Kind] = [:]
    /// The questions that netfilter has let out.
    var sent: Set<UInt16> = []
    /// How many datagrams came, whatever is in them.
    var receivedCount = 0

    func name(_ kind: Kind) -> String { kind == .control ? control : name }

    func type(_ kind: Kind) -> DNSMessage.RecordType {
      if name.isEmpty { return .nameServer }
      return kind == .control ? controlType : kind == .ipv6 ? .aaaa : .a
    }
  }

  let configuration: ResolverConfiguration
  let patience: Patience
  /// The interface that is asked about; what is heard by another one says nothing of its router.
  var interface: String?
  /// What the kernel knows of the way to a server.
  let way: (IPAddress) -> KernelEvidence

  /// Finds the addresses of a name, or only whether the servers answer for the root if the name is empty.
  func evidence(_ name: String, families: [IPAddress.Family]) -> NameFinding {
    if name.isEmpty {
      var evidence = NameFinding(name: "the root", isRootOnly: true)
      evidence.isForbidden = configuration.isForbidden
      evidence.servers = ask("", families: [.ipv4], &evidence.isHurried, at: configuration.servers)
      return evidence
    }
    var evidence = NameFinding(name: name)
    evidence.rotates = configuration.rotates
    evidence.isForbidden = configuration.isForbidden
    let known = configuration.hostsAddresses(of: name).filter { families.contains($0.family) }
    let inHosts = NameFinding(name: name, source: .hosts, addresses: known)
    if !known.isEmpty, configuration.asksHostsFirst { return inHosts }
    var before: [NameFinding.Server] = []
    for candidate in configuration.candidates(for: name) {
      evidence.tried.append(candidate)
      let servers = ask(candidate, families: families, &evidence.isHurried, before: before, isWhole: candidate == name)
      if evidence.isHurried, !servers.contains(where: \.hasAnswered) { break }
      // What the name itself was answered says more than what a search domain was.
      if evidence.servers.isEmpty || candidate == name || servers.contains(where: { !$0.addresses.isEmpty }) {
        evidence.servers = servers
      }
      if let found = servers.first(where: { !$0.addresses.isEmpty }) {
        evidence.foundAs = candidate
        evidence.addresses = found.addresses
        return evidence
      }
      // If no server answers anything, another name gets no answer either.
      if !servers.contains(where: \.isAlive) { break }
      if before.isEmpty { before = servers }
    }
    return known.isEmpty ? evidence : inHosts
  }

  /// Asks again, twice, or once if there are several servers, if replies contradict each other or what programs get.
  /// What differs from time to time is unsteady, and what does not is as it is.
  func unsteady(
    _ finding: NameFinding, families: [IPAddress.Family], system: () -> NameFinding.SystemReply
  ) -> NameFinding.Unsteady? {
    let isFailing = finding.servers.contains { $0.replies.contains(where: \.isUseless) }
    let isSystemOdd = !finding.addresses.isEmpty ? finding.lacksInSystem : finding.system?.families.isEmpty == false
    guard finding.source == .dns, !finding.isHurried, !finding.isLate, !finding.rotates || finding.denier == nil,
      let name = finding.foundAs ?? finding.tried.last,
      isSystemOdd && (isFailing || !finding.addresses.isEmpty) || finding.servers.contains(where: \.contradictsItself)
    else { return nil }
    var rounds = [finding.servers]
    var systems = [finding.system].compactMap { $0?.families }
    for _ in 0..<(finding.servers.count > 1 ? 1 : 2) where !patience.isOver {
      var isHurried = false
      let again = ask(name, families: families, &isHurried, at: finding.servers.map(\.address))
      if isHurried { break }
      rounds.append(again)
      // If it has got no answer, the time was up.
      if isSystemOdd, case let reply = system(), reply != .silent { systems.append(reply.families) }
    }
    if Set(systems).count > 1 {
      let full = systems.reduce(into: Set()) { $0.formUnion($1) }
      return NameFinding.Unsteady(nil, failures: systems.count { $0 != full }, tries: systems.count)
    }
    for position in finding.servers.indices {
      for reply in [\NameFinding.Server.ipv4, \.ipv6, \.control] {
        let replies = rounds.compactMap { $0[position][keyPath: reply] }
        let failures = replies.count(where: \.isUseless)
        if failures > 0, failures < replies.count {
          return NameFinding.Unsteady(finding.servers[position].address, failures: failures, tries: replies.count)
        }
      }
    }
    return nil
  }

  // MARK: The servers

  /// Asks for a further name as few as can be: of the servers of a first round, programs believe the one that answers,
  /// and what they make of a name that cannot exist is known. The name itself is asked for at all of them.
  private func ask(
    _ name: String, families: [IPAddress.Family], _ isHurried: inout Bool, before: [NameFinding.Server], isWhole: Bool
  ) -> [NameFinding.Server] {
    let believed = isWhole ? nil : before.first { $0.isAlive && !$0.saysNo } ?? before.first(where: \.isAlive)
    let asked = ask(
      name, families: families, &isHurried, at: believed.map { [$0.address] } ?? configuration.servers,
      hasControl: before.isEmpty)
    if before.isEmpty { return asked }
    return before.compactMap { old in
      guard var new = asked.first(where: { $0.address == old.address }) else { return old.isAlive ? nil : old }
      new.control = old.control
      return new
    }
  }

  // `isHurried` becomes true if the time is up before the servers had theirs.
  private func ask(
    _ name: String, families: [IPAddress.Family], _ isHurried: inout Bool, at addresses: [IPAddress],
    hasControl: Bool = true
  ) -> [NameFinding.Server] {
    if patience.isOver {
      isHurried = true
      return []
    }
    let families = configuration.options.contains("no-aaaa") && families.contains(.ipv4) ? [.ipv4] : families
    var servers = addresses.map { NameFinding.Server($0) }
    // It has to look before anything is sent.
    let witness = PacketWitness()
    var conversations = conversations(about: name, families, hasControl: hasControl, &servers)
    let start = TimeSource.system.now()
    if !converse(&conversations, families, &servers, witness, since: start) { isHurried = true }
    var isStopped: Set<Int> = []
    if let witness, !isHurried {
      witness.read()
      for index in conversations.indices
      where isStoppedHere(&conversations[index], witness, &servers, since: start) {
        isStopped.insert(conversations[index].position)
      }
    }
    var found = finished(conversations, servers, families)
    // It has answered, and no program gets the answer.
    for position in isStopped where found[position].replies.allSatisfy({ $0 == .silent }) {
      found[position].ipv4 = found[position].ipv4.map { _ in .dropped }
      found[position].ipv6 = found[position].ipv6.map { _ in .dropped }
    }
    return found
  }

  /// A conversation with each server that there is a way to; the others get their reply at once.
  private func conversations(
    about name: String, _ families: [IPAddress.Family], hasControl: Bool, _ servers: inout [NameFinding.Server]
  ) -> [Conversation] {
    var conversations: [Conversation] = []
    let control = "dialtone-\(String(UInt64.random(in: 0...UInt64.max), radix: 36)).invalid"
    for position in servers.indices {
      let address = servers[position].address
      func fail(_ reply: NameFinding.Reply) { set(&servers[position], families, reply) }
      // Linux sends nothing to a link-local address without its interface (ipv6(7)).
      if address.family == .ipv6, address.isLinkLocal, address.zone == nil {
        fail(.failed(EINVAL))
        continue
      }
      let way = way(address)
      servers[position].isBeyond = way.gateway != nil && (interface == nil || way.link?.name == interface)
      if !way.sendsPackets, way.state.status != .undetermined,
        let fault = KernelFindings.findings(way).last(where: \.stopsPackets)
      {
        fail(.noWay(fault))
        continue
      }
      var kinds: [Kind] = families.map { $0 == .ipv4 ? .ipv4 : .ipv6 }
      if hasControl, !name.isEmpty { kinds.append(.control) }
      for kinds in configuration.options.contains("single-request-reopen") ? kinds.map({ [$0] }) : [kinds] {
        let socket = ProbeSocket(address, port: 53, isStream: false, interface: nil)
        if socket.start != 0 {
          // A policy of IPsec, or BPF, if no filter of system calls forbids it to this program.
          fail(socket.start == EPERM && !ConnectionProbe.hasCallFilter ? .forbidden : .failed(socket.start))
          break
        }
        var conversation = Conversation(
          socket: socket, isOwn: way.state.flags.contains(.isLocalAddress), position: position, name: name,
          control: control, controlType: families.contains(.ipv4) ? .a : .aaaa)
        for kind in kinds { conversation.open[UInt16.random(in: 1...UInt16.max)] = kind }
        conversations.append(conversation)
      }
    }
    return conversations
  }

  /// Sends the questions, and takes answers until all has been said or the servers have had their time. Returns `false`
  /// if the time of the diagnosis is up before that.
  private func converse(
    _ conversations: inout [Conversation], _ families: [IPAddress.Family], _ servers: inout [NameFinding.Server],
    _ witness: PacketWitness?, since start: Int64
  ) -> Bool {
    var sent = 0
    while true {
      let elapsed = (TimeSource.system.now() - start) / 1_000_000
      if sent < Self.resends.count, elapsed >= Self.resends[sent] {
        sent += 1
        for index in conversations.indices { send(&conversations[index], families, &servers, isFirst: sent == 1) }
      }
      if isDone(conversations, servers, families, elapsed) || elapsed >= Self.end { return true }
      if patience.isOver { return false }
      let next = sent < Self.resends.count ? Self.resends[sent] : Self.end
      // Where only the control question is open, it is not waited for so long.
      let pause = isAnswered(servers) ? min(next - elapsed, 50) : next - elapsed
      var list = conversations.map { ($0.socket.descriptor, wantsWriting: false) }
      if let witness { list.append((witness.descriptor, wantsWriting: false)) }
      for event in patience.wait(list, until: patience.moment(in: max(1, pause))) {
        // The diagnosis is cancelled.
        if event.position < 0 { return true }
        if event.position == conversations.count {
          witness?.read()
        } else {
          take(&conversations[event.position], &servers, since: start, hasError: event.hasError)
        }
      }
    }
  }

  /// Whether more answers came in to the socket's port than the socket has got.
  private func isStoppedHere(
    _ conversation: inout Conversation, _ witness: PacketWitness, _ servers: inout [NameFinding.Server],
    since start: Int64
  ) -> Bool {
    guard let sight = witness.sight(of: conversation.socket) else { return false }
    // The kernel may be about to hand one over.
    let deadline = patience.moment(in: Self.handOver)
    while sight.answerCount > conversation.receivedCount {
      let events = patience.wait([(conversation.socket.descriptor, wantsWriting: false)], until: deadline)
      guard let event = events.first, event.position == 0 else { break }
      take(&conversation, &servers, since: start, hasError: event.hasError)
    }
    return sight.answerCount > conversation.receivedCount
  }

  /// Whether the first server, which programs believe, has answered all there is to ask.
  private func isAnswered(_ servers: [NameFinding.Server]) -> Bool {
    servers.first.map { $0.hasAnswered && ![$0.ipv4, $0.ipv6].contains(.silent) } ?? true
  }

  private func isDone(
    _ conversations: [Conversation], _ servers: [NameFinding.Server], _ families: [IPAddress.Family],
    _ elapsed: Int64
  ) -> Bool {
    let open = conversations.flatMap { conversation in conversation.open.values.map { (conversation.position, $0) } }
    if open.isEmpty { return true }
    // The first server, which programs believe, has said all.
    guard !configuration.rotates, let first = servers.first, first.hasAnswered, !first.saysNo else { return false }
    let ofFirst = open.filter { $0.0 == 0 }
    if ofFirst.isEmpty { return true }
    let time = Int64(first.milliseconds ?? 0)
    return ofFirst.allSatisfy { $0.1 == .control } && elapsed > time + Self.controlPatience
  }

  private func send(
    _ conversation: inout Conversation, _ families: [IPAddress.Family], _ servers: inout [NameFinding.Server],
    isFirst: Bool
  ) {
    for (id, kind) in conversation.open {
      guard let question = DNSMessage.question(conversation.name(kind), conversation.type(kind), id: id) else {
        conversation.open[id] = nil
        continue
      }
      let errno = conversation.socket.send(question)
      if errno == 0 || errno == EAGAIN { conversation.sent.insert(id) }
      // EPERM is netfilter's verdict on what this machine sends, perhaps only on so much at once.
      if [0, EAGAIN, EPERM].contains(errno) { continue }
      set(&servers[conversation.position], families, refusal(conversation, errno))
      conversation.open = [:]
      return
    }
    if isFirst || !conversation.sent.isEmpty { return }
    set(&servers[conversation.position], families, .forbidden)
    conversation.open = [:]
  }

  private func take(
    _ conversation: inout Conversation, _ servers: inout [NameFinding.Server], since start: Int64, hasError: Bool
  ) {
    let position = conversation.position
    while let bytes = conversation.socket.receive() {
      conversation.receivedCount += 1
      guard let id = DNSMessage.number(bytes, 0), let kind = conversation.open[id],
        let answer = DNSMessage.answer(bytes, to: conversation.name(kind), conversation.type(kind))
      else { continue }
      conversation.open[id] = nil
      let answered = answer.isTruncated ? NameFinding.Reply.truncated : .answer(answer.code, answer.addresses)
      let reply = answer.isToQuestion ? answered : .mismatched
      servers[position].set(kind, reply)
      if kind != .control, answer.isAlias { servers[position].knowsAlias = true }
      servers[position].deniesRoot = conversation.name.isEmpty && reply.code == .success && !answer.hasNameServer
      if kind != .control { servers[position].milliseconds = Double(TimeSource.system.now() - start) / 1_000_000 }
    }
    if !hasError { return }
    let reply = refusal(conversation, conversation.socket.takeError())
    for kind in conversation.open.values { servers[position].set(kind, reply) }
    conversation.open = [:]
  }

  private func refusal(_ conversation: Conversation, _ errno: CInt) -> NameFinding.Reply {
    guard let refusal = conversation.socket.takeRefusal() else { return .failed(errno == 0 ? ECONNREFUSED : errno) }
    // The kernel says so if the neighbour does not answer; a firewall may say so at any time.
    if refusal.isOwn, refusal.isHostUnreachable {
      let isUnanswered = way(conversation.socket.address).neighbour?.state?.isUnanswered ?? false
      if isUnanswered { return .silent }
    }
    if refusal.isOwn, !conversation.isOwn { return .forbidden }
    return .refused(refusal.statement)
  }

  private func set(_ server: inout NameFinding.Server, _ families: [IPAddress.Family], _ reply: NameFinding.Reply) {
    if families.contains(.ipv4), server.ipv4 == nil { server.ipv4 = reply }
    if families.contains(.ipv6), server.ipv6 == nil { server.ipv6 = reply }
  }

  /// What was asked and not answered is silence, unless another server has been believed before.
  private func finished(
    _ conversations: [Conversation], _ servers: [NameFinding.Server], _ families: [IPAddress.Family]
  ) -> [NameFinding.Server] {
    var servers = servers
    let isFirstEnough =
      !configuration.rotates && servers.first.map { $0.hasAnswered && !$0.saysNo } == true
      && !conversations.contains { $0.position == 0 && $0.open.values.contains { $0 != .control } }
    for conversation in conversations where !(isFirstEnough && conversation.position > 0) {
      for (id, kind) in conversation.open where kind != .control || conversation.sent.contains(id) {
        servers[conversation.position].set(kind, conversation.sent.contains(id) ? .silent : .forbidden)
      }
    }
    return servers
  }
}

extension NameFinding.Server {
  fileprivate mutating func set(_ kind: NameInquiry.Kind, _ reply: NameFinding.Reply) {
    switch kind {
    case .ipv4: ipv4 = reply
    case .ipv6: ipv6 = reply
    case .control: control = reply
    }
  }
}
#endif
