// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone

/// Asks two root servers of each usable family for the root's name servers (RFC 9609): the smallest question that the
/// Internet itself answers for anybody. Belongs to one thread.
struct BeyondProbe {
  private static let serverCount = 2
  /// At how many servers connections to sites are compared with others, and how long routers near may take (ms): on a
  /// line that is slow itself, longer than an answer took, and no longer than there is time for.
  private static let siteTries = 3
  private static let near: ClosedRange<Int64> = 200...1_100
  /// How long a connection may take before others are tried beside it, in milliseconds.
  private static let soon: Int64 = 500
  /// When its first segment is sent again.
  private static let again: Int64 = 1_000

  private struct Question {
    let server: IPAddress
    let id: UInt16
    let socket: ProbeSocket
    let way: KernelEvidence
    var outcome: BeyondFinding.Outcome?
    /// When the answer came, in milliseconds since the first question.
    var answeredAt: Int64?
    /// Whether somebody on the way, or this machine itself, has refused it.
    var isRefused: Bool { if case .refused = outcome { true } else { outcome == .failed(EPERM) } }
  }

  let inquiry: DiagnosisInquiry
  let patience: Patience
  let witness: KernelWitness

  private static func servers(_ family: IPAddress.Family, count: Int) -> [IPAddress] {
    (RootServers.addresses[family] ?? []).shuffled().prefix(count).compactMap { IPAddress($0) }
  }

  /// `nil` if the time was up before anybody had theirs to answer.
  func finding() -> BeyondFinding? {
    var traces: [HopTrace] = []
    var questions: [Question] = []
    for family in inquiry.families {
      let servers = Self.servers(family, count: Self.serverCount)
      for server in servers {
        let way = witness.evidence(server, inquiry.path(.udp, port: 53))
        guard way.sendsPackets else { continue }
        let interface = inquiry.interface(way)
        if server == servers.first { traces.append(HopTrace(to: server, interface: interface, gateway: way.gateway)) }
        let socket = ProbeSocket(server, port: 53, isStream: false, interface: interface)
        questions.append(Question(server: server, id: .random(in: 1...UInt16.max), socket: socket, way: way))
      }
    }
    ask(&questions, &traces)
    // A refusal may be about questions to name servers alone, or about all.
    let areRefused = !questions.isEmpty && questions.allSatisfy(\.isRefused)
    if inquiry.subject.goal == .internet {
      for index in traces.indices {
        let ofFamily = questions.filter { $0.server.family == traces[index].family }
        guard !ofFamily.isEmpty, ofFamily.allSatisfy(\.isRefused) else { continue }
        let leadsOn = traces[index].leadsBeyond(patience, upTo: Self.again)
        // Then the refusal says nothing of the family.
        if leadsOn, !areRefused { questions.removeAll { $0.server.family == traces[index].family } }
      }
    }
    let trace = HopTrace.result(traces, areRefused: areRefused)
    if patience.isOver {
      questions.removeAll { $0.outcome == nil }
      if questions.isEmpty, trace ?? .silent == .silent { return nil }
    }
    let asked = questions.map { BeyondFinding.Question($0.server, $0.outcome ?? .silent) }
    // A proxy takes the place of connections.
    guard inquiry.subject.goal == .internet, !inquiry.hasProxySetting,
      let answer = questions.first(where: { $0.outcome == .answer })
    else { return BeyondFinding(asked, trace: trace) }
    let long = (answer.answeredAt ?? 0) * 3 / 2
    let near = min(max(Self.near.lowerBound, long), Self.near.upperBound)
    var barrier: ConnectionFinding.Outcome?
    guard var connection = connection(answer, near: near, long, &barrier) else { return nil }
    let stop = connection == .answered ? stopsSites(answer, near, &connection) : barrier
    // What there was no time to find out is not known.
    if stop == nil, connection == .answered, patience.isOver { connection = .leadsOn }
    var finding = BeyondFinding(asked, trace: trace, connection: connection)
    finding.stopsSites = stop
    return finding
  }

  /// What stops connections to port 443 near, which get less far than those to port 53 of the same servers; `nil` if
  /// they do not, or nobody tells. Servers differ in what they make of them, and a filter does not. `connection` tells
  /// if that remains unknown.
  private func stopsSites(
    _ answer: Question, _ near: Int64, _ connection: inout BeyondFinding.Connection
  ) -> ConnectionFinding.Outcome? {
    // On a slow line there is no time for more.
    let isSlow = near > Self.soon
    let isResetNear = isSlow ? nil : isResetNear(answer, upTo: near)
    if isResetNear == false { return nil }
    // A server that is as near as that may drop them itself.
    let isServerNear = !isSlow && answer.socket.hopsLeft >= HopTrace.usualHops - HopTrace.hops[1]
    var outcomes: Set<ConnectionFinding.Outcome> = []
    var refusal: ConnectionFinding.Outcome?
    var isNear = false
    // Of those that have left this machine.
    var first: HopTrace?
    for server in Self.servers(answer.server.family, count: isSlow ? 2 : Self.siteTries) {
      let way = witness.evidence(server, inquiry.path(port: HopTrace.sitePort))
      let wayOfNames = witness.evidence(server, inquiry.path(port: 53))
      let interface = inquiry.interface(way)
      // First, as routers answer only some of many, so that the one that gets furthest is the first one, too. A router
      // that takes connections itself does not let the last one die.
      var sites = HopTrace(to: server, hops: HopTrace.hops.reversed() + [1], interface: interface, gateway: way.gateway)
      // It has to look before anything is sent.
      let packets = PacketWitness()
      if sites.leadsBeyond(patience, upTo: near) {
        if isServerNear, isResetNear == nil, !sites.isTaken { connection = .leadsOn }
        return isResetNear == true ? .reset : nil
      }
      // What waits for a router that is not there has not left either.
      if sites.isHeld(packets), !way.isNeighbourLost(witness) {
        outcomes.insert(.failed(EPERM))
        continue
      }
      // A proxy for all connections, which takes one once its server has, does not let any die. Nor does a filter that
      // comes before.
      if isResetNear == true {
        if !sites.hasDiedAtRouter { connection = .leadsOn }
        return sites.hasDiedAtRouter ? .reset : nil
      }
      var names = HopTrace(
        to: server, port: 53, hops: HopTrace.hops.dropLast(), interface: interface, gateway: wayOfNames.gateway)
      let areNamesTaken = names.leadsBeyond(patience, upTo: near)
      let areNamesLed = areNamesTaken && names.hasDiedBeyond
      if sites.isLed(patience, upTo: near) || patience.isOver { return nil }
      // A router says so of a few, and is silent of all others.
      if areNamesTaken, case .refused(let statement)? = sites.barrier { refusal = refusal ?? .refused(statement) }
      guard areNamesLed || refusal != nil, let stop = sites.stop else {
        if isServerNear, sites.stop == .silent { connection = .leadsOn }
        return nil
      }
      outcomes.insert(stop)
      first = first ?? sites
      // By a way of their own, names say nothing for sites.
      isNear = isNear || sites.hasDiedAtRouter || way.isApart(from: wayOfNames)
    }
    // Each is tried again after a second, and a router that says so once a second has its word then.
    if !isNear, refusal == nil, var first, !first.isLed(patience, upTo: Self.soon) {
      isNear = first.hasDiedAtRouter
      if case .refused? = first.barrier { refusal = first.barrier }
    }
    let isStopped = outcomes.count == 1 && (isNear || first == nil)
    if refusal == nil, !isStopped { connection = .leadsOn }
    return refusal ?? (isStopped ? outcomes.first : nil)
  }

  /// What comes of connections to one that answers, and to another one. `nil` if the time was up before that was clear.
  /// `barrier` is what somebody behind the router says of all of them.
  private func connection(
    _ answer: Question, near: Int64, _ long: Int64, _ barrier: inout ConnectionFinding.Outcome?
  ) -> BeyondFinding.Connection? {
    let server = answer.server
    let way = witness.evidence(server, inquiry.path(port: 53))
    let interface = inquiry.interface(way)
    // Each root server takes connections (RFC 7766, 5), and a filter may stop those to port 53.
    let servers = [server] + Self.servers(server.family, count: 2).filter { $0 != server }.prefix(1)
    let later = max(Self.again + Self.soon, long)
    func connect(_ servers: some Sequence<IPAddress>, upTo limit: Int64) -> Connector {
      let connector = Connector(Array(servers), ports: [53], interface: interface, patience)
      connector.wait(upTo: limit) { connector.connected != nil }
      return connector
    }
    let connector = connect(servers, upTo: Self.soon)
    if connector.connected == nil {
      var trace = HopTrace(to: server, interface: interface, gateway: way.gateway)
      let packets = PacketWitness()
      let leadsOn = trace.leadsBeyond(patience, upTo: Self.again)
      if !leadsOn, trace.isHeld(packets), !way.isNeighbourLost(witness) {
        barrier = .failed(EPERM)
        return .nothing
      }
      let isRefused = !connector.results(server.family).contains { $0.outcome == .silent }
      // The first segment is sent again after a second.
      if !isRefused { connector.wait(upTo: later) { connector.connected != nil } }
      if connector.connected == nil {
        let isResetNear = isResetNear(answer, upTo: near)
        if isResetNear == false { return .otherPort }
        // A router may let connections come to it, and refuse those that would get further.
        if isRefused { _ = trace.isLed(patience, upTo: near, waitsForAll: true) }
        barrier = isResetNear == true ? .reset : isRefused ? trace.barrier : nil
        if barrier != nil { return .nothing }
        // Next to the router, the server may drop them itself.
        let isNext = answer.socket.hopsLeft >= HopTrace.usualHops - 1
        return patience.isOver ? nil : leadsOn || isNext ? .leadsOn : .nothing
      }
    }
    let first = connector.connected.flatMap { StreamTrial(socket: $0, patience: patience).outcome(long) }
    if [.answered, .held, .leadsOn, nil].contains(first) { return first }
    // One server is not enough to blame the way.
    guard let other = connect(servers.suffix(1), upTo: later).connected else { return first }
    let second = StreamTrial(socket: other, patience: patience).outcome(long)
    return second == .answered ? .unsteady : second == nil ? nil : first
  }

  /// Whether connections to the port of sites are reset by somebody near; `false` if a server that answers questions
  /// takes or refuses them, or somebody around it: what comes from further away has fewer hops left. `nil` if nobody
  /// answers them, or that cannot be told.
  private func isResetNear(_ answer: Question, upTo limit: Int64) -> Bool? {
    let (hopsLeft, interface) = (answer.socket.hopsLeft, inquiry.interface(answer.way))
    let sockets = [1, max(hopsLeft + 1, HopTrace.usualHops - 3), HopTrace.usualHops + 1].map { leastHops in
      ProbeSocket(answer.server, port: HopTrace.sitePort, isStream: true, interface: interface, leastHops: leastHops)
    }
    guard (1...HopTrace.usualHops).contains(hopsLeft),
      let events = patience.wait(
        sockets.dropFirst().map { ($0.descriptor, wantsWriting: true) }, until: patience.moment(in: limit))
    else { return nil }
    let isRefused = sockets[0].takeError() == ECONNREFUSED
    if let statement = sockets[0].takeRefusal()?.statement {
      return statement.sender.bits == answer.server.bits ? false : nil
    }
    if events.isEmpty { return isRefused || sockets[0].isConnected ? false : nil }
    // What begins with another number may be anywhere.
    let odd = patience.wait(
      [(sockets[2].descriptor, wantsWriting: true)], until: patience.moment(in: Self.near.lowerBound))
    return withExtendedLifetime(sockets) { isRefused && odd?.isEmpty == true ? true : nil }
  }

  private func ask(_ questions: inout [Question], _ traces: inout [HopTrace]) {
    let start = TimeSource.system.now()
    // Behind a proxy, silence is usual.
    var resends = (inquiry.hasProxySetting ? NameRound.times : NameRound.pausing).resends
    // Connections to the target begin before, and are tried again after a pause of their own, which this is not to end.
    if inquiry.subject.goal != .internet { resends[2] += Self.again }
    // Traces send nothing again, which would end the pause.
    let (quiet, end) = (resends[1] + Self.again - 100, resends[2] + Self.again + Self.soon)
    var sent = 0
    while questions.contains(where: { $0.outcome == nil }), !patience.isOver {
      let elapsed = (TimeSource.system.now() - start) / 1_000_000
      if elapsed >= end { return }
      if elapsed >= quiet, sent < resends.count { for index in traces.indices { traces[index].end() } }
      if sent < resends.count, elapsed >= resends[sent] {
        sent += 1
        for index in questions.indices where questions[index].outcome == nil { send(&questions[index]) }
        // A server that has not answered the first question may lie behind a filter of such questions.
        let open = Set(questions.filter { $0.outcome == nil }.map(\.server.family))
        for (index, trace) in traces.enumerated() where sent > 1 && open.contains(trace.family) {
          if trace.stop == .silent, !trace.hasDiedBeyond { traces[index].begin() }
        }
      }
      let next = (resends + [quiet, end]).filter { $0 > elapsed }.min() ?? 0
      let open = questions.indices.filter { questions[$0].outcome == nil }
      let list =
        open.map { (questions[$0].socket.descriptor, wantsWriting: false) }
        + traces.flatMap(\.descriptors).map { ($0, wantsWriting: true) }
      guard let events = patience.wait(list, until: patience.moment(in: max(1, next - elapsed))) else { return }
      for event in events {
        if event.position < open.count {
          take(&questions[open[event.position]], since: start, hasError: event.hasError)
        } else {
          for index in traces.indices { traces[index].take(list[event.position].0) }
        }
      }
      // One that answers is enough to know of its family.
      for question in questions where question.outcome == .answer {
        questions.removeAll { $0.outcome == nil && $0.server.family == question.server.family }
      }
    }
  }

  private func send(_ question: inout Question) {
    guard question.socket.start == 0,
      let bytes = DNSMessage.question("", .nameServer, id: question.id, wantsRecursion: false)
    else {
      question.outcome = .failed(question.socket.start)
      return
    }
    let errno = question.socket.send(bytes)
    if errno != 0, errno != EAGAIN { question.outcome = refusal(question, errno) }
  }

  private func take(_ question: inout Question, since start: Int64, hasError: Bool) {
    let socket = question.socket
    while let bytes = socket.receive() {
      guard let isOfRoot = DNSMessage.isOfRoot(bytes, id: question.id) else { continue }
      question.outcome = isOfRoot ? .answer : .forged
      question.answeredAt = (TimeSource.system.now() - start) / 1_000_000
      return
    }
    if hasError { question.outcome = refusal(question, socket.takeError()) }
  }

  private func refusal(_ question: Question, _ errno: CInt) -> BeyondFinding.Outcome {
    guard let statement = question.socket.takeRefusal()?.statement else {
      return .failed(errno == 0 ? ECONNREFUSED : errno)
    }
    let isUnheard = statement.isOwn && statement.meaning == .hostUnreachable && question.way.isNeighbourLost(witness)
    return isUnheard ? .silent : .refused(statement)
  }
}

extension KernelEvidence {
  /// Whether packets leave by another router, or link.
  func isApart(from other: KernelEvidence) -> Bool { gateway != other.gateway || link?.name != other.link?.name }

  /// Whether the neighbour that gets the packets first, or one of several routers that share them, does not answer the
  /// kernel now.
  func isNeighbourLost(_ witness: KernelWitness) -> Bool {
    if lostGateway(witness) != nil { return true }
    guard let neighbour, let link else { return false }
    return witness.neighbourState(neighbour.address, link: link.index)?.isUnanswered ?? false
  }
}

extension NeighbourState {
  /// Whether the kernel has asked, and got no answer so far.
  var isUnanswered: Bool { !isDisjoint(with: [.failed, .incomplete]) }
}
#endif
