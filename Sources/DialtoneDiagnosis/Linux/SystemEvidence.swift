// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
public import Dialtone
public import DialtoneSites

/// What the system, and whom it reaches, tell. Every diagnosis has its findings from here unless it is given others.
public struct SystemEvidence: EvidenceSource {
  /// Finds out what a question asks, on a thread of its own if that blocks.
  public func findings(for question: DiagnosisQuestion, in inquiry: DiagnosisInquiry) async -> [Finding] {
    switch question {
    case .exchange: return await SiteExchange(inquiry: inquiry).findings()
    case .proxy: return await ProxyExchange(inquiry: inquiry).findings()
    default: break
    }
    let patience = Patience(until: inquiry.deadline)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isStarted = Thread.start(named: "dialtone-why") {
          continuation.resume(returning: SystemQuestion(inquiry: inquiry, patience: patience).findings(for: question))
        }
        if !isStarted { continuation.resume(returning: [.unasked(question.kind, nil, .shortage)]) }
      }
    } onCancel: {
      patience.cancel()
    }
  }
}

extension EvidenceSource where Self == SystemEvidence {
  /// What the system, and whom it reaches, tell.
  public static var system: SystemEvidence { SystemEvidence() }
}

extension Diagnosis {
  /// Makes a diagnosis of a target, which begins when you iterate.
  ///
  /// - Parameters:
  ///   - target: The Internet, a host or an address, perhaps with a port. The local network is taken as the Internet.
  ///   - configuration: How it is made.
  public init(of target: ReachabilityTarget = .internet, configuration: DiagnosisConfiguration = .init()) {
    self.init(of: target, configuration: configuration, environment: .system)
  }

  /// Makes a diagnosis of a site, which is asked over HTTP, too.
  ///
  /// - Parameters:
  ///   - url: The site.
  ///   - configuration: How it is made.
  public init(of url: SiteURL, configuration: DiagnosisConfiguration = .init()) {
    self.init(of: url, configuration: configuration, environment: .system)
  }
}

/// One question to the system. Belongs to one thread, which it blocks.
struct SystemQuestion {
  let inquiry: DiagnosisInquiry
  let patience: Patience

  func findings(for question: DiagnosisQuestion) -> [Finding] {
    if question == .names, case .address(let address)? = inquiry.subject.host {
      return [.name(NameFinding(name: address.description, source: .literal, addresses: [address]))]
    }
    do throws(ReachabilityError) {
      let witness = try KernelWitness()
      switch question {
      case .names: return [.name(names(witness))]
      case .way: return ways(witness)
      case .neighbours: return NeighbourProbe(inquiry: inquiry, patience: patience).findings(witness)
      case .tunnels: return tunnels(witness)
      case .portal: return [.portal(PortalProbe(inquiry: inquiry, patience: patience).finding(witness))]
      case .beyond:
        let finding = BeyondProbe(inquiry: inquiry, patience: patience, witness: witness).finding()
        return [finding.map { .beyond($0) } ?? .unasked(.beyond, nil, .timeIsUp)]
      case .connections: return ConnectionProbe(inquiry: inquiry, patience: patience).findings(witness)
      case .exchange, .proxy: return []
      }
    } catch {
      switch question {
      case .way:
        return standIns.filter { inquiry.families.contains($0.family) }.map {
          .kernel(KernelFinding(.link(.denied), target: $0))
        }
      // Programs look names up, and connect, without asking the kernel.
      case .names: return [systemName].compactMap(\.self)
      case .connections: return blindConnections
      default: return []
      }
    }
  }

  /// What programs get for the target's name; `nil` if that is nothing, or if no name is asked for.
  private var systemName: Finding? {
    guard case .name(let name)? = inquiry.subject.host,
      case .addresses(let found) = SystemLookup(name.ascii, families: inquiry.families).reply(patience)
    else { return nil }
    return .name(NameFinding(name: name.ascii, source: .system, addresses: found))
  }

  /// Connections to the target of whose way nothing is known.
  private var blindConnections: [Finding] {
    let addresses = Array(inquiry.addresses.prefix(ConnectionProbe.addressLimit))
    let connector = Connector(addresses, ports: inquiry.subject.ports, interface: nil, patience)
    connector.wait(upTo: Connector.silence) { connector.connected != nil }
    // Beside a family that works, another one may not be set up.
    let families = inquiry.families.filter { family in
      connector.connected == nil ? addresses.contains { $0.family == family } : connector.isConnected(family)
    }
    return families.map { family in
      var finding = ConnectionFinding(family, connector.results(family))
      (finding.isAnyPort, finding.isHurried) = (inquiry.subject.port == nil, connector.isHurried)
      return .connection(finding)
    }
  }

  // MARK: Names

  private func names(_ witness: KernelWitness) -> NameFinding {
    // Programs ask for names by any interface.
    let path = inquiry.path(.udp, port: 53, byAny: true)
    let nameInquiry = NameInquiry(
      configuration: ResolverConfiguration(), patience: patience, interface: inquiry.configuration.interface,
      isNeighbourLost: { $0.isNeighbourLost(witness) }, way: { witness.evidence($0, path) })
    guard case .name(let name)? = inquiry.subject.host else { return anyName(nameInquiry) }
    return lookUp(name.ascii, nameInquiry)
  }

  /// What servers say of a name, and what programs get.
  private func lookUp(_ name: String, _ nameInquiry: NameInquiry) -> NameFinding {
    let resolver = nameInquiry.configuration
    // What programs get is asked for first: routers limit how many datagrams they let through, or refuse.
    let system = SystemLookup(name, families: inquiry.families)
    _ = system.reply(patience, upTo: 100)
    var finding = nameInquiry.evidence(name, families: inquiry.families)
    let soon = patience.moment(in: 100)
    finding.system = system.reply(patience)
    finding.isLate = TimeSource.system.now() > soon && finding.servers.first?.isSilent == true
    // Programs that ask over TCP do not get what datagrams are answered.
    if !resolver.usesTCP {
      // A check of a site looks it up once more.
      let isLeftToCheck = inquiry.subject.goal == .site && finding.isLateByItself
      finding.unsteady = nameInquiry.unsteady(finding, families: inquiry.families) {
        isLeftToCheck ? .silent : SystemLookup(name, families: inquiry.families).reply(patience)
      }
    }
    let isCut = finding.servers.contains { $0.replies.contains(.truncated) }
    if finding.source == .dns, finding.addresses.isEmpty || isCut || !resolver.asksServers {
      if case .addresses(let addresses)? = finding.system {
        // mDNS, LDAP and the like: the system's resolver alone asks them.
        (finding.source, finding.addresses) = (.system, addresses)
      } else if !resolver.asksServers {
        (finding.source, finding.addresses) = (.none, [])
      }
    }
    return finding
  }

  /// Whether names can be looked up at all. Servers are asked for the root, which those of a network without the
  /// Internet's names answer, too, and then for a root server's name: do programs get what the servers know?
  private func anyName(_ nameInquiry: NameInquiry) -> NameFinding {
    let resolver = nameInquiry.configuration
    // Without search domains. Programs that go by a proxy look no names up.
    let name = RootServers.name + "."
    let matters = resolver.asksServers && !inquiry.hasProxySetting
    if matters, resolver.usesTCP,
      case .addresses(let found) = SystemLookup(name, families: inquiry.families).reply(patience)
    {
      return NameFinding(name: RootServers.name, source: .system, addresses: found)
    }
    var finding = nameInquiry.evidence("", families: inquiry.families)
    if !resolver.asksServers { finding.source = .none }
    guard matters, let first = finding.servers.first(where: \.hasAnswered) else { return finding }
    var named = lookUp(name, nameInquiry)
    named.name = RootServers.name
    return first.deniesRoot || first.ipv4?.code != .success || !named.addresses.isEmpty ? named : finding
  }

  // MARK: The kernel

  /// Addresses of the Internet that stand in for what is not known.
  private var standIns: [IPAddress] { ReachabilityTarget.internet.explainedAddresses(.init()) }

  private func ways(_ witness: KernelWitness) -> [Finding] {
    // All root servers are in the upper half of IPv4, and in two parts of IPv6.
    let others = RootServers.addresses.values.flatMap { $0.suffix(2) } + ["64.0.0.1", "2600::1"]
    let addresses = inquiry.addresses.isEmpty ? standIns + others.compactMap { IPAddress($0) } : inquiry.addresses
    return inquiry.families.flatMap { family -> [Finding] in
      let ways = addresses.lazy.filter { $0.family == family }.prefix(ConnectionProbe.addressLimit).map { address in
        KernelFindings.findings(witness.evidence(address, inquiry.path(port: inquiry.subject.ports.first)))
      }
      let isOpen = { (way: [KernelFinding]) in
        !way.contains(where: \.stopsPackets) && way.last?.evidence?.leadsToMany != true
      }
      // Programs try the next address if there is no way to the first. That one address of the Internet is refused, or
      // another has a route of its own, says nothing of the Internet.
      let isOne = inquiry.addresses.isEmpty && !ways.dropFirst().allSatisfy(isOpen)
      // That a large part of it is refused does.
      let part = ways.first { isOne && !isOpen($0) && (1..<8).contains($0.last?.evidence?.route?.prefixLength ?? 0) }
      return (part ?? (isOne ? nil : ways.first(where: isOpen)) ?? ways.first ?? []).compactMap { finding in
        // Whether the neighbour is there is asked for.
        if case .neighbour = finding.result { nil } else { .kernel(finding) }
      }
    }
  }

  // MARK: Tunnels

  private func tunnels(_ witness: KernelWitness) -> [Finding] {
    inquiry.openWays.compactMap { way in
      guard let link = way.link, link.kind == .tunnel, way.sendsPackets else { return nil }
      let peer: TunnelFinding.Peer =
        link.infoKind == "wireguard" ? peer(ofWireGuard: link.name, for: way.target, witness) : .unknown
      return .tunnel(
        TunnelFinding(way.target.family, interface: link.name, kind: link.infoKind ?? "tunnel", peer: peer))
    }
  }

  /// What the kernel tells of a WireGuard interface, which it does only to a process with CAP_NET_ADMIN.
  private func peer(ofWireGuard name: String, for target: IPAddress, _ witness: KernelWitness) -> TunnelFinding.Peer {
    do throws(NetlinkError) {
      var client = try NetlinkClient(.generic)
      var request = NetlinkRequestBuilder()
      request.appendGetFamily(named: WireGuardDevice.familyName)
      var family: NetlinkMessageType?
      try client.exchange(&request) { _, answer, bytes in
        if case .message(let message) = answer {
          family = GenericNetlinkMessage(message, in: bytes)?.familyID(in: bytes)
        }
      }
      guard let family else { return .unknown }
      var device = WireGuardDevice()
      _ = try client.dump(
        "list the peers of WireGuard", request: { $0.appendGetWireGuard(name, family: family, sequence: $1) }
      ) { step, bytes in
        switch step {
        case .began: device = WireGuardDevice()
        case .message(let message):
          if let message = GenericNetlinkMessage(message, in: bytes) { device.add(message, in: bytes) }
        }
      }
      return peer(of: device, for: target, witness)
    } catch {
      return error.errno == EPERM || error.errno == EACCES ? .denied : .unknown
    }
  }

  private func peer(of device: WireGuardDevice, for target: IPAddress, _ witness: KernelWitness) -> TunnelFinding.Peer {
    guard let peer = device.peer(for: target.bits) else { return .none }
    let age =
      peer.lastHandshake == 0 ? nil : max(0, UTCTimestamp.now.durationSince1970.secondsClamped - peer.lastHandshake)
    guard let endpoint = peer.endpoint.map({ IPAddress($0) }) else {
      return .known(endpoint: nil, port: 0, handshakeAge: age, beneath: nil)
    }
    var outer = inquiry.path(.udp, port: peer.port, byAny: true)
    outer.mark = device.mark
    let beneath = KernelFindings.findings(witness.evidence(endpoint, outer)).first(where: \.isFault)
    return .known(endpoint: endpoint, port: peer.port, handshakeAge: age, beneath: beneath)
  }
}

extension DiagnosisInquiry {
  /// The proxy that the environment names for the subject, or for sites, and the variable.
  var proxySetting: (variable: String, text: String)? {
    ProxySettings.environment.setting(for: subject.url ?? "https://dialtone.invalid/")
  }
  var hasProxySetting: Bool { proxySetting != nil }

  /// The interface that a probe of a way is bound to; `nil` if any counts.
  func interface(_ way: KernelEvidence) -> UInt32? { configuration.interface == nil ? nil : way.link?.index }

  var rest: Duration { .nanoseconds(max(0, deadline - TimeSource.system.now())) }

  /// A way for packets to a port, by the interface that counts or by any.
  func path(
    _ transport: ReachabilityConfiguration.Transport = .tcp, port: UInt16?, byAny: Bool = false
  ) -> ReachabilityConfiguration {
    var path = ReachabilityConfiguration()
    (path.interface, path.transport, path.port) = (byAny ? nil : configuration.interface, transport, port)
    return path
  }
}

/// Asks the system's resolver for a name, as programs do, on a thread that cannot be stopped.
private final class SystemLookup: Sendable {
  private let answer = Lock<NameLookupResult?>(nil)
  /// Readable once the answer is there.
  private let wake = OwnedDescriptor(eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK)))

  init(_ name: String, families: [IPAddress.Family]) {
    let question = NameQuestion(name: name, family: families.count == 1 ? families[0] : nil)
    _ = NameLookupPool.shared.submit(question, by: systemNameLookup) { [self] result in
      answer.withLock { $0 = result }
      _ = eventfd_write(wake.rawValue, 1)
    }
  }

  /// How long programs wait for a name as a rule, in milliseconds.
  private static let longest: Int64 = 2_500

  /// Returns what programs get. It waits for a while if there is nothing yet.
  func reply(_ patience: Patience, upTo limit: Int64 = longest) -> NameFinding.SystemReply {
    _ = patience.wait([(wake.rawValue, wantsWriting: false)], until: patience.moment(in: limit))
    return switch answer.withLock({ $0 }) {
    case .addresses(let addresses)?: .addresses(addresses.map(\.unmapped))
    case .noAddress?, .failed?, .exhausted?: .failed
    case nil: .silent
    }
  }
}
#endif
