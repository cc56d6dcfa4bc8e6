// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

extension Words {
  /// A finding about the way to an address. Its words name the address, or what it stands for: who asks about the
  /// Internet knows nothing of the root server that the kernel was asked about.
  static func text(_ finding: KernelFinding, to meant: String? = nil) -> String {
    let target = meant ?? "\(finding.target)"
    let evidence = finding.evidence
    let family = Self.name(finding.target.family)
    let on = (finding.target.isLoopback ? "lo" : evidence?.link?.name).map { " on \($0)" } ?? ""
    let rule = evidence?.rule.map { ": \($0.text)" } ?? ""
    switch finding.result {
    case .link(let link): return text(link, finding.target, evidence)
    case .address(.works(let own)): return Facts.words(own, evidence)
    case .address(.deprecated(let own)): return "\(own) is deprecated, and there is no better one"
    case .address(.notNeeded): return "none is needed to reach \(target)"
    case .address(.missing):
      let names = evidence?.candidates.map(\.name) ?? []
      return "there is no \(family) address\(names.count > 1 ? " on any of \(Self.list(names))" : on)"
    case .address(.linkLocal(let own)): return "there is only a link-local \(family) address\(on), \(own)"
    case .address(.tentative(let own)):
      return "the address \(own)\(on) is tentative: it is still looked for elsewhere"
    case .address(.onPort(let own, let bridge)):
      return "the address \(own)\(on) is that of a port of the bridge \(bridge), which takes what comes in"
    case .address(.duplicate(let own)):
      return "another host has the address \(own), which this machine would have\(on)"
    case .rule(.passes(let priority)): return "\(priority)\(rule)"
    case .rule(.none): return "no rule refuses packets to \(target)"
    case .rule(.refuses(let priority, _)): return "the rule \(priority)\(rule) refuses packets to \(target)"
    case .rule(.unknown): return "the rules could not be followed to the end"
    case .route(let route): return text(route, finding, to: meant)
    case .source(.address(let own)): return "\(own)"
    case .source(.foreign(let own, let interface)):
      return "packets come from \(own), which belongs to \(interface), and leave by another interface"
    case .source(.otherNetwork(let own, let gateway)):
      return "packets come from \(own), which is not in the network of the router \(gateway)"
    case .source(.missing): return "no address of this machine can be the source of packets to \(target)"
    case .source(.refused(let reason)): return "the kernel sends nothing to \(target): \(reason)"
    case .source(.unknown): return "the kernel names none"
    case .neighbour(let neighbour): return text(neighbour, evidence, on)
    }
  }

  private static func text(_ route: KernelFinding.Route, _ finding: KernelFinding, to meant: String?) -> String {
    let target = meant ?? "\(finding.target)"
    let words = Facts.words(finding.evidence)
    let known = "the route \(words ?? "to \(target)")"
    switch route {
    case .leads where finding.leadsNowhere:
      return "\(known) leads to this machine's loopback interface, where packets for others end"
    case .leads(let gateway, let interface):
      return words
        ?? [gateway.map { "via \($0)" }, interface.map { "dev \($0)" }].compactMap(\.self).joined(separator: " ")
    case .missing:
      let family = finding.target.family
      let missing = "there is no \(meant == nil ? "" : "\(name(family)) ")route to \(target)"
      return finding.evidence?.unusedRoute.map { "\(missing): \(Facts.whyUnused($0, family))" } ?? missing
    case .refuses(let reason): return "\(known) refuses the packets: \(reason)"
    case .unexplained(let reason): return "a route or a rule refuses packets to \(target): \(reason)"
    case .dead: return "no next hop of \(known) works"
    }
  }

  private static func text(_ link: KernelFinding.Link, _ target: IPAddress, _ evidence: KernelEvidence?) -> String {
    switch link {
    case .works(let name): "\(Facts.link(name, evidence)) is up\(Facts.details(name, evidence))"
    case .fails(let name, .noCarrier, _) where evidence?.likeliestLink?.infoKind == "bridge":
      "the bridge \(name) has no carrier: it has no port that forwards packets"
    case .fails(let name, .noCarrier, _):
      "the interface \(Facts.link(name, evidence)) has no carrier: nothing is connected, or what is connected is off"
    case .fails(let name, .dormant, _):
      "the interface \(Facts.link(name, evidence)) is dormant: it waits to be let in, as by a switch (802.1X)"
    case .fails(let name, let reason, _): "the interface \(Facts.link(name, evidence)) carries nothing: \(reason)"
    case .failsAmongOthers(let name, let reason): "\(Facts.link(name, evidence)): \(reason)"
    case .missing(let name?): "there is no interface \(name)"
    case .missing(nil): "there is no interface besides lo"
    case .loopback: "\(target) is this machine, over lo"
    case .loopbackDown: "the interface lo is down: this machine cannot reach itself"
    case .unclear: "no interface can be told to be the one"
    case .denied: "the kernel does not say: netlink is refused"
    }
  }

  private static func text(_ neighbour: KernelFinding.Neighbour, _ evidence: KernelEvidence?, _ on: String) -> String {
    func who(_ address: IPAddress, _ isGateway: Bool) -> String {
      isGateway ? "the router \(address)" : "the host \(address)"
    }
    switch neighbour {
    case .answers(let address, let isGateway): return "\(who(address, isGateway)) answers\(on)"
    case .answered(let address, let isGateway):
      return "\(who(address, isGateway)) was there\(on); whether it still is, is not known"
    case .silent(let address, _, _) where evidence?.isRouterMissing == true:
      return "the route \(Facts.words(evidence) ?? "") names no router, and nobody there has the address \(address)"
    case .silent(let address, let isGateway, _) where evidence?.wasNeighbourThere == true:
      return "\(who(address, isGateway)) was there a moment ago\(on), and nothing comes back from it"
    case .silent(let address, let isGateway, _): return "\(who(address, isGateway)) does not answer\(on)"
    case .stopped(let address, let isGateway, let hasLeft):
      return hasLeft
        ? "\(who(address, isGateway)) answers\(on), and this machine's own firewall drops that"
        : "this machine's own firewall lets no question for \(who(address, isGateway)) out"
    case .asked(let address, let isGateway): return "\(who(address, isGateway)) has not answered\(on) yet"
    case .unknown(let address, let isGateway): return "\(who(address, isGateway)) was not asked for\(on)"
    case .notAsked: return "the link has no neighbours to ask for"
    case .none: return "the packets go to no neighbour"
    }
  }
}
