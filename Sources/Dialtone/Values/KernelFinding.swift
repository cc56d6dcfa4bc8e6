// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// One thing that the kernel knows of the way to an address.
///
/// It is a value without words: what it means, and what helps, is for `DialtoneDiagnosis` or your program to say.
public struct KernelFinding: Hashable, Sendable {
  /// The address whose way it is.
  public let target: IPAddress
  /// What was found.
  public let result: Result
  /// All that the kernel said of the way; `nil` for a finding that was made by hand.
  package let evidence: KernelEvidence?

  /// Makes a finding, for your tests.
  public init(_ result: Result, target: IPAddress) {
    (self.result, self.target, evidence) = (result, target, nil)
  }

  package init(_ result: Result, _ evidence: KernelEvidence) {
    (self.result, target, self.evidence) = (result, evidence.target, evidence)
  }

  /// What was found, in the order in which a packet meets it.
  public enum Result: Hashable, Sendable {
    /// The interface that packets leave by.
    case link(Link)
    /// The addresses that packets may come from.
    case address(Address)
    /// The routing rule that decides.
    case rule(Rule)
    /// The route that decides.
    case route(Route)
    /// The source address that the kernel chooses.
    case source(Source)
    /// The neighbour that gets the packets first.
    case neighbour(Neighbour)
  }

  /// The interface that packets leave by.
  public enum Link: Hashable, Sendable {
    /// It carries packets.
    case works(String)
    /// It carries none, for this reason. Nothing may point to it: then it is only the likeliest of several.
    case fails(String, Reachability.Reason, isNamed: Bool)
    /// It carries none, and the route has other hops or names none.
    case failsAmongOthers(String, Reachability.Reason)
    /// There is no such interface; `nil`: there is none besides lo.
    case missing(String?)
    /// The address is this machine's, and lo works.
    case loopback
    /// The address is this machine's, and lo is down.
    case loopbackDown
    /// No interface can be told to be the one.
    case unclear
    /// The kernel does not say.
    case denied
  }

  /// The addresses that packets may come from.
  public enum Address: Hashable, Sendable {
    /// This one serves.
    case works(IPAddress)
    /// This one serves, and is not to be used any more.
    case deprecated(IPAddress)
    /// The target needs none.
    case notNeeded
    /// There is none.
    case missing
    /// There is only an address for the link itself.
    case linkLocal(IPAddress)
    /// It is still looked for elsewhere (RFC 4862, 5.4).
    case tentative(IPAddress)
    /// Another host has it.
    case duplicate(IPAddress)
    /// It is that of a port of a bridge. What comes in there goes to the bridge, unless ebtables(8) has another rule.
    case onPort(IPAddress, bridge: String)
  }

  /// The routing rule that decides.
  public enum Rule: Hashable, Sendable {
    /// It lets packets pass.
    case passes(priority: UInt32)
    /// None refuses them.
    case none
    /// It refuses them. The walk through the rules may not lead to the kernel's own answer: then it is not proven.
    case refuses(priority: UInt32, isProven: Bool)
    /// The rules could not be followed to the end.
    case unknown
  }

  /// The route that decides.
  public enum Route: Hashable, Sendable {
    /// It leads to the target, by a gateway or straight over an interface.
    case leads(gateway: IPAddress?, interface: String?)
    /// There is none.
    case missing
    /// It refuses packets.
    case refuses(Reachability.Reason)
    /// A route or a rule refuses packets, and which one is not known.
    case unexplained(Reachability.Reason)
    /// None of its next hops works.
    case dead
  }

  /// The source address that the kernel chooses.
  public enum Source: Hashable, Sendable {
    /// This one.
    case address(IPAddress)
    /// This one, which belongs to another interface than the packets leave by.
    case foreign(IPAddress, interface: String)
    /// This one, although another address of the interface is in the gateway's network, and this one is not.
    case otherNetwork(IPAddress, gateway: IPAddress)
    /// None of this machine's can be.
    case missing
    /// The kernel sends nothing, for this reason.
    case refused(Reachability.Reason)
    /// The kernel names none.
    case unknown
  }

  /// The neighbour that gets the packets first.
  public enum Neighbour: Hashable, Sendable {
    /// It has answered a packet, or the kernel has just heard from it.
    case answers(IPAddress, isGateway: Bool)
    /// It was there; whether it still is, is not known.
    case answered(IPAddress, isGateway: Bool)
    /// The kernel asked for it and got no answer. `wasProbed`: something was sent so that it would ask.
    case silent(IPAddress, isGateway: Bool, wasProbed: Bool)
    /// This machine stops what is asked of it, or what it answers: a filter of its own.
    case stopped(IPAddress, isGateway: Bool, hasLeft: Bool)
    /// The kernel asks, and has no answer yet.
    case asked(IPAddress, isGateway: Bool)
    /// The kernel has not asked.
    case unknown(IPAddress, isGateway: Bool)
    /// The link has no neighbours to ask for.
    case notAsked
    /// The packets go to nobody on a link.
    case none
  }

  /// Whether it stops the packets.
  public var isFault: Bool {
    switch result {
    case .link(.fails), .link(.missing), .link(.loopbackDown), .link(.denied): true
    case .address(.missing), .address(.linkLocal), .address(.tentative), .address(.duplicate): true
    case .rule(.refuses): true
    case .route(.missing), .route(.refuses), .route(.unexplained), .route(.dead): true
    case .source(.missing), .source(.refused): true
    case .neighbour(.silent), .neighbour(.stopped): true
    default: false
    }
  }

  /// Whether the kernel sends no packets because of it. A dormant link it leaves to others (RFC 2863; 802.1X): what is
  /// sent there goes out.
  package var stopsPackets: Bool {
    if case .link(.fails(_, .dormant, _)) = result { false } else { isFault }
  }
}
