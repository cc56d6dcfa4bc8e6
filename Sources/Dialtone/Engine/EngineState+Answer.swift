// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension EngineState {
  /// What is true of a target now. No name is looked up: those that monitors' look-ups have found are all there is.
  ///
  /// - Returns: The state, and whether a turn is due: what was read on the way may concern the monitors.
  func answer(
    _ target: ReachabilityTarget, _ configuration: ReachabilityConfiguration
  ) -> (state: Reachability, isTurnDue: Bool) {
    let record = TargetRecord(MonitorStorage(target, configuration), target, Epoch())
    record.nodes = record.initialQueries.map(DestinationNode.init)
    if case .host(let host) = target.storage {
      record.name = name(NameRecord.Key(host: host.folded, family: configuration.family))
      record.nodes = record.allowed(record.name?.addresses ?? []).map(record.query).map(DestinationNode.init)
      record.pathNodes = record.internetQueries.map(DestinationNode.init)
    }

    let realtime = EngineClock.realtime()
    var isTurnDue = false
    // As in a turn: what is answered while events wait to be read may go by links and addresses that are no more.
    for round in 0..<Self.roundLimit {
      let hasChanged = readEvents()
      isTurnDue = isTurnDue || hasChanged
      if round > 0, !hasChanged { break }
      ask(record.nodes + record.pathNodes)
      askForTranslation(of: record)
    }
    var state = record.needsTranslation && record.name == nil ? nil : record.decide()
    if state == nil || state?.isIdentical(to: .unknown) ?? false {
      state = Reachability(status: .undetermined, reason: .nameNotResolved)
    }
    var answer = state ?? .denied
    answer.realtime = realtime
    return (answer, isTurnDue)
  }

  /// Where an IPv4 address has no path of its own: whether there is an IPv6 one, and the address behind the network's NAT64.
  private func askForTranslation(of record: TargetRecord) {
    guard case .address(let address) = record.target.storage, record.usesTranslation(address),
      TargetRecord.best(record.nodes)?.status == .unreachable
    else { return }
    record.pathNodes = record.internetQueries.filter { $0.address?.family == .ipv6 }.map(DestinationNode.init)
    record.name = name(NAT64Prefix.discoveryName)
    record.translatedNodes = NAT64Prefix.prefixes(in: record.name?.addresses ?? [])
      .map { DestinationNode(record.query($0.embed(address.unmapped))) }
    ask(record.pathNodes + record.translatedNodes)
  }
}
