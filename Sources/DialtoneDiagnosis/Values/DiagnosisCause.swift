// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What is wrong between this machine and a target.
///
/// More causes may come: a `switch` over them needs a `default`.
public struct DiagnosisCause: Hashable, Sendable {
  /// A short text that never changes, such as `gateway-silent`.
  public let identifier: String
  /// Who can prove it. If anybody else says it, it is likely.
  let witness: DiagnosisProof.Witness?
  private let words: String

  private init(_ identifier: String, _ witness: DiagnosisProof.Witness?, _ words: String) {
    (self.identifier, self.witness, self.words) = (identifier, witness, words)
  }

  /// The interface asked for does not exist, or there is none at all.
  public static let noInterface = Self("no-interface", .kernel, "there is no such interface")
  /// The interface is switched off.
  public static let linkDown = Self("link-down", .kernel, "the interface is switched off")
  /// Nothing is at the other end of the interface.
  public static let noCarrier = Self("no-carrier", .kernel, "nothing is connected to the interface")
  /// The interface waits to be let in, as with 802.1X.
  public static let dormant = Self("dormant", .kernel, "the interface waits to be let in")
  /// The radio is blocked, by a switch or by software.
  public static let radioBlocked = Self("radio-blocked", .kernel, "the radio is blocked")
  /// The modem has no session.
  public static let noSession = Self("no-session", .kernel, "the modem has no session")
  /// No address could be the source of packets to the target.
  public static let noAddress = Self("no-address", .kernel, "this machine has no address to send from")
  /// Another host has this machine's address.
  public static let duplicateAddress = Self("duplicate-address", .kernel, "another host has this machine's address")
  /// There is no route to the target.
  public static let noRoute = Self("no-route", .kernel, "there is no route to the target")
  /// A route of type unreachable, prohibit or blackhole stands in the way.
  public static let routeRefuses = Self("route-refuses", .kernel, "a route refuses the packets")
  /// A routing rule of such a type stands in the way.
  public static let ruleRefuses = Self("rule-refuses", .kernel, "a routing rule refuses the packets")
  /// There is a route, and none of its next hops has a link that works.
  public static let routeDead = Self("route-dead", .kernel, "no next hop of the route has a link that works")
  /// The gateway does not answer on its link.
  public static let gatewaySilent = Self("gateway-silent", nil, "the gateway does not answer")
  /// No name server answers.
  public static let nameServerSilent = Self("name-server-silent", nil, "no name server answers")
  /// The name servers refuse to answer, or fail.
  public static let nameServerRefuses = Self("name-server-refuses", nil, "the name servers refuse to answer")
  /// The name does not exist, or has no address.
  public static let nameUnknown = Self("name-unknown", nil, "the name does not exist")
  /// The name server lies: it gives names an address that is not theirs.
  public static let nameHijacked = Self("name-hijacked", nil, "the name server gives a false address")
  /// Large packets vanish on the way, while small ones pass.
  public static let pathMTU = Self("path-mtu", nil, "large packets vanish on the way")
  /// The target itself refuses the connection.
  public static let refused = Self("refused", .kernel, "the target refuses the connection")
  /// A router or firewall on the way says that the connection is not allowed.
  public static let prohibited = Self("prohibited", nil, "somebody on the way refuses the connection")
  /// Nobody answers, and nobody says why.
  public static let silent = Self("silent", nil, "nobody answers, and nobody says why")
  /// This machine itself stops the packets: its firewall, IPsec, a filter of a control group, or a queue.
  public static let localFirewall = Self("local-firewall", .kernel, "this machine itself stops the packets")
  /// One address family works, and the other does not.
  public static let familyBroken = Self("family-broken", .kernel, "one address family does not work")
  /// The certificate does not prove that the target is who it should be.
  public static let tlsCertificate = Self("tls-certificate", .cryptography, "the certificate is not valid")
  /// This machine's clock is wrong, so that certificates seem to be out of date.
  public static let clockWrong = Self("clock-wrong", nil, "this machine's clock is wrong")
  /// A network that wants a login answers in the target's place.
  public static let captivePortal = Self("captive-portal", nil, "the network wants a login")
  /// The target answers, and says that something is wrong with itself.
  public static let siteFault = Self("site-fault", .cryptography, "something is wrong with the site")
  /// The proxy that other programs use does not answer.
  public static let proxyUnreachable = Self("proxy-unreachable", .configuration, "the proxy does not answer")
  /// The other end of the tunnel does not answer.
  public static let tunnelSilent = Self("tunnel-silent", .kernel, "the other end of the tunnel does not answer")
  /// The loopback interface is down.
  public static let loopbackDown = Self("loopback-down", .kernel, "the loopback interface is down")
  /// The system refuses this program what it asks for, as a sandbox does.
  public static let denied = Self("denied", nil, "the system does not let this program ask")

  /// A router says that it has no way to the target: its uplink may be down.
  public static let routerNoRoute = Self("router-no-route", nil, "a router has no way to the target")
  /// Nothing beyond the router answers.
  public static let uplinkDown = Self("uplink-down", nil, "nothing beyond the router answers")
  /// Nobody has the target's address.
  public static let hostAbsent = Self("host-absent", nil, "nobody has the target's address")
  /// One of the target's addresses is dead, and others are not.
  public static let addressDead = Self("address-dead", nil, "one of the target's addresses takes no connections")
  /// This machine's own files give a name an address that is nobody's, or let programs look up no name.
  public static let nameWrong = Self("name-wrong", .configuration, "the name leads nowhere")
  /// The same try fails at one time, and not at another.
  public static let unreliable = Self("unreliable", nil, "it works at one time, and not at another")
  /// Packets go round in a circle on the way.
  public static let routingLoop = Self("routing-loop", nil, "packets go round in a circle")
  /// The proxy that other programs use does not lead to the target.
  public static let proxyRefuses = Self("proxy-refuses", nil, "the proxy does not lead to the target")

  /// All causes, in the order of the documentation.
  public static let all: [DiagnosisCause] = [
    noInterface, linkDown, noCarrier, dormant, radioBlocked, noSession, noAddress, duplicateAddress, noRoute,
    routeRefuses, ruleRefuses, routeDead, gatewaySilent, nameServerSilent, nameServerRefuses, nameUnknown,
    nameHijacked, pathMTU, refused, prohibited, silent, localFirewall, familyBroken, tlsCertificate, clockWrong,
    captivePortal, siteFault, proxyUnreachable, tunnelSilent, loopbackDown, denied, routerNoRoute, uplinkDown,
    hostAbsent, addressDead, nameWrong, unreliable, routingLoop, proxyRefuses,
  ]

  /// The cause with this ``identifier``, or `nil` if there is none.
  public init?(identifier: some StringProtocol) {
    guard let cause = Self.all.first(where: { $0.identifier == identifier }) else { return nil }
    self = cause
  }
}

extension DiagnosisCause: CustomStringConvertible {
  /// The cause in words, such as "the gateway does not answer".
  public var description: String { words }
}
