// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Netlink

/// The rules that turn what the kernel knows into steps. Pure.
///
/// The steps come in the order in which a packet meets them: link, address, rule, route, source. Behind the first one
/// with a fault, the others are skipped: what they would say follows from it.
package struct KernelSteps: Sendable {
  private let evidence: KernelEvidence
  private var steps: [DiagnosisStep] = []

  /// Returns the steps for one address, without its neighbour.
  package static func steps(_ evidence: KernelEvidence) -> [DiagnosisStep] {
    var rules = KernelSteps(evidence)
    let kinds: [(DiagnosisStep.Kind, (KernelSteps) -> DiagnosisStep)] = [
      (.link, { $0.link }), (.address, { $0.address }), (.rule, { $0.rule }), (.route, { $0.route }),
      (.source, { $0.source }),
    ]
    for (kind, step) in kinds {
      if let fault = rules.steps.first(where: { $0.outcome == .fault }) {
        rules.steps.append(
          DiagnosisStep(kind, family: evidence.target.family, .skipped, "not looked at: \(fault.kind) comes first"))
      } else {
        rules.steps.append(step(rules))
      }
    }
    return rules.steps
  }

  private init(_ evidence: KernelEvidence) { self.evidence = evidence }

  private var target: IPAddress { evidence.target }
  private var family: IPAddress.Family { target.family }
  private var familyName: String { family == .ipv4 ? "IPv4" : "IPv6" }
  private var isLocal: Bool {
    target.isLoopback || evidence.state.flags.contains(.isLocalAddress) || evidence.route?.type == .local
  }

  private func step(
    _ kind: DiagnosisStep.Kind, _ outcome: DiagnosisStep.Outcome, _ text: String,
    _ evidence: [DiagnosisEvidence] = [], _ cause: DiagnosisCause? = nil,
    _ confidence: DiagnosisConfidence = .certain, link: KernelEvidence.LinkFacts? = nil
  ) -> DiagnosisStep {
    DiagnosisStep(
      kind, family: family, outcome, text, evidence: evidence, cause: cause, confidence: confidence,
      advice: cause.flatMap { DiagnosisAdvice.act(on: $0, link: link ?? self.evidence.link, target: target) })
  }

  // MARK: Link

  private var link: DiagnosisStep {
    if isLocal {
      let facts = [DiagnosisEvidence("interface", "lo"), DiagnosisEvidence("isUp", flag: evidence.isLoopbackUp)]
      return evidence.isLoopbackUp
        ? step(.link, .ok, "\(target) is this machine, over lo", facts)
        : step(.link, .fault, "lo is down: this machine cannot reach itself", facts, .loopbackDown)
    }
    if evidence.state.reason == .denied { return step(.link, .fault, "the kernel does not say", [], .denied) }
    if let asked = evidence.askedInterface, evidence.link == nil {
      return step(
        .link, .fault, "there is no interface \(asked)", [DiagnosisEvidence("interface", asked)], .noInterface)
    }
    if evidence.links.isEmpty {
      return step(.link, .fault, "there is no interface besides lo", [], .noInterface)
    }
    if evidence.state.reason == .noInterface {
      return step(.link, .fault, "the zone of \(target) is no interface", [], .noInterface)
    }
    guard let link = faultyLink ?? evidence.link else {
      return step(.link, .doubtful, "no interface can be told to be the one", interfaces)
    }
    let facts = self.facts(link)
    // Several hops, or a nexthop object: which link it is, is the route's matter.
    if hasDeadHops {
      return step(.link, .doubtful, "\(link.words): \(words(link.reason))", facts)
    }
    guard let cause = cause(link.reason), !link.isOperating else {
      return step(.link, .ok, "\(link.words) is up\(link.details)", facts)
    }
    // Where nothing points to the link, it is only the likeliest of several.
    let isNamed = evidence.askedInterface != nil || evidence.route != nil || evidence.state.reason == link.reason
    let confidence: DiagnosisConfidence = isNamed || evidence.links.count == 1 ? .certain : .likely
    return step(.link, .fault, "\(link.words): \(words(link.reason))", facts, cause, confidence, link: link)
  }

  /// The link that would have to change, if no other could carry the packets instead.
  private var faultyLink: KernelEvidence.LinkFacts? {
    if let link = evidence.link { return link.isOperating ? nil : link }
    return evidence.links.contains(where: \.isOperating) ? nil : evidence.links.first
  }

  private func cause(_ reason: Reachability.Reason?) -> DiagnosisCause? {
    switch reason {
    case .linkDown: .linkDown
    case .noCarrier: .noCarrier
    case .dormant: .dormant
    case .noSession: .noSession
    case .radioBlocked: .radioBlocked
    default: nil
    }
  }

  private func words(_ reason: Reachability.Reason?) -> String { reason?.description ?? "it works" }

  private func facts(_ link: KernelEvidence.LinkFacts) -> [DiagnosisEvidence] {
    [
      DiagnosisEvidence("interface", link.name), DiagnosisEvidence("kind", link.kind.identifier),
      DiagnosisEvidence("isUp", flag: link.isUp), DiagnosisEvidence("isOperating", flag: link.isOperating),
      DiagnosisEvidence("reason", link.reason?.identifier), DiagnosisEvidence("mtuBytes", number: link.mtu),
      DiagnosisEvidence("speedMegabits", number: link.speed),
      DiagnosisEvidence("isFullDuplex", flag: link.isFullDuplex),
      DiagnosisEvidence("manager", link.manager?.rawValue),
    ]
  }

  private var interfaces: [DiagnosisEvidence] {
    [DiagnosisEvidence("interfaces", list: evidence.links.map(\.name))]
  }

  // MARK: Addresses

  private var address: DiagnosisStep {
    if isLocal || target.isLinkLocal { return step(.address, .ok, "none is needed to reach \(target)", addressFacts) }
    // An address of another link serves as well.
    let usable = evidence.addresses.filter(\.isUsable)
    let here = evidence.link.map { link in evidence.addresses.filter { $0.link == link.index } } ?? evidence.addresses
    if !usable.isEmpty, evidence.state.reason != .noAddress {
      let own = usable.first { $0.address == evidence.state.source } ?? usable.first { here.contains($0) } ?? usable[0]
      if own.isDeprecated {
        return step(.address, .doubtful, "\(own.words) is deprecated, and there is no better one", addressFacts)
      }
      return step(.address, .ok, "\(own.words)\(own.lifetime)", addressFacts)
    }
    let on = evidence.link.map { " on \($0.name)" } ?? ""
    if let duplicate = here.first(where: \.isDuplicate) {
      return step(
        .address, .fault, "another host has \(duplicate.address), which \(on.dropFirst(4)) would have", addressFacts,
        .duplicateAddress)
    }
    if let tentative = here.first(where: { $0.isTentative && !$0.address.isLinkLocal }) {
      return step(
        .address, .fault, "\(tentative.address)\(on) is tentative: it is still looked for elsewhere", addressFacts,
        .noAddress)
    }
    if let linkLocal = here.first(where: \.address.isLinkLocal) {
      return step(
        .address, .fault, "there is only a link-local \(familyName) address\(on), \(linkLocal.address)", addressFacts,
        .noAddress)
    }
    // Where nothing points to one link, each that works may be meant.
    let isNamed = evidence.askedInterface != nil || evidence.route != nil || evidence.state.interface != nil
    let working = evidence.links.filter(\.isOperating).map(\.name)
    let anywhere = isNamed || working.count < 2 ? on : " on \(working.joined(separator: ", "))"
    return step(.address, .fault, "there is no \(familyName) address\(anywhere)", addressFacts, .noAddress)
  }

  private var addressFacts: [DiagnosisEvidence] {
    func texts(_ isWanted: (KernelEvidence.AddressFacts) -> Bool) -> [String] {
      evidence.addresses.filter(isWanted).map(\.words)
    }
    return [
      DiagnosisEvidence("addresses", list: texts { _ in true }),
      DiagnosisEvidence("tentative", list: texts(\.isTentative)),
      DiagnosisEvidence("duplicate", list: texts(\.isDuplicate)),
      DiagnosisEvidence("deprecated", list: texts(\.isDeprecated)),
      DiagnosisEvidence("linkLocal", list: texts(\.address.isLinkLocal)),
    ]
  }

  // MARK: Rule and route

  private var rule: DiagnosisStep {
    guard let rule = evidence.rule else {
      return evidence.isTrailComplete && evidence.route == nil
        ? step(.rule, .ok, "no rule refuses packets to \(target)")
        : step(.rule, .skipped, "the rules could not be followed to the end")
    }
    let facts = [
      DiagnosisEvidence("priority", number: rule.priority), DiagnosisEvidence("rule", rule.text),
      DiagnosisEvidence("refuses", flag: rule.refuses),
    ]
    let text = "\(rule.priority): \(rule.text)"
    if rule.refuses, !evidence.state.isReachable {
      return step(
        .rule, .fault, "the rule \(text) refuses packets to \(target)", facts, .ruleRefuses,
        evidence.isTrailComplete ? .certain : .likely)
    }
    return step(.rule, .ok, text, facts)
  }

  private var hasDeadHops: Bool {
    guard let route = evidence.route, route.hops.count > 1 || route.nexthopID != nil else { return false }
    return route.hops.allSatisfy { $0.reason != nil }
  }

  private var route: DiagnosisStep {
    guard let route = evidence.route else {
      let missing = step(.route, .fault, "there is no route to \(target)", [], .noRoute)
      switch evidence.state.reason {
      // The walk through rules and routes did not find what the kernel says there is.
      case .prohibited, .blackhole, .unreachableRoute:
        return step(
          .route, .fault, "a route or a rule refuses packets to \(target): \(words(evidence.state.reason))", [],
          .routeRefuses, .likely)
      default: return missing
      }
    }
    let facts = self.facts(route)
    let text = "\(route.words(family)) (table \(RouteTableName.text(route.table)))"
    if let refusal = route.refusal {
      return step(.route, .fault, "the route \(text) refuses the packets: \(refusal)", facts, .routeRefuses)
    }
    if hasDeadHops {
      let hops = route.hops.map { "\($0.words): \(words($0.reason))" }.joined(separator: "; ")
      return step(.route, .fault, "no next hop of \(route.name(family)) works: \(hops)", facts, .routeDead)
    }
    if evidence.state.status == .unreachable, let hop = route.hops.first, let reason = hop.reason {
      return step(
        .route, .fault, "the next hop of \(route.name(family)) does not work: \(words(reason))", facts, .routeDead)
    }
    return step(.route, .ok, text, facts)
  }

  private func facts(_ route: KernelEvidence.RouteFacts) -> [DiagnosisEvidence] {
    [
      DiagnosisEvidence("table", RouteTableName.text(route.table)),
      DiagnosisEvidence("type", route.typeName),
      DiagnosisEvidence("destination", route.name(family)),
      DiagnosisEvidence("metric", number: route.metric),
      DiagnosisEvidence("nexthop", number: route.nexthopID),
      DiagnosisEvidence("hops", list: route.hops.map(\.words)),
      DiagnosisEvidence("expiresInSeconds", number: route.expiresIn),
    ]
  }

  // MARK: Source

  private var source: DiagnosisStep {
    if let source = evidence.state.source {
      let facts = [DiagnosisEvidence("source", source.description)]
      let owner = evidence.addresses.first { $0.address == source }
      if let link = evidence.link, let owner, owner.link != link.index, !isLocal {
        let name = evidence.links.first { $0.index == owner.link }?.name ?? "another interface"
        return step(
          .source, .doubtful, "\(source), which belongs to \(name), while packets leave by \(link.name)", facts)
      }
      return step(.source, .ok, "\(source)", facts)
    }
    if evidence.state.reason == .noAddress {
      return step(.source, .fault, "no address of this machine can be the source", [], .noAddress)
    }
    if !evidence.state.isReachable, let reason = evidence.state.reason {
      return step(.source, .fault, "the kernel sends nothing: \(reason)", [], .noRoute, .likely)
    }
    return step(.source, .skipped, "the kernel names none")
  }
}

extension KernelEvidence.LinkFacts {
  /// Such as "wired (eth0)".
  package var words: String { "\(kind) (\(name))" }

  fileprivate var details: String {
    var parts: [String] = []
    if let speed { parts.append("\(speed) Mbit/s") }
    if let isFullDuplex { parts.append(isFullDuplex ? "full duplex" : "half duplex") }
    if let mtu { parts.append("MTU \(mtu)") }
    return parts.isEmpty ? "" : ": " + parts.joined(separator: ", ")
  }
}

extension KernelEvidence.AddressFacts {
  fileprivate var words: String { "\(address)/\(prefixLength)" }
  fileprivate var lifetime: String { validFor.map { ", valid for \($0) s" } ?? "" }
}

extension KernelEvidence.HopFacts {
  package var words: String {
    let parts = [gateway.map { "via \($0)" }, link.map { "dev \($0)" }].compactMap(\.self)
    return parts.isEmpty ? "no link" : parts.joined(separator: " ")
  }
}

extension KernelEvidence.RouteFacts {
  fileprivate func name(_ family: IPAddress.Family) -> String {
    guard let destination, prefixLength > 0 else { return "default" }
    let isHost = prefixLength == (family == .ipv4 ? 32 : 128)
    return isHost ? destination.description : "\(destination)/\(prefixLength)"
  }

  fileprivate var typeName: String {
    switch type {
    case .unicast: "unicast"
    case .local: "local"
    case .broadcast: "broadcast"
    case .anycast: "anycast"
    case .multicast: "multicast"
    case .unreachable: "unreachable"
    case .prohibit: "prohibit"
    case .blackhole: "blackhole"
    case .throw: "throw"
    default: "type \(type.rawValue)"
    }
  }

  fileprivate var refusal: Reachability.Reason? {
    switch type {
    case .unreachable: .unreachableRoute
    case .prohibit: .prohibited
    case .blackhole: .blackhole
    default: nil
    }
  }

  fileprivate func words(_ family: IPAddress.Family) -> String {
    var parts = type == .unicast ? [name(family)] : [typeName, name(family)]
    parts += hops.map(\.words)
    if let metric, metric > 0 { parts.append("metric \(metric)") }
    return parts.joined(separator: " ")
  }
}
