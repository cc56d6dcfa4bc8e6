// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What is wrong between this machine and a target.
///
/// More causes may come: a `switch` over them needs a `default`.
public struct DiagnosisCause: Hashable, Sendable {
  private let code: UInt8

  private init(code: UInt8) { self.code = code }

  /// The interface asked for does not exist, or there is none at all.
  public static let noInterface = DiagnosisCause(code: 1)
  /// The interface is switched off.
  public static let linkDown = DiagnosisCause(code: 2)
  /// Nothing is at the other end of the interface.
  public static let noCarrier = DiagnosisCause(code: 3)
  /// The interface waits to be let in, as with 802.1X.
  public static let dormant = DiagnosisCause(code: 4)
  /// The radio is blocked, by a switch or by software.
  public static let radioBlocked = DiagnosisCause(code: 5)
  /// The modem has no session.
  public static let noSession = DiagnosisCause(code: 6)
  /// No address could be the source of packets to the target.
  public static let noAddress = DiagnosisCause(code: 7)
  /// Another host has this machine's address.
  public static let duplicateAddress = DiagnosisCause(code: 8)
  /// There is no route to the target.
  public static let noRoute = DiagnosisCause(code: 9)
  /// A route of type unreachable, prohibit or blackhole stands in the way.
  public static let routeRefuses = DiagnosisCause(code: 10)
  /// A routing rule of such a type stands in the way.
  public static let ruleRefuses = DiagnosisCause(code: 11)
  /// There is a route, and none of its next hops has a link that works.
  public static let routeDead = DiagnosisCause(code: 12)
  /// The gateway does not answer on its link.
  public static let gatewaySilent = DiagnosisCause(code: 13)
  /// No name server answers.
  public static let nameServerSilent = DiagnosisCause(code: 14)
  /// The name servers refuse to answer, or fail.
  public static let nameServerRefuses = DiagnosisCause(code: 15)
  /// The name does not exist, or has no address.
  public static let nameUnknown = DiagnosisCause(code: 16)
  /// The name server lies: it gives names an address that is not theirs.
  public static let nameHijacked = DiagnosisCause(code: 17)
  /// Large packets vanish on the way, while small ones pass.
  public static let pathMTU = DiagnosisCause(code: 18)
  /// The target itself refuses the connection.
  public static let refused = DiagnosisCause(code: 19)
  /// A router or firewall on the way says that the connection is not allowed.
  public static let prohibited = DiagnosisCause(code: 20)
  /// Nobody answers, and nobody says why.
  public static let silent = DiagnosisCause(code: 21)
  /// This machine itself stops the packets: its firewall, IPsec, a filter of a control group, or a queue.
  public static let localFirewall = DiagnosisCause(code: 22)
  /// One address family works, and the other does not.
  public static let familyBroken = DiagnosisCause(code: 23)
  /// The certificate does not prove that the target is who it should be.
  public static let tlsCertificate = DiagnosisCause(code: 24)
  /// This machine's clock is wrong, so that certificates seem to be out of date.
  public static let clockWrong = DiagnosisCause(code: 25)
  /// A network that wants a login answers in the target's place.
  public static let captivePortal = DiagnosisCause(code: 26)
  /// The target answers, and says that something is wrong with itself.
  public static let siteFault = DiagnosisCause(code: 27)
  /// The proxy that other programs use does not answer.
  public static let proxyUnreachable = DiagnosisCause(code: 28)
  /// The other end of the tunnel does not answer.
  public static let tunnelSilent = DiagnosisCause(code: 29)
  /// The loopback interface is down.
  public static let loopbackDown = DiagnosisCause(code: 30)
  /// The system refuses this program what it asks for, as a sandbox does.
  public static let denied = DiagnosisCause(code: 31)

  /// A router says that it has no way to the target: its uplink may be down.
  public static let routerNoRoute = DiagnosisCause(code: 32)
  /// Nothing beyond the router answers.
  public static let uplinkDown = DiagnosisCause(code: 33)
  /// Nobody has the target's address.
  public static let hostAbsent = DiagnosisCause(code: 34)
  /// One of the target's addresses is dead, and others are not.
  public static let addressDead = DiagnosisCause(code: 35)
  /// This machine's own files give a name an address that is nobody's, or let programs look up no name.
  public static let nameWrong = DiagnosisCause(code: 36)
  /// The same try fails at one time, and not at another.
  public static let unreliable = DiagnosisCause(code: 37)
  /// Packets go round in a circle on the way.
  public static let routingLoop = DiagnosisCause(code: 38)
  /// The proxy that other programs use does not lead to the target.
  public static let proxyRefuses = DiagnosisCause(code: 39)

  /// Each cause with its stable identifier, who can prove it, and its words for a person.
  private static let table: [(cause: Self, identifier: String, witness: DiagnosisProof.Witness?, words: String)] = [
    (.noInterface, "no-interface", .kernel, "there is no such interface"),
    (.linkDown, "link-down", .kernel, "the interface is switched off"),
    (.noCarrier, "no-carrier", .kernel, "nothing is connected to the interface"),
    (.dormant, "dormant", .kernel, "the interface waits to be let in"),
    (.radioBlocked, "radio-blocked", .kernel, "the radio is blocked"),
    (.noSession, "no-session", .kernel, "the modem has no session"),
    (.noAddress, "no-address", .kernel, "this machine has no address to send from"),
    (.duplicateAddress, "duplicate-address", .kernel, "another host has this machine's address"),
    (.noRoute, "no-route", .kernel, "there is no route to the target"),
    (.routeRefuses, "route-refuses", .kernel, "a route refuses the packets"),
    (.ruleRefuses, "rule-refuses", .kernel, "a routing rule refuses the packets"),
    (.routeDead, "route-dead", .kernel, "no next hop of the route has a link that works"),
    (.gatewaySilent, "gateway-silent", nil, "the gateway does not answer"),
    (.nameServerSilent, "name-server-silent", nil, "no name server answers"),
    (.nameServerRefuses, "name-server-refuses", nil, "the name servers refuse to answer"),
    (.nameUnknown, "name-unknown", nil, "the name does not exist"),
    (.nameHijacked, "name-hijacked", nil, "the name server gives a false address"),
    (.pathMTU, "path-mtu", nil, "large packets vanish on the way"),
    (.refused, "refused", .kernel, "the target refuses the connection"),
    (.prohibited, "prohibited", nil, "somebody on the way refuses the connection"),
    (.silent, "silent", nil, "nobody answers, and nobody says why"),
    (.localFirewall, "local-firewall", .kernel, "this machine itself stops the packets"),
    (.familyBroken, "family-broken", .kernel, "one address family does not work"),
    (.tlsCertificate, "tls-certificate", .cryptography, "the certificate is not valid"),
    (.clockWrong, "clock-wrong", nil, "this machine's clock is wrong"),
    (.captivePortal, "captive-portal", nil, "the network wants a login"),
    (.siteFault, "site-fault", .cryptography, "something is wrong with the site"),
    (.proxyUnreachable, "proxy-unreachable", .configuration, "the proxy does not answer"),
    (.tunnelSilent, "tunnel-silent", .kernel, "the other end of the tunnel does not answer"),
    (.loopbackDown, "loopback-down", .kernel, "the loopback interface is down"),
    (.denied, "denied", nil, "the system does not let this program ask"),
    (.routerNoRoute, "router-no-route", nil, "a router has no way to the target"),
    (.uplinkDown, "uplink-down", nil, "nothing beyond the router answers"),
    (.hostAbsent, "host-absent", nil, "nobody has the target's address"),
    (.addressDead, "address-dead", nil, "one of the target's addresses takes no connections"),
    (.nameWrong, "name-wrong", .configuration, "the name leads nowhere"),
    (.unreliable, "unreliable", nil, "it works at one time, and not at another"),
    (.routingLoop, "routing-loop", nil, "packets go round in a circle"),
    (.proxyRefuses, "proxy-refuses", nil, "the proxy does not lead to the target"),
  ]

  /// All causes, in the order of their codes.
  public static let all: [DiagnosisCause] = table.map(\.cause)

  /// The cause with this ``identifier``, or `nil` if there is none.
  public init?(identifier: some StringProtocol) {
    guard let row = Self.table.first(where: { $0.identifier == identifier }) else { return nil }
    self = row.cause
  }

  /// A short text that never changes, such as `gateway-silent`.
  public var identifier: String { Self.table[Int(code) - 1].identifier }

  /// Who can prove it. If anybody else says it, it is likely.
  var witness: DiagnosisProof.Witness? { Self.table[Int(code) - 1].witness }
}

extension DiagnosisCause: CustomStringConvertible {
  /// The cause in words, such as "the gateway does not answer".
  public var description: String { Self.table[Int(code) - 1].words }
}
