// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Dialtone

/// Asks the configured name servers for one name, each by itself, to see which of them does what. Runs on a thread of
/// its own.
struct NameInquiry {
  let configuration: ResolverConfiguration
  let patience: Patience
  /// The interface that is asked about; what is heard by another one says nothing of its router.
  var interface: String?
  /// Whether a router to a server, or the server itself, does not answer the kernel.
  var isNeighbourLost = { (way: KernelEvidence) in way.neighbour?.state?.isUnanswered == true }
  /// What the kernel knows of the way to a server.
  let way: (IPAddress) -> KernelEvidence

  /// Finds the addresses of a name, or only whether the servers answer for the root if the name is empty.
  func evidence(_ name: String, families: [IPAddress.Family]) -> NameFinding {
    var evidence = NameFinding(name: name.isEmpty ? "the root" : name, isRootOnly: name.isEmpty)
    evidence.isForbidden = configuration.isForbidden
    if name.isEmpty {
      evidence.servers = ask("", families: [.ipv4], &evidence.isHurried, at: configuration.servers)
      return evidence
    }
    evidence.rotates = configuration.rotates
    // What programs get of the file behind servers, the system's resolver tells.
    let known = configuration.hostsAddresses(of: name).filter { families.contains($0.family) }
    if !known.isEmpty, configuration.asksHostsFirst { return NameFinding(name: name, source: .hosts, addresses: known) }
    var before: [NameFinding.Server] = []
    for candidate in configuration.candidates(for: name) {
      evidence.tried.append(candidate)
      let servers = ask(candidate, families: families, &evidence.isHurried, before: before, isWhole: candidate == name)
      if evidence.isHurried, !servers.contains(where: \.hasAnswered) { break }
      let found = servers.first { !$0.addresses.isEmpty }
      // What the name itself was answered says more than what a search domain was.
      if evidence.servers.isEmpty || candidate == name || found != nil { evidence.servers = servers }
      if let found {
        evidence.foundAs = candidate
        evidence.addresses = found.addresses
        return evidence
      }
      // If no server answers anything, another name gets no answer either.
      if !servers.contains(where: \.isAlive) { break }
      if before.isEmpty { before = servers }
    }
    return evidence
  }

  /// Asks again, twice, or once if there are several servers, if replies contradict each other or what programs get.
  /// What differs from time to time is unsteady, and what does not is as it is.
  func unsteady(
    _ finding: NameFinding, families: [IPAddress.Family], system: () -> NameFinding.SystemReply
  ) -> NameFinding.Unsteady? {
    let isFailing = finding.servers.contains { $0.replies.contains(where: \.isUseless) }
    let isSystemOdd = !finding.addresses.isEmpty ? finding.lacksInSystem : finding.system?.families.isEmpty == false
    // What was lost of one type may have been lost of the other one.
    let isSilentInPart = finding.servers.contains { $0.wasAskedAgain && $0.replies.contains(.silent) }
    let isLate = finding.isLateByItself || isSilentInPart
    guard finding.source == .dns, !finding.isHurried, !finding.isLate, !finding.rotates || finding.denier == nil,
      let name = finding.foundAs ?? finding.tried.last,
      isLate || isSystemOdd && (isFailing || !finding.addresses.isEmpty)
        || finding.servers.contains(where: \.contradictsItself)
    else { return nil }
    var rounds = [finding.servers]
    var systems = [finding.system].compactMap { $0?.families }
    for _ in 0..<(finding.servers.count > 1 || isSilentInPart ? 1 : 2) where !patience.isOver {
      var isHurried = false
      let again = ask(name, families: families, &isHurried, at: finding.servers.map(\.address))
      if isHurried { break }
      rounds.append(again)
      // If it has got no answer, the time was up. One that takes long is asked once more alone.
      let isSystemAsked = isSystemOdd || isLate && rounds.count == 2
      if isSystemAsked, case let reply = system(), reply != .silent { systems.append(reply.families) }
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
      // What is lost on the way there is what programs wait for. Else the server takes so long.
      let losses = rounds.count { $0[position].wasAskedAgain }
      if losses > 0, losses < rounds.count, isSystemOdd || isLate {
        return NameFinding.Unsteady(finding.servers[position].address, failures: losses, tries: rounds.count)
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
    var round = NameRound(name, families, at: addresses, hasControl: hasControl, of: self)
    round.converse()
    if !round.isWhole { isHurried = true }
    return round.finished()
  }
}
#endif
