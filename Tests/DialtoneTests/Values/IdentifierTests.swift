// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// Texts that other programs rely on. They never change.
struct IdentifierTests {
  static let kinds: [(kind: InterfaceKind, identifier: String, description: String)] = [
    (.wifi, "wifi", "Wi-Fi"), (.cellular, "cellular", "cellular"), (.wired, "wired", "wired"),
    (.loopback, "loopback", "loopback"), (.tunnel, "tunnel", "tunnel"), (.other, "other", "other"),
  ]

  @Test(arguments: 0..<kinds.count)
  func aKindGoesThereAndBack(position: Int) {
    let (kind, identifier, description) = Self.kinds[position]
    #expect(kind.identifier == identifier)
    #expect(kind.description == description)
    #expect(InterfaceKind(identifier: identifier) == kind)
  }

  static let reasons: [(reason: Reachability.Reason, identifier: String)] = [
    (.noRoute, "no-route"), (.unreachableRoute, "unreachable-route"), (.prohibited, "prohibited"),
    (.blackhole, "blackhole"), (.linkDown, "link-down"), (.noCarrier, "no-carrier"), (.noAddress, "no-address"),
    (.noInterface, "no-interface"), (.nameNotResolved, "name-not-resolved"), (.denied, "denied"), (.dormant, "dormant"),
    (.noSession, "no-session"), (.radioBlocked, "radio-blocked"),
  ]

  @Test(arguments: 0..<reasons.count)
  func aReasonGoesThereAndBack(position: Int) {
    let (reason, identifier) = Self.reasons[position]
    #expect(reason.identifier == identifier)
    #expect(Reachability.Reason(identifier: identifier) == reason)
    #expect(!reason.description.isEmpty)
  }

  @Test func noKindOrReasonIsMissingFromTheTables() {
    #expect(InterfaceKind.all == Self.kinds.map(\.kind))
    #expect(Reachability.Reason.all == Self.reasons.map(\.reason))
    #expect(Set(Self.reasons.map(\.reason.description)).count == Self.reasons.count)
  }

  @Test(arguments: ["", " ", "WIFI", "Wi-Fi", "wifi ", "no route", "noRoute", "NO-ROUTE", "unknown", "\0"])
  func refusesOtherTexts(text: String) {
    #expect(InterfaceKind(identifier: text) == nil)
    #expect(Reachability.Reason(identifier: text) == nil)
  }

  @Test(arguments: [
    (Reachability.Status.undetermined, "undetermined"), (.unreachable, "unreachable"),
    (.requiresConnection, "requires-connection"), (.reachable, "reachable"),
  ])
  func aStatusHasItsIdentifier(status: Reachability.Status, identifier: String) {
    #expect(status.identifier == identifier)
  }
}
