// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

struct ReachabilityTests {
  private static let base = Reachability(
    status: .reachable, flags: .reachable, interface: interface("wlan0"), source: ip("192.0.2.2"),
    gateway: ip("192.0.2.1"), destination: ip("198.41.0.4"), realtime: 1)

  private static func changed(_ body: (inout Reachability) -> Void) -> Reachability {
    var state = base
    body(&state)
    return state
  }

  @Test func whatReceiversAreToldOfCounts() {
    let different = [
      Self.changed { $0.status = .requiresConnection }, Self.changed { $0.flags.insert(.isDirect) },
      Self.changed { $0.interface = nil }, Self.changed { $0.interface = interface("wlan1") },
      Self.changed { $0.gateway = nil }, Self.changed { $0.gateway = ip("192.0.2.3") },
      Self.changed { $0.reason = .noRoute },
    ]
    for state in different {
      #expect(!state.isSameState(as: Self.base))
      #expect(state != Self.base)
    }
    #expect(Set(different + [Self.base]).count == different.count + 1)
  }

  @Test func sourceDestinationAndTimeAreNoNewsButNotEqual() {
    let same = [
      Self.changed { $0.source = nil }, Self.changed { $0.source = ip("192.0.2.9") },
      Self.changed { $0.destination = nil }, Self.changed { $0.destination = ip("198.41.0.5") },
      Self.changed { $0.destination = ip("fe80::1%eth0") }, Self.changed { $0.destination = ip("fe80::1%eth1") },
      Self.changed { $0.realtime = 2 },
    ]
    for state in same {
      #expect(state.isSameState(as: Self.base))
      #expect(state != Self.base)
    }
    #expect(Set(same + [Self.base, Self.changed { _ in }]).count == same.count + 1)
  }

  static let descriptions: [(state: Reachability, text: String)] = [
    (base, "reachable via Wi-Fi (wlan0)"),
    (Reachability(status: .reachable, flags: .reachable), "reachable"),
    (.unknown, "undetermined"),
    (.denied, "undetermined: the system denies access to the network's state"),
    (Reachability(status: .unreachable, reason: .noRoute), "unreachable: no route to the destination"),
    (
      Reachability(status: .unreachable, interface: interface("eth0", 2, .wired), reason: .noCarrier),
      "unreachable via wired (eth0): no carrier: nothing is connected to the interface"
    ),
    (
      Reachability(status: .requiresConnection, interface: interface("wwan0", 2, .cellular), reason: .noSession),
      "requires a connection via cellular (wwan0): the modem has no session"
    ),
  ]

  @Test(arguments: 0..<descriptions.count)
  func isDescribedInWords(position: Int) {
    let (state, text) = Self.descriptions[position]
    #expect(state.description == text)
  }

  @Test(arguments: [
    (Reachability.Status.undetermined, false, false), (.unreachable, false, true), (.requiresConnection, false, true),
    (.reachable, true, true),
  ])
  func isReachableOnlyIfNothingIsMissing(status: Reachability.Status, isReachable: Bool, isDetermined: Bool) {
    let state = Reachability(status: status)
    #expect(state.isReachable == isReachable)
    #expect(state.isDetermined == isDetermined)
  }

  @Test func timeIsInNanoseconds() {
    let state = Self.changed { $0.realtime = 1_769_860_800_000_000_001 }
    #expect(state.timestamp?.durationSince1970 == .seconds(1_769_860_800) + .nanoseconds(1))
  }

  @Test func errorsAreEqualByCodeAndDescribedByWords() {
    let error = ReachabilityError(.timedOut, "words")
    #expect(error == ReachabilityError(.timedOut, "other words"))
    #expect(error != ReachabilityError(.denied, "words"))
    #expect(error.hashValue == ReachabilityError(.timedOut, "").hashValue)
    #expect(error.description == "words")
    #expect(error.message == "words")
    let codes: [ReachabilityError.Code] = [.invalidHost, .invalidAddress, .timedOut, .denied]
    #expect(Set(codes).count == codes.count)
  }

  @Test func targetsAreDescribedAsTheyAreTyped() throws {
    #expect(ReachabilityTarget.internet.description == "internet")
    #expect(ReachabilityTarget.localNetwork.description == "local-network")
    #expect(ReachabilityTarget.localNetwork(.wifi).description == "local-network over Wi-Fi")
    #expect(ReachabilityTarget.address(ip("fe80::1%eth0")).description == "fe80::1%eth0")
    let pair = ReachabilityTarget.address(ip("192.0.2.1"), from: ip("192.0.2.2"))
    #expect(pair.description == "192.0.2.1 from 192.0.2.2")
    #expect(try ReachabilityTarget.host("example.com").description == "example.com")
    #expect(try ReachabilityTarget.host("example.com") != .host("example.org"))
  }
}
