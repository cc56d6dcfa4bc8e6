// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Testing

@testable import Dialtone

/// What reasons mean to those who wait, and what states of equal parts are to each other.
struct ReasonTests {
  /// The groups of reasons, as the documentation of `Reachability.Reason` describes each.
  private static let groups: [(meaning: Reachability.Reason.Meaning, reasons: [Reachability.Reason])] = [
    (.switchedOff, [.linkDown, .radioBlocked]), (.unconnected, [.noCarrier, .dormant, .noSession]),
    (.missingLink, [.noInterface]), (.unconfigured, [.noRoute, .noAddress]),
    (.forbidden, [.unreachableRoute, .prohibited, .blackhole]), (.unknownName, [.nameNotResolved]),
    (.denial, [.denied, .outOfDescriptors, .outOfThreads, .outOfMemory]),
  ]

  @Test func eachReasonHasOneMeaning() {
    #expect(Self.groups.flatMap(\.reasons).count == Reachability.Reason.all.count)
    for (meaning, reasons) in Self.groups {
      for reason in reasons {
        #expect(reason.meaning == meaning, "\(reason)")
        #expect(reason.isDenial == (meaning == .denial), "\(reason)")
        #expect(reason.isOfLink == (meaning == .switchedOff || meaning == .unconnected), "\(reason)")
        #expect(reason.needsIntervention == (meaning == .switchedOff || meaning == .forbidden), "\(reason)")
        #expect(NetworkPath(.undetermined, reason: reason).isDenied == (meaning == .denial), "\(reason)")
        #expect(Reachability(.undetermined, reason: reason).isDenied == (meaning == .denial), "\(reason)")
      }
    }
    #expect(!Reachability.unknown.isDenied && !NetworkPath.unknown.isDenied)
  }

  @Test func onlyADormantLinkAndABlockedRadioImplyFlags() {
    for reason in Reachability.Reason.all {
      let flags: ReachabilityFlags =
        switch reason {
        case .dormant: .connectionOnTraffic
        case .radioBlocked: .interventionRequired
        default: []
        }
      #expect(reason.impliedFlags == flags, "\(reason)")
    }
  }

  /// errno(3) of open(2), socket(2) and pthread_create(3).
  @Test(arguments: [
    (EMFILE, Reachability.Reason.outOfDescriptors), (ENFILE, .outOfDescriptors), (EAGAIN, .outOfThreads),
    (ENOMEM, .outOfMemory), (ENOBUFS, .outOfMemory), (EPERM, .denied), (EACCES, .denied), (0, .denied),
  ])
  func aShortageIsToldByItsNumber(errno: CInt, reason: Reachability.Reason) {
    #expect(Reachability.Reason(shortage: errno) == reason)
  }

  @Test func onlySomeKindsOfInterfaceImplyFlags() {
    for kind in InterfaceKind.all {
      let flags: ReachabilityFlags =
        switch kind {
        case .cellular: [.isWWAN, .transientConnection]
        case .tunnel: .transientConnection
        default: []
        }
      #expect(kind.impliedFlags == flags, "\(kind)")
    }
  }

  // MARK: States

  @Test func aStateIsKnownIfItSaysAnything() {
    #expect(!Reachability.unknown.isKnown && Reachability.denied.isKnown && Reachability(status: .reachable).isKnown)
    #expect(!NetworkPath.unknown.isKnown && NetworkPath.denied(for: .denied).isKnown && NetworkPath(.satisfied).isKnown)
    #expect(!NetworkPath.unknown.isDetermined && !NetworkPath.denied(for: .denied).isDetermined)
    #expect(NetworkPath(.unsatisfied).isDetermined && NetworkPath(.satisfied).isDetermined)
  }

  @Test func statesOfOtherAddressesAreNotIdentical() {
    let base = Reachability(
      status: .reachable, interface: interface("wlan0"), source: ip("192.0.2.2"), destination: ip("198.41.0.4"))
    func changed(_ change: (inout Reachability) -> Void) -> Reachability {
      var state = base
      change(&state)
      return state
    }
    #expect(base.isIdentical(to: changed { $0.realtime = 9 }))
    for state in [
      changed { $0.source = nil }, changed { $0.source = ip("192.0.2.3") }, changed { $0.destination = nil },
      changed { $0.destination = ip("198.41.0.5") },
    ] {
      #expect(state.isSameState(as: base) && !state.isIdentical(to: base))
    }
    // Whether a remote address could be reached from another source is told.
    let free = changed { $0.freeInterface = 3 }
    #expect(!free.isSameState(as: base) && !free.isIdentical(to: base) && free != base)
  }

  @Test func anAddressTakenOutLeavesNothingBehind() {
    let plain = Reachability(status: .reachable)
    for address in ["192.0.2.1", "2001:db8::1", "fe80::1%eth0"].map(ip) {
      var state = plain
      state.source = address
      state.gateway = address
      state.destination = address
      #expect(state.destination == address && state.gateway?.bits == address.bits)
      state.source = nil
      state.gateway = nil
      state.destination = nil
      #expect(state == plain && state.source == nil && state.gateway == nil && state.destination == nil)
      #expect(Set([state, plain]).count == 1)
    }
  }

  @Test func aStateThatWasNeverDecidedHasNoTime() {
    #expect(Reachability(status: .reachable).timestamp == nil && Reachability.unknown.timestamp == nil)
    #expect(NetworkPath.unknown.timestamp == nil && Reachability(status: .reachable).freeInterface == 0)
    #expect(Reachability(status: .reachable, realtime: 1).timestamp?.durationSince1970 == .nanoseconds(1))
  }

  // MARK: Defaults, as they are documented

  @Test func aConfigurationThatIsNotChangedRestrictsNothing() {
    let target = ReachabilityConfiguration()
    #expect(target.interface == nil && target.mark == 0 && target.family == nil && target.transport == .tcp)
    #expect(target.port == nil && target.settling == .zero && target.usesNAT64 && !target.comparesSources)
    let path = PathConfiguration()
    #expect(path.mark == 0 && path.settling == .zero && path.isUnrestricted)
    #expect(InterfaceKind.all.allSatisfy { path.allows($0) })
  }

  @Test func eachRestrictionOfAPathCounts() {
    func path(_ change: (inout PathConfiguration) -> Void) -> PathConfiguration {
      var configuration = PathConfiguration()
      change(&configuration)
      return configuration
    }
    #expect(!path { $0.requiredKinds = [.wifi] }.isUnrestricted)
    #expect(!path { $0.prohibitedKinds = [.wifi] }.isUnrestricted)
    #expect(!path { $0.interface = "eth0" }.isUnrestricted && path { $0.mark = 7 }.isUnrestricted)
    let required = path { $0.requiredKinds = [.wifi, .wired] }
    #expect(required.allows(.wifi) && required.allows(.wired) && !required.allows(.cellular))
    let prohibited = path { $0.prohibitedKinds = [.wifi] }
    #expect(!prohibited.allows(.wifi) && prohibited.allows(.wired))
    let both = path {
      $0.requiredKinds = [.wifi, .wired]
      $0.prohibitedKinds = [.wifi]
    }
    #expect(!both.allows(.wifi) && both.allows(.wired) && !both.allows(.cellular))
  }

  @Test func aPortOfZeroIsNone() {
    let address = ip("192.0.2.1")
    #expect(ReachabilityTarget.address(address, port: 0) == .address(address))
    #expect(ReachabilityTarget.address(address, port: 0).port == nil)
    #expect(ReachabilityTarget.address(address, from: address, port: 1).port == 1)
    #expect(ReachabilityTarget.address(address, port: 1).description == "192.0.2.1:1")
    #expect(ReachabilityTarget.address(ip("::1"), port: 1).description == "[::1]:1")
    #expect(ReachabilityTarget.address(ip("::1")).description == "::1")
    #expect(ReachabilityTarget.address(ip("::1"), from: ip("::2"), port: 1).description == "[::1]:1 from ::2")
  }

  @Test(arguments: [
    (ReachabilityTarget.internet, false), (.localNetwork, true), (.localNetwork(.wifi), true),
    (.address(ip("169.254.1.1")), true), (.address(ip("::ffff:169.254.1.1")), true), (.address(ip("fe80::1")), false),
    (.address(ip("192.0.2.1"), from: ip("169.254.1.1")), false), (.address(ip("169.254.1.1"), from: ip("::1")), true),
  ])
  func someTargetsAreTheLocalNetwork(target: ReachabilityTarget, isLocal: Bool) {
    #expect(target.isLocalNetwork == isLocal)
  }

  @Test func onlyALostPathHasAnErrorBeneath() {
    struct Failure: Error {}
    for code in ReachabilityError.Code.all {
      let error = ReachabilityError(code, "", underlyingError: Failure())
      #expect((error.underlyingError is Failure) == (code == .pathLost), "\(code)")
    }
  }
}
