// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone
internal import Netlink

/// The part of a diagnosis that blocks: kernel, names, neighbours, connections, proxy. It gathers evidence, has the
/// pure rules make steps of it, and says each step at once. Belongs to one thread.
final class DiagnosisWork {
  struct Findings: Sendable {
    var steps: [DiagnosisStep] = []
    /// What is told behind the exchange.
    var lastSteps: [DiagnosisStep] = []
    /// Whether the target takes connections.
    var isConnected = false
  }

  /// What is known of the way in one family.
  private struct Way {
    let family: IPAddress.Family
    var kernel: KernelEvidence
    /// Whether a step has a fault, so that what comes behind is not tried.
    var isBroken = false
    var probe = NeighbourStep.Probe()
    var socket: ProbeSocket?

    /// Whether the target is a broadcast address or a multicast group.
    var leadsToMany: Bool { kernel.route.map { [.broadcast, .multicast].contains($0.type) } ?? false }
  }

  /// How many addresses of a family are connected to.
  private static let addressLimit = 3
  /// How long a neighbour that was never known may take: the kernel asks three times, a second apart (arp(7)).
  private static let neighbourPatience: Int64 = 3_600
  /// How long a neighbour that was known may take to refuse a datagram; it need not.
  private static let answerPatience: Int64 = 150

  private let subject: DiagnosisSubject
  private let configuration: DiagnosisConfiguration
  private let patience: Patience
  private let emit: (Diagnosis.Event) -> Void
  private var findings = Findings()

  init(
    _ subject: DiagnosisSubject, _ configuration: DiagnosisConfiguration, _ patience: Patience,
    emit: @escaping (Diagnosis.Event) -> Void
  ) {
    self.subject = subject
    self.configuration = configuration
    self.patience = patience
    self.emit = emit
  }

  func run() -> Findings {
    if let history = HistoryStep.step(configuration.history, now: .now) { tell(history) }
    do throws(ReachabilityError) {
      diagnose(try KernelWitness())
    } catch {
      tell(
        DiagnosisStep(
          .link, .fault, error.message, cause: .denied, confidence: .certain,
          advice: DiagnosisAdvice.act(on: .denied, link: nil)))
    }
    return findings
  }

  private func tell(_ step: DiagnosisStep) {
    findings.steps.append(step)
    emit(.step(step))
  }

  private var families: [IPAddress.Family] { configuration.family.map { [$0] } ?? [.ipv4, .ipv6] }

  private func path(_ transport: ReachabilityConfiguration.Transport = .tcp, port: UInt16?) -> ReachabilityConfiguration
  {
    var path = ReachabilityConfiguration()
    path.interface = configuration.interface
    path.transport = transport
    path.port = port
    return path
  }

  private func diagnose(_ witness: KernelWitness) {
    let names = findNames(witness)
    // 0.0.0.0 and :: are what filters of names answer, and nobody's address.
    let known = names.addresses.filter { !$0.isUnspecified }
    let isTargetKnown = !known.isEmpty
    let addresses = isTargetKnown ? known : ReachabilityTarget.internet.explainedAddresses(.init())
    var ways = families.compactMap { family -> Way? in
      guard let address = addresses.first(where: { $0.family == family }) else { return nil }
      return Way(family: family, kernel: witness.evidence(address, path(port: subject.ports.first)))
    }
    emit(.began(.link))
    for index in ways.indices {
      for step in KernelSteps.steps(ways[index].kernel) {
        tell(step)
        if step.outcome == .fault { ways[index].isBroken = true }
      }
    }
    probeNeighbours(&ways, witness)
    for index in ways.indices where !ways[index].isBroken { explainTunnel(&ways[index], witness) }
    tell(NameStep.step(names))
    if isTargetKnown, !isInternet { connect(known, &ways, names, witness) }
    findings.lastSteps.append(ProxyStep.step(proxy(witness)))
  }

  private var isInternet: Bool { if case .internet = subject.host { true } else { false } }

  // MARK: Names

  private func findNames(_ witness: KernelWitness) -> NameEvidence {
    let resolver = ResolverConfiguration()
    let inquiry = NameInquiry(configuration: resolver, patience: patience) { server in
      let evidence = witness.evidence(server, self.path(.udp, port: 53))
      if evidence.state.isReachable || evidence.state.status == .undetermined { return nil }
      return "no way to it: \(evidence.state.reason?.description ?? "no reason is known")"
    }
    switch subject.host {
    case .address(let address):
      return NameEvidence(name: address.description, source: .literal, addresses: [address])
    case .internet:
      emit(.began(.name))
      return inquiry.evidence("", families: families)
    case .name(let name):
      emit(.began(.name))
      var evidence = inquiry.evidence(name.ascii, families: families)
      // mDNS, LDAP and the like: the system's resolver alone asks them.
      let isLocalName = name.ascii == "localhost" || name.ascii.hasSuffix(".localhost")
      let needsTCP = evidence.servers.contains(where: \.needsTCP)
      if evidence.addresses.isEmpty, resolver.hasOtherSources || isLocalName || needsTCP {
        askSystem(name, &evidence)
      }
      return evidence
    }
  }

  private func askSystem(_ name: HostName, _ evidence: inout NameEvidence) {
    if patience.isOver { return }
    do throws(ReachabilityError) {
      let state = try Reachability.blockingLookup(
        of: .host(name.ascii), timeout: min(.seconds(3), .nanoseconds(patience.rest / 3)))
      guard let address = state.destination else { return }
      evidence.source = .system
      evidence.addresses = [address.unmapped]
    } catch {
      // It says no more than the name servers did.
    }
  }

  // MARK: Neighbours

  private func probeNeighbours(_ ways: inout [Way], _ witness: KernelWitness) {
    if ways.contains(where: { !$0.isBroken && $0.kernel.neighbour != nil }) { emit(.began(.neighbour)) }
    var isUnknown = false
    for index in ways.indices where !ways[index].isBroken {
      guard let neighbour = ways[index].kernel.neighbour, neighbour.isResolved, let link = ways[index].kernel.link,
        !patience.isOver
      else { continue }
      ways[index].socket = DatagramProbe.wake(neighbour.address, link: link.index)
      ways[index].probe.wasSent = ways[index].socket != nil
      isUnknown = true
    }
    let usual = patience.moment(in: Self.answerPatience)
    let longest = patience.moment(in: Self.neighbourPatience)
    while isUnknown, !patience.isOver {
      isUnknown = false
      let now = TimeSource.system.now()
      for index in ways.indices where ways[index].socket != nil && !ways[index].probe.hasAnswered {
        look(&ways[index], witness)
        let state = ways[index].kernel.neighbour?.state
        // A failed entry from before is asked for anew by what was sent.
        let isSettled = state.map { !$0.isDisjoint(with: [.reachable, .permanent, .noARP]) } ?? false
        let isAsked = state?.contains(.incomplete) ?? false
        let isFailed = state?.contains(.failed) ?? false
        if ways[index].probe.hasAnswered || isSettled { continue }
        if isFailed, now > usual { continue }
        if isAsked || isFailed || state == nil ? now < longest : now < usual { isUnknown = true }
      }
      if !isUnknown { break }
      let list = ways.compactMap { $0.socket.map { ($0.descriptor, wantsWriting: false) } }
      if patience.wait(list, until: patience.moment(in: 50)).contains(where: { $0.position < 0 }) { return }
    }
    for way in ways.indices {
      // Behind a fault there is nobody to ask for.
      if ways[way].isBroken {
        tell(DiagnosisStep(.neighbour, family: ways[way].family, .skipped, "not looked at"))
        continue
      }
      let step = NeighbourStep.step(
        ways[way].kernel.neighbour, ways[way].probe, family: ways[way].family, link: ways[way].kernel.link)
      tell(step)
      if step.outcome == .fault { ways[way].isBroken = true }
    }
  }

  private func look(_ way: inout Way, _ witness: KernelWitness) {
    guard let neighbour = way.kernel.neighbour, let link = way.kernel.link else { return }
    if DatagramProbe.hasAnswered(way.socket, neighbour.address) { way.probe.hasAnswered = true }
    way.kernel.neighbour?.state = witness.neighbourState(neighbour.address, link: link.index)
  }

  // MARK: Tunnels

  private func explainTunnel(_ way: inout Way, _ witness: KernelWitness) {
    guard let link = way.kernel.link, link.kind == .tunnel, way.kernel.state.isReachable else { return }
    var evidence = TunnelEvidence(link: link.name, kind: link.infoKind ?? "tunnel", peer: .unknown)
    if link.infoKind == "wireguard" {
      switch witness.wireGuard(link.name) {
      case .denied: evidence.peer = .denied
      case .unknown: evidence.peer = .unknown
      case .device(let device): evidence.peer = peer(of: device, for: way.kernel.target, witness)
      }
    }
    let step = TunnelStep.step(evidence, family: way.family)
    tell(step)
    if step.outcome == .fault { way.isBroken = true }
  }

  private func peer(
    of device: WireGuardDevice, for target: IPAddress, _ witness: KernelWitness
  ) -> TunnelEvidence.Peer {
    guard let peer = device.peer(for: target.bits) else { return .none }
    let age =
      peer.lastHandshake == 0 ? nil : max(0, UTCTimestamp.now.durationSince1970.secondsClamped - peer.lastHandshake)
    guard let endpoint = peer.endpoint.map({ IPAddress($0) }) else {
      return .known(endpoint: nil, handshakeAge: age, beneath: nil)
    }
    var outer = ReachabilityConfiguration()
    outer.mark = device.mark
    outer.transport = .udp
    outer.port = peer.port
    let beneath = KernelSteps.steps(witness.evidence(endpoint, outer)).first { $0.outcome == .fault }
    return .known(endpoint: "\(endpoint) port \(peer.port)", handshakeAge: age, beneath: beneath)
  }

  // MARK: Connections

  private func connect(
    _ addresses: [IPAddress], _ ways: inout [Way], _ names: NameEvidence, _ witness: KernelWitness
  ) {
    let open = ways.filter { !$0.isBroken && !$0.leadsToMany }
    for way in ways where way.isBroken {
      tell(DiagnosisStep(.connect, family: way.family, .skipped, "not tried: \(subject.text) cannot be reached"))
    }
    for way in ways where !way.isBroken && way.leadsToMany {
      tell(DiagnosisStep(.connect, family: way.family, .skipped, "not tried: TCP connects to one host, not to many"))
    }
    if open.isEmpty { return }
    if patience.isOver { return tell(DiagnosisStep(.connect, .skipped, DiagnosisRules.timeIsUp)) }
    emit(.began(.connect))
    let tried = open.flatMap { way in
      addresses.filter { $0.family == way.family }.prefix(Self.addressLimit)
    }
    let interface = configuration.interface == nil ? nil : open[0].kernel.link?.index
    let connector = Connector(tried, ports: subject.ports, interface: interface, patience)
    connector.wait(upTo: Connector.silence)
    // A router that was known may have gone: the kernel takes some eight seconds to be sure (DELAY, then three probes).
    let isUnsure = { (way: Way) in connector.isSilent(way.family) && self.isUnsure(way, witness) }
    if open.contains(where: isUnsure) {
      connector.wait(upTo: 9_000) { !open.contains(where: isUnsure) }
    }
    for way in open {
      let evidence = connectEvidence(way, connector, names, witness)
      let step = ConnectStep.step(evidence, family: way.family)
      tell(step)
      if step.outcome == .ok { findings.isConnected = true }
      guard subject.url == nil, step.outcome == .ok, let address = tried.first(where: { $0.family == way.family }),
        let mtu = way.kernel.link?.mtu, !address.isLoopback, !way.kernel.state.flags.contains(.isLocalAddress)
      else { continue }
      emit(.began(.pathMTU))
      tell(
        ExchangeSteps.pathMTU(
          DatagramProbe.pathMTU(to: address, mtu: mtu, interface: interface, patience), family: way.family))
    }
  }

  /// Whether the kernel is still finding out whether the gateway is there.
  private func isUnsure(_ way: Way, _ witness: KernelWitness) -> Bool {
    guard let neighbour = way.kernel.neighbour, let link = way.kernel.link, neighbour.isResolved,
      !way.probe.hasAnswered
    else { return false }
    return witness.neighbourState(neighbour.address, link: link.index).map {
      !$0.isDisjoint(with: [.stale, .delay, .probe, .incomplete])
    } ?? false
  }

  private func connectEvidence(
    _ way: Way, _ connector: Connector, _ names: NameEvidence, _ witness: KernelWitness
  ) -> ConnectEvidence {
    var evidence = ConnectEvidence(attempts: connector.results(way.family), isAnyPort: subject.port == nil)
    evidence.isHurried = connector.isHurried
    for index in evidence.attempts.indices {
      guard let other = connector.otherWay(of: evidence.attempts[index]) else { continue }
      evidence.attempts[index].otherWay = witness.linkName(other)
    }
    evidence.gateway = way.kernel.state.gateway
    if let neighbour = way.kernel.neighbour, let link = way.kernel.link, neighbour.isResolved {
      evidence.isNeighbourFailed =
        witness.neighbourState(neighbour.address, link: link.index)?.contains(.failed) ?? false
    }
    if connector.isSilent(way.family), let first = evidence.attempts.first {
      evidence.isDatagramForbidden = DatagramProbe.isForbidden(
        first.address, port: first.port, interface: configuration.interface == nil ? nil : way.kernel.link?.index)
    }
    if let link = way.kernel.link, link.kind == .tunnel {
      evidence.tunnel = link.name
      evidence.hasTunnelAnswered =
        way.probe.hasAnswered
        || names.servers.contains { server in
          server.hasAnswered && server.address.family == way.family
            && witness.evidence(server.address, path(.udp, port: 53)).link?.name == link.name
        }
    }
    return evidence
  }

  // MARK: Proxy

  private func proxy(_ witness: KernelWitness) -> ProxyEvidence? {
    guard let url = subject.url else { return nil }
    let variable = url.isSecure ? "https_proxy" : "http_proxy"
    do throws(SiteError) {
      guard let server = try ProxySettings.environment.proxy(for: url) else { return nil }
      emit(.began(.proxy))
      var evidence = ProxyEvidence(variable: variable, server: "", result: .notTried)
      var addresses: [IPAddress] = []
      switch server.host {
      case .address(let address):
        addresses = [address.unmapped]
        evidence.server = "\(address):\(server.port)"
      case .name(let name):
        evidence.server = "\(name.text):\(server.port)"
        let inquiry = NameInquiry(configuration: ResolverConfiguration(), patience: patience) { _ in nil }
        let found = inquiry.evidence(name.ascii, families: families)
        addresses = found.addresses
        if addresses.isEmpty, !found.isHurried {
          evidence.result = found.servers.contains(where: \.saysUnknown) ? .unknownName : .unansweredName
        }
      }
      if addresses.isEmpty || patience.isOver { return evidence }
      let connector = Connector(Array(addresses.prefix(2)), ports: [server.port], interface: nil, patience)
      connector.wait(upTo: 2_000) { connector.isConnected(.ipv4) || connector.isConnected(.ipv6) }
      let results = connector.results(.ipv4) + connector.results(.ipv6)
      evidence.result = ProxyEvidence.Result(results, isHurried: patience.isOver)
      return evidence
    } catch {
      return ProxyEvidence(variable: variable, server: "", result: .unreadable(error.message))
    }
  }
}

extension ProxyEvidence.Result {
  fileprivate init(_ attempts: [ConnectEvidence.Attempt], isHurried: Bool) {
    var words: String?
    for attempt in attempts {
      switch attempt.result {
      case .connected:
        self = .connected
        return
      case .reset: words = "it refuses connections"
      case .refusal(let refusal): words = "\(refusal.offender) says: \(refusal.words)"
      case .failed(_, let text): words = text
      case .silent: break
      }
    }
    self = words.map { .failed($0) } ?? (isHurried ? .notTried : .silent)
  }
}
#endif
