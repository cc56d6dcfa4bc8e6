// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneSites

/// One command or act that fits a cause, for the program that manages the link, if that is known. Pure.
///
/// What a stranger chose, such as the name of an interface, is quoted for a shell.
enum Advice {
  /// Returns what to try; `nil` if nothing helps. `device` is the link that packets leave by.
  static func act(on cause: DiagnosisCause, _ reading: Reading, target: String, device: String?) -> String? {
    let evidence = evidence(reading)
    let link = evidence?.likeliestLink
    switch cause {
    case .linkDown, .noCarrier, .dormant, .radioBlocked, .noSession: return act(on: cause, link, interface(reading))
    case .noInterface: return "List the interfaces: ip link"
    case .loopbackDown: return "ip link set lo up"
    case .denied where reading.meaning == .name(.unreadable):
      return "Let everybody read it: chmod 644 /etc/resolv.conf"
    case .denied: return "Run it outside of the sandbox, or see what that forbids."
    case .noAddress: return giveAddress(reading, evidence)
    case .duplicateAddress: return "Give this machine another address, or switch off the host that has this one."
    case .noRoute: return addRoute(evidence)
    case .routeRefuses, .routeDead: return seeRoute(evidence)
    case .ruleRefuses: return "See the rules: \(ip(evidence)) rule"
    case .hostAbsent where reading.isOfTarget:
      return "Ask who runs the target: what it leads to is off, or its firewall says so."
    case .gatewaySilent, .hostAbsent: return findNeighbour(cause, evidence)
    case .uplinkDown, .routerNoRoute: return "Look at the router's WAN light, or call the provider."
    case .routingLoop: return "See where packets go round: traceroute \(shell(host(reading) ?? target))"
    case .silent where reading.kind == .beyond, .prohibited where reading.kind == .beyond:
      return "Log in to the network, or ask who runs it what stops connections."
    case .prohibited: return "Ask who runs the firewall on the way to let \(shell(target)) through."
    case .silent where reading.finding.connection?.isOwn == true:
      return "See whether the service takes its connections: ss -ltn"
    case .silent: return "Ask who runs the target whether it is on, and whether a firewall there drops packets."
    // Something listens at the port here, though not at the address.
    case .refused where reading.finding.connection?.listeners?.isEmpty == false:
      return "Let the service listen at the address that is asked, or at all."
    case .refused where isLedAstray(reading, target), .addressDead where isLedAstray(reading, target):
      return "Start the service here, or see why the name leads to this machine: /etc/hosts, or a filter of names."
    case .refused: return "Start the service there, if it is yours, and check the port; else tell who runs it."
    case .unreliable where reading.finding.name?.denier != nil: return name(reading)
    case .unreliable: return "Watch for loss: ping -c 50 \(shell(host(reading) ?? target))"
    case .addressDead: return "Tell who runs the target that one of its addresses takes no connections."
    case .familyBroken where Set(reading.finding.connection?.attempts.map(\.address.family) ?? []).count == 1:
      return "Ask who runs the router, or the provider, why it ends there."
    case .familyBroken: return "Use the other family meanwhile, with -4 or -6."
    case .localFirewall:
      if case .connection(.otherWay(let interface), _) = reading.meaning {
        return "See the reverse path filter: sysctl \(shell("net.ipv4.conf.\(interface).rp_filter"))"
      }
      // EPERM may be netfilter's, IPsec's or BPF's, and does not say whose it is.
      return "Find it: nft list ruleset; ip xfrm policy; tc -s qdisc; systemctl show -p IPAddressDeny '*.service'"
    case .tunnelSilent:
      return switch (reading.finding, reading.meaning) {
      case (.tunnel(let tunnel), _): "Check the keys, the endpoint and the peer: wg show \(shell(tunnel.interface))"
      case (_, .connection(.tunnelSilent(let tunnel), _)), (_, .beyond(.tunnelSilent(let tunnel))):
        "Restart the tunnel \(shell(tunnel)), and check its other end."
      default: nil
      }
    case .pathMTU:
      let name = link?.name ?? device
      return "Lower the MTU, to IPv6's least at first: ip link set dev \(name.map(shell) ?? "NAME") mtu 1280"
    case .nameServerSilent, .nameServerRefuses, .nameUnknown, .nameHijacked, .nameWrong: return name(reading)
    case .captivePortal where reading.kind == .portal: return "Log in to the network: open any http page in a browser."
    case .tlsCertificate, .clockWrong, .captivePortal, .siteFault: return site(cause, reading)
    case .proxyUnreachable, .proxyRefuses:
      guard case .proxy(let proxy) = reading.finding else { return nil }
      let wish = cause == .proxyRefuses ? "See whether the proxy wants a user and a password" : "Start the proxy"
      let doing = proxy.outcome == .unreadable ? "Put its URL right" : wish
      return "\(doing), or do without it: unset \(shell(proxy.variable))"
    default: return nil
    }
  }

  /// A word as a shell takes it: quoted if it has more than harmless characters.
  static func shell(_ word: String) -> String {
    let harmless = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/@%+-")
    if !word.isEmpty, word.allSatisfy(harmless.contains) { return word }
    return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }

  // MARK: What a reading names

  private static func evidence(_ reading: Reading) -> KernelEvidence? {
    switch (reading.finding, reading.meaning) {
    case (.kernel(let kernel), _): kernel.evidence
    case (.tunnel(let tunnel), _):
      if case .known(_, _, _, let beneath) = tunnel.peer { beneath?.evidence } else { nil }
    case (_, .name(.only(.noWay(let fault), _))): fault.evidence
    default: nil
    }
  }

  private static func interface(_ reading: Reading) -> String? {
    if case .link(.fails(let name, _, _))? = reading.finding.kernel?.result { name } else { nil }
  }

  private static func host(_ reading: Reading) -> String? {
    switch reading.finding {
    case .connection(let connection): connection.attempts.first.map { "\($0.address)" }
    case .beyond(let beyond): beyond.questions.first.map { "\($0.server)" }
    case .name(let name): name.name
    case .site(let site): site.verdict.url.host.text
    default: nil
    }
  }

  /// Whether a name leads to this machine, and not only an address or the name that means it.
  private static func isLedAstray(_ reading: Reading, _ target: String) -> Bool {
    guard let connection = reading.finding.connection else { return false }
    return connection.attempts.contains { $0.address.isLoopback && !target.contains("\($0.address)") }
      && !target.contains("localhost")
  }

  // MARK: Links, addresses, routes

  /// ip(8), which shows IPv4's rules and routes unless it is told otherwise.
  private static func ip(_ evidence: KernelEvidence?) -> String { evidence?.target.family == .ipv6 ? "ip -6" : "ip" }

  private static func act(on cause: DiagnosisCause, _ link: KernelEvidence.LinkFacts?, _ named: String?) -> String? {
    guard let name = (link?.name ?? named).map(shell) else { return nil }
    let manager = link?.manager
    let connect = manager == .networkManager ? "nmcli device connect \(name)" : nil
    switch cause {
    case .linkDown:
      switch manager {
      case .networkManager: return "nmcli device connect \(name)"
      case .networkd: return "networkctl up \(name)"
      case .ifupdown: return "ifup \(name)"
      case .dhcpcd, .wpaSupplicant, nil: return "ip link set dev \(name) up"
      }
    case .noCarrier:
      if link?.kind == .wifi { return connect ?? "wpa_cli -i \(name) reconnect" }
      if link?.infoKind == "bridge" { return "See its ports: bridge link show | grep \(name)" }
      if link?.kind == .tunnel { return "Start the program that serves the tunnel \(name)." }
      if link?.infoKind == "macvlan" { return "See what holds it down: ip -d link show dev \(name)" }
      return "Plug in the cable of \(name), or switch on what is at its other end."
    case .dormant:
      let who = link?.kind == .wifi || manager == .wpaSupplicant ? "the access point" : "the switch (802.1X)"
      return "See why \(who) does not let \(name) in: wpa_cli -i \(name) status"
    case .radioBlocked:
      return "Switch the radio on, or: rfkill unblock \(link?.kind == .cellular ? "wwan" : "wifi")"
    default: return connect ?? "Start a session: mmcli -m any --simple-connect"
    }
  }

  private static func giveAddress(_ reading: Reading, _ evidence: KernelEvidence?) -> String? {
    let result = reading.finding.kernel?.result
    if case .source(.otherNetwork(_, let gateway))? = result {
      return "Give this machine an address of the network of \(gateway), or the route another router."
    }
    if reading.isForeignSource || result == .source(.missing) { return seeRoute(evidence) }
    if case .address(.tentative)? = result { return "Wait until the kernel has looked for another host with it." }
    if let links = evidence?.candidates, links.count > 1 {
      return "Start a DHCP client on the interface that leads to the router, one of \(Words.list(links.map(\.name)))"
    }
    guard let evidence, let link = evidence.likeliestLink else { return nil }
    if let bridge = link.bridge { return "Move the address to the bridge: ip address add ADDRESS dev \(shell(bridge))" }
    let (name, isIPv6) = (shell(link.name), evidence.target.family == .ipv6)
    if evidence.target.isLoopback { return "ip address add \(isIPv6 ? "::1/128" : "127.0.0.1/8") dev lo" }
    // IPv6 needs as much (RFC 8200, 5).
    if isIPv6, link.mtu ?? 1_280 < 1_280 { return "Raise the MTU: ip link set dev \(name) mtu 1280" }
    return switch link.manager {
    case .networkManager: "nmcli device connect \(name)"
    case .networkd: "networkctl renew \(name)"
    case .dhcpcd: "dhcpcd -n \(name)"
    case .ifupdown: "ifdown \(name) && ifup \(name)"
    case _ where isIPv6:
      "See whether IPv6 is on: sysctl net.ipv6.conf.\(name).disable_ipv6; or: ip address add ADDRESS/64 dev \(name)"
    case .wpaSupplicant, nil: "Start a DHCP client on \(name), or: ip address add ADDRESS/24 dev \(name)"
    }
  }

  private static func seeRoute(_ evidence: KernelEvidence?) -> String? {
    evidence.map { "See the route: \(ip($0)) route get fibmatch \(shell("\($0.target)"))" }
  }

  private static func findNeighbour(_ cause: DiagnosisCause, _ evidence: KernelEvidence?) -> String {
    let name = evidence?.likeliestLink.map { shell($0.name) }
    if evidence?.isRouterMissing == true {
      return "Name the router: \(ip(evidence)) route replace default via ROUTER\(name.map { " dev \($0)" } ?? "")"
    }
    if cause == .hostAbsent { return "Switch the target on, or check its address." }
    return evidence?.wasNeighbourThere == true
      ? "See whether the router is on, this machine's firewall drops its answers, or another host has its address."
      : "Switch the router on, or check its address\(name.map { " and the cable of \($0)" } ?? "")."
  }

  private static func addRoute(_ evidence: KernelEvidence?) -> String {
    let ip = ip(evidence)
    switch evidence?.unusedRoute {
    case let unused? where Facts.endsSearch(unused): return "See the route: \(ip) route show type throw"
    case _?: return "Have the table looked up: \(ip) rule add lookup main"
    case nil:
      let device = evidence?.likeliestLink.map { " dev \(shell($0.name))" } ?? ""
      return "Add a route: \(ip) route add default via ROUTER\(device)"
    }
  }

  // MARK: Names and sites

  /// If the name server is the router.
  static let onRouter = "Restart the router, or set another name server in /etc/resolv.conf."

  private static func name(_ reading: Reading) -> String? {
    guard case .name(let name) = reading.finding, case .name(let meaning) = reading.meaning else { return nil }
    switch meaning {
    case .nobodysByHosts: return "Take the line out of /etc/hosts: grep -n -w -- \(shell(name.name)) /etc/hosts"
    case .neverAsked: return "Spell the line \"hosts:\" of /etc/nsswitch.conf so that it leads to files and dns."
    case .hijacked, .untrue:
      return "Log in to the network in a browser, or set another name server in /etc/resolv.conf."
    case .nobodysByServer: return "See whether a filter of names blocks \(shell(name.name))."
    case .unknown where name.servers.contains(where: \.knowsAlias):
      return "See what it is an alias of, and ask who runs that: dig CNAME \(shell(name.name))"
    case .unknown: return "Check the spelling of \(shell(name.name)), and the search domains in /etc/resolv.conf."
    case .unknownToFirst(let first, _) where name.rotates: return "Take \(first) out of /etc/resolv.conf."
    case .unknownToFirst(_, let other): return "Put \(other) first in /etc/resolv.conf."
    case .only(.truncated, let server): return "See what filters TCP to port 53 of \(server)."
    case .lostInSystem:
      return "Ask again: getent ahosts \(shell(name.name)). If it fails each time, see the options in resolv.conf(5);"
        + " if not, packets are lost."
    case .only(.refused, let server) where server.isLoopback:
      return "Start this machine's name server (systemd-resolved at 127.0.0.53), or name another in /etc/resolv.conf."
    case .foundBehind(let silent) where name.source == .dns, .oneServerSilent(let silent):
      return "Take \(silent) out of /etc/resolv.conf."
    case .only(.failed(EINVAL), let server): return "Write \(server)%INTERFACE in /etc/resolv.conf."
    case .noServer: return "Name a name server in /etc/resolv.conf."
    default: return "Set another name server in /etc/resolv.conf."
    }
  }

  private static func site(_ cause: DiagnosisCause, _ reading: Reading) -> String? {
    guard case .site(let site) = reading.finding, case .site(let meaning) = reading.meaning else { return nil }
    let url = SiteRules.judged(site).url
    let code = SiteRules.judged(site).error?.code
    switch cause {
    case .clockWrong: return "Set the clock: timedatectl set-ntp true"
    case .captivePortal: return "Log in to the network: open http://\(url.authority)/ in a browser."
    case .tlsCertificate:
      if meaning == .trustUnreadable { return "Install ca-certificates, or see what SSL_CERT_FILE names." }
      switch code {
      case .certificateExpired: return "Ask who runs \(url.authority) to renew its certificate."
      case .certificateNotYetValid: return "See whether this machine's clock is right: timedatectl"
      default: return "Do not trust it; ask who runs \(url.authority), or the network."
      }
    default: return "Try again later, or ask who runs \(url.authority)."
    }
  }
}
