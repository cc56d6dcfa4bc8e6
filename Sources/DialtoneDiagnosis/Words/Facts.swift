// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites

/// The facts of readings. Their keys are part of the command's JSON.
enum Facts {
  static func of(_ reading: Reading) -> [DiagnosisEvidence] {
    switch reading.finding {
    case .history(let states): [list("changes", states.map(\.description))]
    case .kernel(let kernel): of(kernel)
    case .tunnel(let tunnel): of(tunnel)
    case .beyond(let beyond):
      [
        list("questions", beyond.questions.map { "\($0.server): \(words($0.outcome))" }),
        text("connection", beyond.connection?.rawValue),
      ]
    case .portal(let portal): [number("status", portal.status)]
    case .name(let name): of(name)
    case .connection(let connection): of(connection)
    case .largePackets(let packets):
      [number("sizeBytes", packets.byteCount), flag("largeAnswered", packets.outcome.map { $0 == .answered })]
    case .site(let site): of(site, reading.kind)
    case .proxy(let proxy): [text("variable", proxy.variable), text("server", proxy.server)]
    case .unasked: []
    }
  }

  private static func text(_ key: String, _ value: String?) -> DiagnosisEvidence {
    DiagnosisEvidence(key: key, value: value.map(DiagnosisEvidence.Value.text))
  }

  private static func number(_ key: String, _ value: (some BinaryInteger)?) -> DiagnosisEvidence {
    DiagnosisEvidence(key: key, value: value.map { .number(Int64(clamping: $0)) })
  }

  private static func flag(_ key: String, _ value: Bool?) -> DiagnosisEvidence {
    DiagnosisEvidence(key: key, value: value.map(DiagnosisEvidence.Value.flag))
  }

  private static func list(_ key: String, _ values: [String]) -> DiagnosisEvidence {
    DiagnosisEvidence(key: key, value: .list(values))
  }

  // MARK: The kernel

  private static func of(_ finding: KernelFinding) -> [DiagnosisEvidence] {
    guard let evidence = finding.evidence else { return [] }
    switch finding.result {
    case .link:
      guard let link = evidence.likeliestLink else {
        return [text("interface", evidence.askedInterface), list("interfaces", evidence.links.map(\.name))]
      }
      return [
        text("interface", link.name), text("kind", link.kind.identifier), flag("isUp", link.isUp),
        flag("isOperating", link.isOperating), text("reason", link.reason?.identifier), number("mtuBytes", link.mtu),
        number("speedMegabits", link.speed), flag("isFullDuplex", link.isFullDuplex),
        text("manager", link.manager?.rawValue),
      ]
    case .address:
      func texts(_ isWanted: (KernelEvidence.AddressFacts) -> Bool) -> [String] {
        evidence.addresses.filter(isWanted).map { "\($0.address)/\($0.prefixLength)" }
      }
      return [
        list("addresses", texts { _ in true }), list("tentative", texts(\.isTentative)),
        list("duplicate", texts(\.isDuplicate)), list("deprecated", texts(\.isDeprecated)),
        list("linkLocal", texts(\.address.isLinkLocal)),
      ]
    case .rule:
      guard let rule = evidence.rule else { return [] }
      return [number("priority", rule.priority), text("rule", rule.text), flag("refuses", rule.refuses)]
    case .route:
      guard let route = evidence.route else { return [] }
      return [
        text("table", RouteTableName.text(route.table)), text("type", route.type.description),
        text("destination", destination(route, finding.target.family)), number("metric", route.metric),
        number("nexthop", route.nexthopID), list("hops", route.hops.map(words)),
        number("expiresInSeconds", route.expiresIn),
      ]
    case .source: return [text("source", evidence.state.source?.description)]
    case .neighbour(let neighbour):
      guard let facts = evidence.neighbour else { return [] }
      var (wasProbed, hasAnswered) = (false, false)
      if case .silent(_, _, let probed) = neighbour { wasProbed = probed }
      if case .answers = neighbour { hasAnswered = true }
      return [
        text("neighbour", facts.address.description), text("interface", facts.link),
        flag("isGateway", facts.isGateway), text("state", facts.state?.words), flag("wasProbed", wasProbed),
        flag("hasAnswered", hasAnswered),
      ]
    }
  }

  // MARK: Tunnels and names

  private static func of(_ tunnel: TunnelFinding) -> [DiagnosisEvidence] {
    let facts = [text("interface", tunnel.interface), text("kind", tunnel.kind)]
    guard case .known(let endpoint, let port, let age, let beneath) = tunnel.peer else { return facts }
    return facts + [
      text("endpoint", endpoint.map { "\($0) port \(port)" }), number("handshakeAgeSeconds", age),
      text("beneath", beneath.map { Words.text($0) }),
    ]
  }

  private static func of(_ name: NameFinding) -> [DiagnosisEvidence] {
    func time(_ server: NameFinding.Server) -> String { server.milliseconds.map { " in \(Words.time($0))" } ?? "" }
    let hasAnswer = !name.addresses.isEmpty || name.servers.contains(where: \.hasAnswered)
    return [
      text("name", name.name), text("source", name.source.rawValue), text("foundAs", name.foundAs),
      list("tried", name.tried), list("addresses", name.addresses.map(\.description)),
      list("servers", name.servers.map { "\($0.address): A \(words($0.ipv4)); AAAA \(words($0.ipv6))\(time($0))" }),
      list("unanswered", hasAnswer ? [] : name.servers.map(\.address.description)),
      list("control", name.servers.map { "\($0.address): \(words($0.control))" }),
      text("system", name.system.map(words)),
    ]
  }

  private static func words(_ reply: NameFinding.SystemReply) -> String {
    switch reply {
    case .addresses(let addresses): Words.list(addresses)
    case .failed: "no address"
    case .silent: "silent"
    }
  }

  private static func words(_ reply: NameFinding.Reply?) -> String {
    switch reply {
    case nil: "not asked"
    case .answer(let code, let addresses)?: addresses.isEmpty ? code.description : Words.list(addresses)
    case .refused(let statement)?: "\(statement.sender) says: \(Words.text(statement))"
    case .noWay(let fault)?: "no way to it: \(Words.text(fault))"
    case .failed(let errno)?: SiteError.text(errno: errno)
    case .forbidden?: "forbidden by this machine"
    case .dropped?: "dropped by this machine"
    case .mismatched?: "answers another question"
    case .truncated?: "wants TCP"
    case .silent?: "silent"
    }
  }

  private static func words(_ outcome: BeyondFinding.Outcome) -> String {
    switch outcome {
    case .answer: "answers"
    case .forged: "answered by somebody else"
    case .refused(let statement): "\(statement.sender) says: \(Words.text(statement))"
    case .failed(let errno): SiteError.text(errno: errno)
    case .silent: "silent"
    }
  }

  // MARK: Connections and the site

  private static func of(_ connection: ConnectionFinding) -> [DiagnosisEvidence] {
    let sights = connection.attempts.compactMap(\.sight)
    let tries = connection.attempts.map { "\(Words.endpoint($0)): \($0.tries.map(words).joined(separator: ", "))" }
    return [
      list("attempts", tries),
      flag("hasLeft", sights.first.flatMap(\.hasLeft)), flag("hasReturned", sights.first.flatMap(\.hasReturned)),
      flag("isDatagramForbidden", connection.isDatagramForbidden),
      text("gateway", connection.gateway?.description), text("tunnel", connection.tunnel),
    ]
  }

  private static func words(_ outcome: ConnectionFinding.Outcome) -> String {
    switch outcome {
    case .accepted(let milliseconds): "connected in \(Words.time(milliseconds))"
    case .reset: "reset"
    case .refused(let statement): "\(Words.who(statement)): \(Words.text(statement))"
    case .failed(let errno): SiteError.text(errno: errno)
    case .silent: "silent"
    }
  }

  private static func of(_ site: SiteFinding, _ kind: DiagnosisStep.Kind) -> [DiagnosisEvidence] {
    let verdict = SiteRules.judged(site)
    switch kind {
    case .pathMTU:
      return [
        flag("smallPacketsPass", site.smallVerdicts.first.map(SiteFinding.isAnswered)),
        number("tries", site.usual.count), number("successes", site.successes),
        list("stalls", site.stalls.map(\.rawValue)),
      ]
    case .tls:
      return [
        text("error", verdict.error?.code.identifier),
        text("certificateExpires", verdict.certificateExpires?.description),
        flag("clockIsKept", site.clock?.isKept),
      ]
    default:
      return [
        text("verdict", verdict.kind.identifier), number("status", verdict.status),
        text("location", verdict.location), text("error", verdict.error?.code.identifier),
      ]
    }
  }
}

// MARK: Parts of lines

extension Facts {
  /// Such as "wired (eth0)".
  static func link(_ name: String, _ evidence: KernelEvidence?) -> String {
    evidence?.links.first { $0.name == name }.map { "\($0.kind) (\(name))" } ?? name
  }

  static func details(_ name: String, _ evidence: KernelEvidence?) -> String {
    guard let link = evidence?.links.first(where: { $0.name == name }) else { return "" }
    let parts = [
      link.speed.map { "\($0) Mbit/s" }, link.isFullDuplex.map { $0 ? "full duplex" : "half duplex" },
      link.mtu.map { "MTU \($0)" },
    ].compactMap(\.self)
    return parts.isEmpty ? "" : ": " + parts.joined(separator: ", ")
  }

  static func prefix(_ own: IPAddress, _ evidence: KernelEvidence?) -> String {
    evidence?.addresses.first { $0.address == own }.map { "\(own)/\($0.prefixLength)" } ?? "\(own)"
  }

  /// An address with its prefix and its lease.
  static func words(_ own: IPAddress, _ evidence: KernelEvidence?) -> String {
    let lease = evidence?.addresses.first { $0.address == own }?.validFor.map { ", valid for \($0) s" } ?? ""
    return prefix(own, evidence) + lease
  }

  /// The route, as ip-route(8) prints it, with its table; `nil` if it is not known.
  static func words(_ evidence: KernelEvidence?) -> String? {
    evidence.flatMap { evidence in evidence.route.map { words($0, evidence.target.family) } }
  }

  /// Why no packet takes a route that there is.
  static func whyUnused(_ route: KernelEvidence.RouteFacts, _ family: IPAddress.Family) -> String {
    let words = words(route, family)
    return endsSearch(route) ? "\(words) ends the search" : "no rule leads to \(words)"
  }

  static func endsSearch(_ route: KernelEvidence.RouteFacts) -> Bool { route.type == .throw }

  private static func words(_ route: KernelEvidence.RouteFacts, _ family: IPAddress.Family) -> String {
    let name = destination(route, family)
    var parts = route.type == .unicast ? [name] : ["\(route.type)", name]
    parts += route.hops.map(words)
    if let metric = route.metric, metric > 0 { parts.append("metric \(metric)") }
    return parts.joined(separator: " ") + " (table \(RouteTableName.text(route.table)))"
  }

  private static func words(_ hop: KernelEvidence.HopFacts) -> String {
    let parts = [hop.gateway.map { "via \($0)" }, hop.link.map { "dev \($0)" }].compactMap(\.self)
    return parts.isEmpty ? "no link" : parts.joined(separator: " ")
  }

  private static func destination(_ route: KernelEvidence.RouteFacts, _ family: IPAddress.Family) -> String {
    guard let destination = route.destination, route.prefixLength > 0 else { return "default" }
    let isHost = route.prefixLength == (family == .ipv4 ? 32 : 128)
    return isHost ? destination.description : "\(destination)/\(route.prefixLength)"
  }
}
