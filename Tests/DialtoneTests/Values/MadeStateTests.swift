// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import TestSupport
import Testing

/// States that a user makes for tests and previews. A monitor could have each of them.
struct MadeStateTests {
  private static let wifi = interface("wlan0", 2, .wifi)
  private static let everything = ReachabilityFlags(rawValue: .max)

  /// A state made with every parameter at once.
  private static func made(_ status: Reachability.Status, _ interface: NetworkInterface? = wifi) -> Reachability {
    Reachability(
      status, flags: everything, interface: interface, source: ip("192.0.2.2"), gateway: ip("192.0.2.1"),
      destination: ip("198.51.100.1"), reason: .noCarrier)
  }

  @Test(arguments: [Reachability.Status.undetermined, .unreachable, .requiresConnection, .reachable])
  func flagsAgreeWithTheStatus(status: Reachability.Status) {
    for state in [Self.made(status), Reachability(status), Self.made(status, nil)] {
      #expect(state.status == status)
      #expect(state.flags.contains(.reachable) == (status == .reachable || status == .requiresConnection))
      #expect(state.flags.contains(.connectionRequired) == (status == .requiresConnection))
      #expect(state.flags.isReachableWithoutConnection == state.isReachable)
      #expect(state.isDetermined || state.flags.isEmpty)
    }
  }

  @Test func whatContradictsTheStatusIsLeftOut() {
    let reachable = Self.made(.reachable)
    #expect(reachable.reason == nil && reachable.interface == Self.wifi)
    #expect(reachable.source == ip("192.0.2.2") && reachable.gateway == ip("192.0.2.1"))
    #expect(reachable.flags.isDisjoint(with: [.interventionRequired, .connectionOnDemand, .connectionOnTraffic]))
    for state in [Self.made(.unreachable), Self.made(.requiresConnection)] {
      #expect(state.reason == .noCarrier && state.interface == Self.wifi)
      #expect(state.source == nil && state.gateway == nil && state.destination == ip("198.51.100.1"))
    }
    let unknown = Self.made(.undetermined)
    #expect(unknown.reason == .noCarrier && unknown.interface == nil && unknown.gateway == nil)
  }

  @Test func aMissingReasonHasADefault() {
    #expect(Reachability(.unreachable).reason == .noRoute)
    #expect(Reachability(.requiresConnection).reason == .dormant)
    #expect(Reachability(.reachable).reason == nil && Reachability(.undetermined).reason == nil)
    #expect(NetworkPath(.unsatisfied).reason == .noRoute && NetworkPath(.requiresConnection).reason == .dormant)
    #expect(NetworkPath(.satisfied, reason: .noRoute).reason == nil && NetworkPath(.undetermined).reason == nil)
  }

  @Test func theReasonSaysWhatBringsTheConnectionUp() {
    func flags(_ reason: Reachability.Reason) -> ReachabilityFlags {
      Reachability(.requiresConnection, interface: Self.wifi, reason: reason).flags
    }
    #expect(flags(.dormant) == [.reachable, .connectionRequired, .connectionOnTraffic])
    #expect(flags(.radioBlocked) == [.reachable, .connectionRequired, .interventionRequired])
    #expect(flags(.noSession) == [.reachable, .connectionRequired])
  }

  @Test func flagsAgreeWithTheInterfaceAndTheGateway() {
    func flags(_ kind: InterfaceKind, gateway: Bool = false) -> ReachabilityFlags {
      Reachability(
        .reachable, flags: [.isWWAN, .isDirect], interface: interface("x", 2, kind),
        gateway: gateway ? ip("192.0.2.1") : nil
      ).flags
    }
    #expect(flags(.cellular) == [.reachable, .isWWAN, .transientConnection, .isDirect])
    #expect(flags(.tunnel) == [.reachable, .transientConnection, .isDirect])
    #expect(flags(.wired) == [.reachable, .isDirect])
    #expect(flags(.wired, gateway: true) == .reachable)
  }

  @Test func aTimestampGoesWithWhatIsKnown() {
    let timestamp = UTCTimestamp(durationSince1970: .seconds(1_769_860_800))
    #expect(Reachability(.reachable, timestamp: timestamp).timestamp == timestamp)
    #expect(Reachability(.undetermined, reason: .denied, timestamp: timestamp).timestamp == timestamp)
    #expect(Reachability(.undetermined, timestamp: timestamp).timestamp == nil)
    #expect(NetworkPath(.satisfied, timestamp: timestamp).timestamp == timestamp)
    #expect(NetworkPath(.undetermined, timestamp: timestamp).timestamp == nil)
    #expect(Reachability(.reachable).timestamp ?? .now <= .now)
  }

  @Test func anUndeterminedPathHasNothing() {
    let path = NetworkPath(
      .undetermined, reason: .denied, interfaces: [NetworkPath.Interface(Self.wifi)], supportsDNS: true)
    #expect(path ≈ NetworkPath(.undetermined, reason: .denied))
    #expect(path.interfaces.isEmpty && !path.supportsDNS && !path.supportsIPv4)
  }

  @Test func aCellularInterfaceIsExpensiveAndTemporaryAddressesAreKept() {
    #expect(NetworkPath.Interface(interface("wwan0", 4, .cellular)).isExpensive)
    let way = NetworkPath.Interface(Self.wifi, temporaryAddresses: [ip("2001:db8::1")])
    #expect(!way.isExpensive && way.temporaryAddresses == [ip("2001:db8::1")])
  }

  @Test func anInterfaceSupportsTheFamiliesOfItsAddresses() {
    func families(
      _ addresses: [String] = [], temporary: [String] = [], gateways: [String] = [], ipv4: Bool? = nil,
      ipv6: Bool? = nil
    ) -> [Bool] {
      let way = NetworkPath.Interface(
        Self.wifi, addresses: addresses.map { ip($0) }, temporaryAddresses: temporary.map { ip($0) },
        gateways: gateways.map { ip($0) }, supportsIPv4: ipv4, supportsIPv6: ipv6)
      return [way.supportsIPv4, way.supportsIPv6]
    }
    #expect(families() == [true, false])
    #expect(families(["192.0.2.2"]) == [true, false] && families(["2001:db8::2"]) == [false, true])
    #expect(families(["192.0.2.2", "2001:db8::2"]) == [true, true])
    #expect(families(["192.0.2.2"], temporary: ["2001:db8::3"]) == [true, false])
    #expect(families(["fe80::2", "169.254.0.2"]) == [false, false])
    #expect(families(gateways: ["fe80::1"]) == [false, true])
    #expect(families(["192.0.2.2"], ipv4: false, ipv6: true) == [false, true])
  }

  @Test(arguments: ["", ".", "..", "a/b", "a:b", "a b", "a\n", "sixteen-bytes-xx", "a\0", "à"])
  func aNameThatNoInterfaceCanHaveIsRefused(name: String) {
    #expect(NetworkInterface(name: name, index: 1, kind: .wired) == nil)
  }

  @Test(arguments: ["a", "eth0", "...", "fifteen-bytes-x", "wörld"])
  func aNameThatAnInterfaceCanHaveIsKept(name: String) {
    #expect(NetworkInterface(name: name, index: 1, kind: .wired)?.name == name)
  }
}
