// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Questions from outside, such as `Reachability.now`.
extension EngineState {
  /// Returns the addresses that monitors have just found for a name, or `nil`.
  func recentAddresses(of question: NameQuestion) -> [IPAddress]? {
    names.recentAddresses(of: question, now: time.now())
  }

  /// Returns what is true of a target now. No name is looked up: only addresses that monitors have found are used.
  ///
  /// - Returns: The state, and whether a turn is due, since events read on the way may concern monitors.
  mutating func answer(
    _ target: ReachabilityTarget, _ configuration: ReachabilityConfiguration
  ) -> (state: Reachability, isTurnDue: Bool) {
    var isTurnDue = false
    if let query = TargetRecord.onlyQuery(target, configuration) {
      var answer = Reachability.denied
      for round in 0..<Self.roundLimit {
        if !isToAsk(round, &isTurnDue) { break }
        source.answer([query]) { _, found in answer = found }
      }
      if TargetRecord.isEnough(answer, for: query, configuration) {
        answer.realtime = time.realtime()
        return (answer, isTurnDue)
      }
    }
    let record = TargetRecord(TargetQuestion(target, configuration))
    record.nodes = record.initialQueries.map(QueryNode.init)
    if case .host(let host) = target.storage {
      record.pathNodes = record.initialPathQueries.map(QueryNode.init)
      record.name = names[NameQuestion(name: host.ascii, family: configuration.family)]
      record.nodes = record.allowed(record.name?.addresses ?? []).map(record.query).map(QueryNode.init)
    }

    for round in 0..<Self.roundLimit {
      if !isToAsk(round, &isTurnDue) { break }
      ask(record.nodes + record.pathNodes)
      askForTranslation(of: record)
      askAboutNameServers(of: record)
    }
    var state = record.needsTranslation && record.name == nil ? nil : record.decide()
    if state == nil || state?.isIdentical(to: .unknown) ?? false {
      state = Reachability(status: .undetermined, reason: .nameNotResolved)
    }
    var answer = state ?? .denied
    answer.realtime = time.realtime()
    return (answer, isTurnDue)
  }

  /// Returns whether to ask: at first, and again if an event waited then, since the answer may have used links and
  /// addresses that no longer exist. What is in doubt is not waited for, but polled at once.
  private mutating func isToAsk(_ round: Int, _ isTurnDue: inout Bool) -> Bool {
    if round == 0 { return true }
    var change = NetworkChange()
    source.catchUp(into: &change)
    if change.isInDoubt { source.poll(into: &change) }
    if change.isEmpty { return false }
    mark(change)
    isTurnDue = true
    return true
  }

  /// If an IPv4 address has no path of its own, asks whether there is an IPv6 path, and for the address behind the
  /// network's NAT64.
  private func askForTranslation(of record: TargetRecord) {
    guard case .address(let address) = record.target.storage, record.isTranslatable,
      TargetRecord.best(record.nodes)?.status == .unreachable
    else { return }
    record.pathNodes = record.initialPathQueries.map(QueryNode.init)
    record.name = names[NAT64Prefix.discoveryName]
    record.translatedNodes = NAT64Prefix.prefixes(in: record.name?.addresses ?? [])
      .map { QueryNode(record.query($0.embed(address.unmapped))) }
    ask(record.pathNodes + record.translatedNodes)
  }

  private func askAboutNameServers(of record: TargetRecord) {
    if !record.needsNameServers { return }
    let nodes = record.serverQueries(source.nameServers ?? []).map(QueryNode.init)
    ask(nodes)
    record.serverNodes = nodes
  }

  /// Asks at once. The nodes belong to the caller alone.
  private func ask(_ nodes: [QueryNode]) {
    source.answer(nodes.map(\.query)) { position, answer in nodes[position].answer = answer }
  }
}
