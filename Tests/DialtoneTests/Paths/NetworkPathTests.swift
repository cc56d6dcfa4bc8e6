// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

/// The properties and descriptions of a path.
struct NetworkPathTests {
  private static let wifi = NetworkPath.Interface(
    interface("wlan0", 2, .wifi), addresses: [ip("192.0.2.2"), ip("2001:db8::2")], gateways: [ip("192.0.2.1")],
    supportsIPv6: false)
  private static let wired = NetworkPath.Interface(
    interface("eth0", 3, .wired), gateways: [ip("198.51.100.1"), ip("fe80::1")], supportsIPv6: true)
  private static let cellular = NetworkPath.Interface(interface("wwan0", 4, .cellular), isExpensive: true)
  private static let tunnel = NetworkPath.Interface(interface("wg0", 5, .tunnel))
  private static let idle = NetworkPath.Interface(interface("eth1", 6, .wired), supportsIPv4: false)

  @Test func aPathIsDeniedByItsReasonAlone() {
    #expect(!NetworkPath(.satisfied, interfaces: [Self.wifi]).isDenied && !NetworkPath(.undetermined).isDenied)
    #expect(!NetworkPath(.unsatisfied, reason: .noCarrier).isDenied)
    #expect(NetworkPath(.undetermined, reason: .denied).isDenied)
  }

  @Test func theFirstInterfaceThatLeadsOnIsPreferred() {
    let path = NetworkPath(.satisfied, interfaces: [Self.idle, Self.wifi, Self.wired])
    #expect(path.preferredInterface == Self.wifi)
    #expect(path.gateways == [ip("192.0.2.1"), ip("198.51.100.1"), ip("fe80::1")])
    #expect(path.uses(.wifi) && path.uses(.wired) && !path.uses(.cellular))
    #expect(path.supportsIPv4 && path.supportsIPv6)
  }

  @Test func anInterfaceThatOnlyReachesItsLinkIsNotUsed() {
    let path = NetworkPath(.satisfied, interfaces: [Self.wifi, Self.idle])
    #expect(!path.uses(.wired))
    #expect(!Self.idle.leadsToInternet)
    #expect(path.description == "satisfied via Wi-Fi (wlan0)")
  }

  @Test(arguments: [NetworkPath.Status.undetermined, .unsatisfied, .requiresConnection])
  func onlyASatisfiedPathUsesAnything(status: NetworkPath.Status) {
    let path = NetworkPath(status, reason: .noCarrier, interfaces: [Self.cellular, Self.wired])
    #expect(path.preferredInterface == nil)
    #expect(path.gateways.isEmpty)
    #expect(!path.uses(.cellular))
    #expect(!path.isExpensive)
    #expect(!path.supportsIPv4 && !path.supportsIPv6)
  }

  @Test(
    "what the preferred interface costs; of a tunnel, also what carries it",
    arguments: [
      ([wifi, cellular], false), ([cellular, wifi], true), ([tunnel, cellular], true),
      ([tunnel, wifi, cellular], false),
      ([tunnel], false), ([wifi, tunnel, cellular], false), ([], false),
    ])
  func aPathCostsWhatItsPreferredInterfaceCosts(interfaces: [NetworkPath.Interface], isExpensive: Bool) {
    #expect(NetworkPath(.satisfied, interfaces: interfaces).isExpensive == isExpensive)
    let constrained = interfaces.map { interface in
      var interface = interface
      interface.isConstrained = interface.isExpensive
      return interface
    }
    #expect(NetworkPath(.satisfied, interfaces: constrained).isConstrained == isExpensive)
  }

  @Test(arguments: [
    (NetworkPath(.undetermined), "undetermined"),
    (NetworkPath(.undetermined, reason: .denied), "undetermined: the system denies access to the network's state"),
    (NetworkPath(.unsatisfied, reason: .noRoute, interfaces: [idle]), "unsatisfied: no route to the destination"),
    (NetworkPath(.requiresConnection, reason: .noSession), "requires a connection: the modem has no session"),
    (NetworkPath(.satisfied, interfaces: [wifi, wired]), "satisfied via Wi-Fi (wlan0), wired (eth0)"),
    (NetworkPath(.satisfied, interfaces: [cellular]), "satisfied via cellular (wwan0), expensive"),
    (NetworkPath(.satisfied), "satisfied"),
  ])
  func readsAsWords(path: NetworkPath, description: String) {
    #expect(path.description == description)
  }

  private static let base = NetworkPath(.satisfied, interfaces: [wifi, wired], supportsDNS: true)

  /// Each changes one thing of which receivers are told.
  private static let changes: [String: @Sendable (inout NetworkPath) -> Void] = [
    "status": { $0.status = .unsatisfied }, "reason": { $0.reason = .noRoute }, "order": { $0.interfaces.reverse() },
    "a missing interface": { $0.interfaces.removeLast() }, "DNS": { $0.supportsDNS = false },
    "IPv4": { $0.supportsIPv4 = false }, "IPv6": { $0.supportsIPv6 = false },
    "Wi-Fi's addresses": ofWiFi { $0.addresses.removeLast() }, "Wi-Fi's gateways": ofWiFi { $0.gateways = [] },
    "Wi-Fi's cost": ofWiFi { $0.isExpensive = true }, "Wi-Fi's limits": ofWiFi { $0.isConstrained = true },
    "Wi-Fi's IPv4": ofWiFi { $0.supportsIPv4.toggle() }, "Wi-Fi's IPv6": ofWiFi { $0.supportsIPv6.toggle() },
    "Wi-Fi's index": ofWiFi { $0.identity = interface("wlan0", 9, .wifi) },
  ]

  private static func ofWiFi(
    _ change: @escaping @Sendable (inout NetworkPath.Interface) -> Void
  ) -> @Sendable (inout NetworkPath) -> Void {
    { path in
      for position in path.interfaces.indices where path.interfaces[position].kind == .wifi {
        change(&path.interfaces[position])
      }
    }
  }

  @Test(arguments: changes.keys.sorted())
  func aDifferenceIsTold(what: String) throws {
    var path = Self.base
    let change = try #require(Self.changes[what])
    change(&path)
    #expect(!path.isSameState(as: Self.base))
    #expect(path != Self.base)
  }

  @Test func temporaryAddressesAndTimeAreNoNewsButNotEqual() {
    var rotated = Self.base
    let rotation = Self.ofWiFi { $0.temporaryAddresses = [ip("2001:db8::abcd")] }
    rotation(&rotated)
    var later = Self.base
    later.realtime = 7
    for path in [rotated, later] {
      #expect(path.isSameState(as: Self.base))
      #expect(path != Self.base)
    }
    #expect(later.timestamp?.durationSince1970 == .nanoseconds(7))
    #expect(later.isIdentical(to: Self.base) && !rotated.isIdentical(to: Self.base))
  }

  @Test func anInterfaceHasWhatItIsMadeOf() {
    #expect(Self.wired.name == "eth0" && Self.wired.index == 3 && Self.wired.kind == .wired)
    #expect(Self.wired.leadsToInternet)
  }
}
