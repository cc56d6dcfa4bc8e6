// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneSites
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// Which act fits which fault, as the manuals of the programs have it, and how facts are put.
struct AdviceEdgesTests {
  private static let target = NearestCauseTests.target
  private static let target6 = NearestCauseTests.target6
  private static let router = NearestCauseTests.router
  private static let server = NearestCauseTests.server

  private static func evidence(_ link: KernelEvidence.LinkFacts?, _ target: IPAddress = target) -> KernelEvidence {
    KernelEvidence(
      target: target, state: Reachability(.unreachable, reason: .noCarrier), links: link.map { [$0] } ?? [], link: link)
  }

  private static func advice(
    _ finding: Finding, _ target: String = "site.example", goal: DiagnosisGoal = .host
  ) -> String? {
    DiagnosisVerdict(of: target, goal: goal, findings: [finding]).advice
  }

  // MARK: Links and addresses

  struct LinkRow: Sendable, CustomTestStringConvertible {
    let reason: Reachability.Reason
    let link: KernelEvidence.LinkFacts
    let advice: String
    var testDescription: String { "\(reason) \(link.name) \(link.manager?.rawValue ?? "")" }

    init(
      _ reason: Reachability.Reason, _ name: String, _ kind: InterfaceKind, _ advice: String,
      by manager: LinkManager? = nil, infoKind: String? = nil
    ) {
      self.reason = reason
      link = KernelEvidence.LinkFacts(
        name: name, kind: kind, infoKind: infoKind, isOperating: false, reason: reason, manager: manager)
      self.advice = advice
    }
  }

  /// nmcli(1), networkctl(1), ifup(8), ip-link(8), wpa_cli(8), bridge(8), rfkill(8), mmcli(1).
  private static let links: [LinkRow] = [
    LinkRow(.linkDown, "eth0", .wired, "nmcli device connect eth0", by: .networkManager),
    LinkRow(.linkDown, "eth0", .wired, "ip link set dev eth0 up", by: .dhcpcd),
    LinkRow(.linkDown, "eth0", .wired, "ip link set dev eth0 up", by: .wpaSupplicant),
    LinkRow(.noCarrier, "wlan0", .wifi, "nmcli device connect wlan0", by: .networkManager),
    LinkRow(.noCarrier, "wlan0", .wifi, "wpa_cli -i wlan0 reconnect"),
    LinkRow(.noCarrier, "br0", .wired, "See its ports: bridge link show | grep br0", infoKind: "bridge"),
    LinkRow(.noCarrier, "tun0", .tunnel, "Start the program that serves the tunnel tun0."),
    LinkRow(.noCarrier, "mv0", .wired, "See what holds it down: ip -d link show dev mv0", infoKind: "macvlan"),
    LinkRow(
      .noCarrier, "eth0", .wired, "Plug in the cable of eth0, or switch on what is at its other end.",
      by: .networkManager),
    LinkRow(.dormant, "wlan0", .wifi, "See why the access point does not let wlan0 in: wpa_cli -i wlan0 status"),
    LinkRow(
      .dormant, "eth0", .wired, "See why the access point does not let eth0 in: wpa_cli -i eth0 status",
      by: .wpaSupplicant),
    LinkRow(.dormant, "eth0", .wired, "See why the switch (802.1X) does not let eth0 in: wpa_cli -i eth0 status"),
    LinkRow(.radioBlocked, "wlan0", .wifi, "Switch the radio on, or: rfkill unblock wifi"),
    LinkRow(.radioBlocked, "wwan0", .cellular, "Switch the radio on, or: rfkill unblock wwan"),
    LinkRow(.noSession, "wwan0", .cellular, "nmcli device connect wwan0", by: .networkManager),
    LinkRow(.noSession, "wwan0", .cellular, "Start a session: mmcli -m any --simple-connect"),
  ]

  @Test("what to do with a link follows from its kind and its manager", arguments: links)
  func aLinkIsBroughtUp(row: LinkRow) {
    let finding = KernelFinding(.link(.fails(row.link.name, row.reason, isNamed: true)), Self.evidence(row.link))
    #expect(Self.advice(.kernel(finding)) == row.advice)
  }

  /// A finding that was made by hand has the name alone.
  @Test func aLinkIsKnownByItsName() {
    let finding = NearestCauseTests.kernel(.link(.fails("eth0", .linkDown, isNamed: true)))
    #expect(Self.advice(finding) == "ip link set dev eth0 up")
    #expect(Self.advice(NearestCauseTests.kernel(.link(.loopbackDown))) == "ip link set lo up")
    #expect(Self.advice(NearestCauseTests.kernel(.address(.missing))) == nil)
  }

  @Test(
    arguments: [
      (.networkManager, "nmcli device connect eth0"), (.networkd, "networkctl renew eth0"),
      (.dhcpcd, "dhcpcd -n eth0"), (.ifupdown, "ifdown eth0 && ifup eth0"),
      (nil, "Start a DHCP client on eth0, or: ip address add ADDRESS/24 dev eth0"),
    ] as [(LinkManager?, String)])
  func anAddressIsAskedForAsTheManagerDoes(manager: LinkManager?, words: String) throws {
    let link = KernelEvidence.LinkFacts(name: "eth0", manager: manager)
    #expect(Self.advice(.kernel(KernelFinding(.address(.missing), Self.evidence(link)))) == words)
    let six = Self.advice(.kernel(KernelFinding(.address(.missing), Self.evidence(link, Self.target6))))
    if manager == nil {
      // `ip address add` is refused where IPv6 is switched off. RFC 4291, 2.5.4: networks of IPv6 have 64 bits.
      #expect(six?.hasPrefix("See whether IPv6 is on: sysctl net.ipv6.conf.eth0.disable_ipv6;") == true)
      #expect(six?.hasSuffix("ip address add ADDRESS/64 dev eth0") == true)
      // RFC 1122, 3.2.1.3; RFC 4291, 2.5.3: which interface has it, whatever link packets leave by.
      for (address, own) in [("127.0.0.1", "127.0.0.1/8"), ("::1", "::1/128")] {
        let lost = KernelFinding(.address(.missing), Self.evidence(link, try #require(IPAddress(address))))
        #expect(Self.advice(.kernel(lost)) == "ip address add \(own) dev lo")
        #expect(Words.text(lost).hasSuffix("address on lo"))
      }
    } else {
      #expect(six == words)
    }
    // RFC 8200, 5: a link of IPv6 has an MTU of 1280 at least.
    let short = KernelEvidence.LinkFacts(name: "eth0", mtu: 1_279)
    let raised = Self.advice(.kernel(KernelFinding(.address(.missing), Self.evidence(short, Self.target6))))
    #expect(raised == "Raise the MTU: ip link set dev eth0 mtu 1280")
  }

  /// ip-route(8), ip-rule(8): the program asks for IPv4 unless -6 is said.
  @Test(arguments: [(target, "ip"), (target6, "ip -6")])
  func routesAreLookedUpInTheirFamily(target: IPAddress, program: String) {
    func advice(_ result: KernelFinding.Result) -> String? {
      Self.advice(.kernel(KernelFinding(result, Self.evidence(nil, target))))
    }
    let see = "See the route: \(program) route get fibmatch \(target)"
    #expect(advice(.route(.refuses(.prohibited))) == see && advice(.route(.dead)) == see)
    #expect(advice(.rule(.refuses(priority: 7, isProven: true))) == "See the rules: \(program) rule")
    #expect(advice(.route(.missing)) == "Add a route: \(program) route add default via ROUTER")
  }

  /// resolv.conf(5): without a name server in it, libc asks the one on this machine. systemd-resolved(8) is at
  /// 127.0.0.53.
  @Test func aNameServerOfThisMachineIsToBeStarted() {
    let loopback = IPAddress(ipv4: 0x7F00_0001)
    func advice(_ server: IPAddress) -> String? {
      let closed = NameFinding.Reply.refused(NetworkStatement(.portUnreachable, by: server))
      return Self.advice(.name(NameFinding(name: "a", servers: [NameFinding.Server(server, ipv4: closed)])))
    }
    #expect(advice(loopback)?.hasPrefix("Start this machine's name server (systemd-resolved at 127.0.0.53)") == true)
    #expect(advice(Self.server) == "Set another name server in /etc/resolv.conf.")
  }

  // MARK: Connections, proxies, portals

  /// A service of this machine is looked at here, and one that a name only leads to by mistake is told so.
  @Test func whereTheServiceIsDecidesWhoIsAsked() {
    let loopback = IPAddress(ipv4: 0x7F00_0001)
    let own = NearestCauseTests.connection(loopback, .reset) { $0.isOwn = true }
    let there = "Start the service there, if it is yours, and check the port; else tell who runs it."
    let here = "Start the service here, or see why the name leads to this machine: /etc/hosts, or a filter of names."
    #expect(Self.advice(own) == here && Self.advice(own, "127.0.0.1:443") == there)
    #expect(Self.advice(own, "localhost") == there && Self.advice(NearestCauseTests.reset) == there)
    let elsewhere = NearestCauseTests.connection(loopback, .reset) { ($0.isOwn, $0.listeners) = (true, [Self.server]) }
    #expect(Self.advice(elsewhere) == "Let the service listen at the address that is asked, or at all.")
    let none = NearestCauseTests.connection(loopback, .reset) { ($0.isOwn, $0.listeners) = (true, []) }
    #expect(Self.advice(none) == here)
    let busy = NearestCauseTests.connection(loopback, .silent) { $0.isOwn = true }
    #expect(Self.advice(busy) == "See whether the service takes its connections: ss -ltn")
    let silent = NearestCauseTests.connection(Self.target, .silent)
    #expect(Self.advice(silent)?.hasPrefix("Ask who runs the target whether it is on") == true)
  }

  /// If something stops sites on the way, the advice is about the network; if something stops the target, about the
  /// target.
  @Test(
    arguments: [
      (.silent, "Ask who runs the target whether it is on, and whether a firewall there drops packets."),
      (.refused(NetworkStatement(.prohibited, by: router)), "Ask who runs the firewall on the way to let a through."),
    ] as [(ConnectionFinding.Outcome, String)])
  func whoStopsSitesIsAskedAboutTheNetwork(outcome: ConnectionFinding.Outcome, words: String) {
    #expect(Self.advice(NearestCauseTests.connection(Self.target, outcome), "a") == words)
    var beyond = BeyondFinding([BeyondFinding.Question(Self.server, .answer)], connection: .answered)
    beyond.stopsSites = outcome
    let network = "Log in to the network, or ask who runs it what stops connections."
    #expect(Self.advice(.beyond(beyond), "internet", goal: .internet) == network)
  }

  @Test func aProxyIsStartedOrLeftOut() {
    func advice(_ outcome: ProxyFinding.Outcome) -> String? {
      Self.advice(.proxy(ProxyFinding(variable: "https_proxy", server: "192.0.2.7:3128", outcome)), goal: .site)
    }
    let error = SiteError(.cannotConnect, "words")
    #expect(advice(.unreachable(error)) == "Start the proxy, or do without it: unset https_proxy")
    let wants = "See whether the proxy wants a user and a password, or do without it: unset https_proxy"
    #expect(advice(.unreadable) == "Put its URL right, or do without it: unset https_proxy")
    #expect(advice(.refuses(error)) == wants && advice(.unresolved)?.hasPrefix("Start the proxy") == true)
  }

  @Test func aLoginIsWhereSomebodyAnswers() {
    let portal = Self.advice(.portal(PortalFinding(status: 302)), "internet", goal: .internet)
    #expect(portal == "Log in to the network: open any http page in a browser.")
    let verdict = SiteVerdict(url: "http://site.example:8080/a", kind: .captivePortal, status: 302)
    let site = Self.advice(.site(SiteFinding(verdict)), goal: .site)
    #expect(site == "Log in to the network: open http://site.example:8080/ in a browser.")
  }

  @Test(
    arguments: [
      (.trustUnreadable, .failed, "Install ca-certificates, or see what SSL_CERT_FILE names."),
      (.certificateExpired, .intercepted, "Ask who runs a.example to renew its certificate."),
      (.certificateNotYetValid, .intercepted, "See whether this machine's clock is right: timedatectl"),
      (.certificateNameMismatch, .intercepted, "Do not trust it; ask who runs a.example, or the network."),
      (.connectionLost, .failed, "Try again later, or ask who runs a.example."),
    ] as [(SiteError.Code, SiteVerdict.Kind, String)])
  func aCertificateIsRenewedByWhoRunsTheSite(code: SiteError.Code, kind: SiteVerdict.Kind, words: String) {
    let verdict = SiteVerdict(url: "https://a.example/", kind: kind, stage: .tls, error: SiteError(code, "words"))
    #expect(Self.advice(.site(SiteFinding(verdict)), goal: .site) == words)
  }

  // MARK: Facts

  /// ip-route(8) prints a route so: its type unless it is unicast, where it leads, its hops, and its metric.
  @Test func routesArePutAsTheProgramPutsThem() {
    func words(_ route: KernelEvidence.RouteFacts, _ target: IPAddress = Self.target) -> String? {
      var evidence = Self.evidence(nil, target)
      evidence.route = route
      return Facts.words(evidence)
    }
    let hop = KernelEvidence.HopFacts(gateway: Self.router, link: "eth0")
    let second = KernelEvidence.HopFacts(gateway: Self.server, link: nil)
    #expect(words(.init(hops: [hop])) == "default via 192.0.2.1 dev eth0 (table main)")
    #expect(words(.init(metric: 0, hops: [second])) == "default via 192.0.2.53 (table main)")
    #expect(words(.init(metric: 1, hops: [.init(link: nil)])) == "default no link metric 1 (table main)")
    let net = IPAddress(ipv4: 0xCB00_7100)
    let refused = words(.init(type: .blackhole, destination: net, prefixLength: 24))
    #expect(refused == "blackhole 203.0.113.0/24 (table main)")
    #expect(words(.init(destination: Self.target, prefixLength: 32)) == "203.0.113.10 (table main)")
    #expect(words(.init(destination: Self.target, prefixLength: 31)) == "203.0.113.10/31 (table main)")
    #expect(words(.init(destination: Self.target, prefixLength: 1)) == "203.0.113.10/1 (table main)")
    let six = words(.init(type: .throw, destination: Self.target6, prefixLength: 128), Self.target6)
    #expect(six == "throw 2001:db8::a (table main)")
    let half = words(.init(destination: Self.target6, prefixLength: 32), Self.target6)
    #expect(half == "2001:db8::a/32 (table main)" && Facts.words(Self.evidence(nil)) == nil)
  }

  @Test func linksAndAddressesAreThoseOfTheirName() {
    var evidence = Self.evidence(nil)
    evidence.links = [
      KernelEvidence.LinkFacts(name: "eth0", mtu: nil),
      KernelEvidence.LinkFacts(name: "wlan0", kind: .wifi, speed: 300, isFullDuplex: false),
    ]
    #expect(Facts.link("wlan0", evidence) == "\(InterfaceKind.wifi) (wlan0)" && Facts.link("x", evidence) == "x")
    #expect(Facts.details("wlan0", evidence) == ": 300 Mbit/s, half duplex, MTU 1500")
    #expect(Facts.details("eth0", evidence) == "" && Facts.details("x", evidence) == "")
    evidence.addresses = [
      KernelEvidence.AddressFacts(address: Self.server, prefixLength: 16),
      KernelEvidence.AddressFacts(address: Self.target, prefixLength: 25, validFor: 60),
    ]
    #expect(Facts.words(Self.target, evidence) == "203.0.113.10/25, valid for 60 s")
    #expect(Facts.words(Self.server, evidence) == "192.0.2.53/16" && Facts.prefix(Self.router, evidence) == "192.0.2.1")
  }
}
