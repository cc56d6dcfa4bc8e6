// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites

/// One finding as the rules read it: what it says of one step, and what would be wrong by it alone.
struct Reading: Hashable, Sendable {
  /// What a finding says, if it takes more than the finding itself to tell.
  enum Meaning: Hashable, Sendable {
    case plain
    case name(NameMeaning)
    case connection(ConnectionMeaning, ConnectionFinding.Attempt?)
    case beyond(BeyondMeaning)
    case site(SiteMeaning)
  }

  let finding: Finding
  let kind: DiagnosisStep.Kind
  let meaning: Meaning
  let outcome: DiagnosisStep.Outcome
  /// What is wrong, by this finding alone; `nil` if nothing is, or if no cause follows.
  let charge: Charge?

  /// It is about the step of its finding, unless that has several.
  init(
    _ finding: Finding, of kind: DiagnosisStep.Kind? = nil, _ outcome: DiagnosisStep.Outcome,
    _ meaning: Meaning = .plain, charge: Charge? = nil
  ) {
    (self.finding, self.meaning, self.outcome) = (finding, meaning, outcome)
    self.kind = kind ?? finding.step
    self.charge = outcome == .fault || outcome == .doubtful ? charge : nil
  }

  var family: IPAddress.Family? { finding.family }
  var isFault: Bool { outcome == .fault }
  /// Whether packets come from an address of another interface or network, and nobody beyond the router answers them.
  var isForeignSource: Bool { kind == .source && charge == Charge(.noAddress, nil) }
  /// Whether the target itself says that it is not reachable.
  var isOfTarget: Bool {
    guard case .connection(.statement(let statement), let attempt?) = meaning else { return false }
    return statement.sender.bits == attempt.address.bits
  }

  /// Reads findings. What one says may depend on the others.
  static func readings(_ findings: [Finding]) -> [Reading] {
    let context = Context(findings)
    return findings.flatMap { finding -> [Reading] in
      switch finding {
      case .history: [Reading(finding, .ok)]
      case .kernel(let kernel): [read(kernel, context)]
      case .tunnel(let tunnel): [read(tunnel)]
      case .portal(let portal): [read(portal, context)]
      case .beyond(let beyond): [BeyondRules.read(beyond, context)]
      case .name(let name):
        [NameRules.read(name, gateways: context.gateways, isBeyondHeard: context.hasAnswerFromBeyond)]
      case .connection(let connection): [ConnectionRules.read(connection)]
      case .largePackets(let packets): [read(packets)]
      case .site(let site): SiteRules.read(site, wasConnected: !context.connected.isEmpty)
      case .proxy(let proxy): [read(proxy)]
      case .unasked(_, _, let gap): [Reading(finding, gap == .leadsToMany ? .doubtful : .skipped)]
      }
    }
  }

  /// What of all findings matters to one.
  struct Context {
    /// Whether somebody beyond the router of a family has answered anything.
    private(set) var hasAnswerFromBeyond = false
    private(set) var hasPage = false
    /// Whether something that was asked beyond the router got no answer.
    private(set) var hasSilenceBeyond = false
    /// Whether no router is there, so that nothing behind it says anything.
    var isRouterSilent: Bool { routers.contains(false) && !routers.contains(true) }
    /// Whether no name server could find anything out.
    private(set) var areNamesLost = false
    /// Whether all of these are this machine's own, and say that nobody answers them.
    private(set) var areNamesLostHere = false
    private(set) var tunnel: String?
    /// The families in which somebody beyond the router has answered.
    private(set) var answeredBeyond: Set<IPAddress.Family> = []
    /// Whether questions are answered and connections are not: these may go another way.
    private(set) var areConnectionsSilent = false
    private(set) var connected: Set<IPAddress.Family> = []

    /// Whether something of a family was asked beyond the router, and nobody of it has answered anything.
    func isSilent(_ family: IPAddress.Family) -> Bool { silentBeyond.contains(family) && !hasAnswerFromBeyond }

    /// Whether the router, or somebody beyond it, has answered anything of a family, or something that may be of it.
    func isHeard(_ family: IPAddress.Family) -> Bool {
      hasAnswerFromBeyond || routers.contains(true) || !connected.union(answeredBeyond).isDisjoint(with: [family])
    }

    /// Whether a neighbour may have no way back. It answers ARP all the same, and not IPv6's questions (RFC 4861).
    func excuses(_ finding: KernelFinding) -> Bool {
      let family = finding.target.family
      return foreignSources.contains(family) && (family == .ipv6 || finding.evidence?.wasNeighbourThere == true)
    }

    private(set) var gateways: Set<IPAddress> = []
    /// The families whose packets come from an address of another interface or network than the router's.
    private(set) var foreignSources: Set<IPAddress.Family> = []
    private var silentBeyond: Set<IPAddress.Family> = []
    /// Whether each router that was asked is there.
    private var routers: [Bool] = []

    init(_ findings: [Finding]) {
      for case .kernel(let kernel) in findings {
        switch kernel.result {
        case .route(.leads(let gateway?, _)): gateways.insert(gateway)
        case .source(.foreign), .source(.otherNetwork): foreignSources.insert(kernel.target.family)
        default: break
        }
      }
      for finding in findings { note(finding) }
    }

    private mutating func note(_ finding: Finding) {
      switch finding {
      case .beyond(let beyond):
        if beyond.hasAnswer { hasAnswerFromBeyond = true }
        areConnectionsSilent = [.nothing, .silent].contains(beyond.connection) || beyond.stopsSites == .silent
        answeredBeyond.formUnion(beyond.questions.filter { $0.outcome == .answer }.map(\.server.family))
        if beyond.trace == .silent { silentBeyond.formUnion(beyond.questions.filter(\.isLost).map(\.server.family)) }
      case .tunnel(let found): tunnel = found.interface
      case .kernel(let kernel):
        switch kernel.result {
        case .neighbour(.silent) where excuses(kernel): silentBeyond.insert(kernel.target.family)
        case .neighbour(.silent), .neighbour(.stopped), .neighbour(.asked): routers.append(false)
        case .neighbour(.answers), .neighbour(.answered): routers.append(true)
        default: break
        }
      case .connection(let connection): note(connection)
      case .name(let name): note(name)
      case .site(let site):
        if site.usual.contains(where: SiteFinding.isAnswered) { hasAnswerFromBeyond = true }
        hasPage = site.usual.contains { $0.kind.answerer == .site && (200..<300).contains($0.status ?? 0) }
      case .proxy(let proxy): if [.delivers, .connects].contains(proxy.outcome) { hasAnswerFromBeyond = true }
      default: break
      }
    }

    private mutating func note(_ connection: ConnectionFinding) {
      // What came in to this machine came from beyond, no matter what became of it here.
      if connection.attempts.contains(where: { $0.sight?.hasReturned == true }) { hasAnswerFromBeyond = true }
      let isAccepted = connection.attempts.contains(where: \.isAccepted)
      if isAccepted { connected.insert(connection.family) }
      guard connection.gateway != nil else { return }
      if isAccepted { answeredBeyond.insert(connection.family) } else { hasSilenceBeyond = true }
      if isAccepted || connection.attempts.contains(where: { $0.tries.contains(.reset) }) { hasAnswerFromBeyond = true }
    }

    private mutating func note(_ name: NameFinding) {
      // A server on the link answers from its cache, or that it cannot.
      if name.servers.contains(where: { $0.replies.contains(where: \.isHelpless) }) { hasSilenceBeyond = true }
      let isLost = !name.servers.isEmpty && name.servers.allSatisfy(\.isHelpless)
      let isOwn = name.servers.allSatisfy { $0.address.isLoopback && $0.replies.contains { $0.code == .serverFailure } }
      if isLost { (areNamesLost, areNamesLostHere) = (true, areNamesLostHere || isOwn) }
      for server in name.servers where server.hasAnswered && server.isBeyond {
        answeredBeyond.insert(server.address.family)
        hasAnswerFromBeyond = true
      }
      if name.servers.contains(where: { $0.replies.contains(.dropped) }) { hasAnswerFromBeyond = true }
    }
  }

  // MARK: Kernel

  private static func read(_ finding: KernelFinding, _ context: Context) -> Reading {
    let (outcome, cause) = judge(finding, context)
    return Reading(.kernel(finding), outcome, charge: cause.map { Charge($0, DiagnosisProof(finding)) })
  }

  private typealias Judgement = (DiagnosisStep.Outcome, DiagnosisCause?)

  private static func judge(_ finding: KernelFinding, _ context: Context) -> Judgement {
    let family = finding.target.family
    switch finding.result {
    case .link(.works), .link(.loopback), .address(.works), .address(.notNeeded), .rule(.passes), .rule(.none),
      .source(.address), .neighbour(.answers), .neighbour(.answered):
      return (.ok, nil)
    case .link(.failsAmongOthers), .link(.unclear), .address(.deprecated), .neighbour(.asked): return (.doubtful, nil)
    case .rule(.unknown), .source(.unknown), .neighbour(.unknown), .neighbour(.notAsked), .neighbour(.none):
      return (.skipped, nil)
    // Who has been heard was heard over it.
    case .link(.fails(_, .dormant, _)) where context.isHeard(family): return (.doubtful, nil)
    // Each reason of a link is a cause, by the same identifier.
    case .link(.fails(_, let reason, _)):
      return (.fault, reason.isOfLink ? DiagnosisCause(identifier: reason.identifier) : nil)
    case .link(.missing): return (.fault, .noInterface)
    case .link(.loopbackDown): return (.fault, .loopbackDown)
    case .link(.denied): return (.fault, .denied)
    case .address(.onPort): return context.isHeard(family) ? (.doubtful, nil) : (.fault, .noAddress)
    case .address(.missing), .address(.linkLocal), .address(.tentative), .source(.missing): return (.fault, .noAddress)
    case .address(.duplicate): return (.fault, .duplicateAddress)
    case .rule(.refuses): return (.fault, .ruleRefuses)
    // Nothing has got out by it, nor been redirected by netfilter.
    case .route(.leads) where finding.leadsNowhere && !context.connected.contains(family):
      return (.fault, .routeRefuses)
    case .route(.leads): return (.ok, nil)
    case .route(.missing), .source(.refused): return (.fault, .noRoute)
    case .route(.refuses), .route(.unexplained): return (.fault, .routeRefuses)
    case .route(.dead): return (.fault, .routeDead)
    // Nobody may have a way back to it.
    case .source(.foreign), .source(.otherNetwork):
      return context.isSilent(family) ? (.fault, .noAddress) : (.doubtful, nil)
    case .neighbour(.silent(_, let isGateway, _)): return judgeSilence(finding, isGateway, context)
    case .neighbour(.stopped): return (.fault, .localFirewall)
    }
  }

  private static func judgeSilence(_ finding: KernelFinding, _ isGateway: Bool, _ context: Context) -> Judgement {
    let family = finding.target.family
    let isHeard = context.answeredBeyond.contains(family) && !context.areConnectionsSilent
    if !context.excuses(finding), !isHeard { return (.fault, isGateway ? .gatewaySilent : .hostAbsent) }
    // Of several routers, the others may have led to who was heard. IPv6 passes over a router that does not answer.
    let isShared = family == .ipv4 && finding.evidence?.route.map { $0.hops.count > 1 } ?? false
    // Else an entry can fail while answers pass: a firewall of this machine that drops ARP, or an old entry.
    return (.doubtful, isGateway && isShared ? .gatewaySilent : nil)
  }

  // MARK: Tunnels, large packets, the proxy

  private static func read(_ finding: TunnelFinding) -> Reading {
    let silent = Charge(.tunnelSilent, DiagnosisProof(finding))
    let (outcome, charge): (DiagnosisStep.Outcome, Charge?) =
      switch finding.peer {
      case .unknown, .denied: (.skipped, nil)
      case .none: (.fault, silent)
      case .known(_, _, _, let beneath?): (.fault, read(beneath, Context([])).charge ?? silent)
      case .known(nil, _, _, nil), .known(_, _, nil, nil): (.doubtful, silent)
      case .known(_, _, let age?, nil): (age > TunnelFinding.handshakeLimit ? .doubtful : .ok, nil)
      }
    return Reading(.tunnel(finding), outcome, charge: charge)
  }

  private static func read(_ finding: PortalFinding, _ context: Context) -> Reading {
    // What sends everybody to its login did not make the page that the site answered with: it lets that site through.
    let isOdd = finding.demandsLogin ? context.hasPage : finding.status != nil && !finding.isPortal
    if isOdd { return Reading(.portal(finding), .doubtful) }
    return Reading(.portal(finding), finding.isPortal ? .fault : .ok, charge: Charge(.captivePortal, nil))
  }

  private static func read(_ finding: LargePacketsFinding) -> Reading {
    switch finding.outcome {
    case nil: Reading(.largePackets(finding), .skipped)
    case .answered, .refused: Reading(.largePackets(finding), .ok)
    case .vanished: Reading(.largePackets(finding), .fault, charge: Charge(.pathMTU, nil))
    }
  }

  private static func read(_ finding: ProxyFinding) -> Reading {
    let (outcome, cause): Judgement =
      switch finding.outcome {
      case .delivers, .connects: (.ok, nil)
      case .notTried: (.doubtful, nil)
      case .refuses: (.fault, .proxyRefuses)
      case .unresolved, .unreachable, .unreadable: (.fault, .proxyUnreachable)
      }
    return Reading(.proxy(finding), outcome, charge: cause.map { Charge($0, DiagnosisProof(finding)) })
  }
}
