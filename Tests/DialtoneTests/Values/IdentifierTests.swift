// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import TestSupport
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
    (.noSession, "no-session"), (.radioBlocked, "radio-blocked"), (.outOfDescriptors, "out-of-descriptors"),
    (.outOfThreads, "out-of-threads"), (.outOfMemory, "out-of-memory"),
  ]

  @Test(arguments: 0..<reasons.count)
  func aReasonGoesThereAndBack(position: Int) {
    let (reason, identifier) = Self.reasons[position]
    #expect(reason.identifier == identifier)
    #expect(Reachability.Reason(identifier: identifier) == reason)
    #expect(!reason.description.isEmpty)
  }

  static let codes: [(code: ReachabilityError.Code, identifier: String, description: String)] = [
    (.invalidHost, "invalid-host", "invalid host"), (.invalidAddress, "invalid-address", "invalid address"),
    (.timedOut, "timed-out", "timed out"), (.denied, "denied", "denied"), (.pathLost, "path-lost", "path lost"),
  ]

  @Test(arguments: 0..<codes.count)
  func aCodeGoesThereAndBack(position: Int) {
    let (code, identifier, description) = Self.codes[position]
    #expect(code.identifier == identifier && code.description == description)
    #expect(ReachabilityError.Code(identifier: identifier) == code)
  }

  @Test func noKindReasonOrCodeIsMissing() throws {
    #expect(ReachabilityError.Code.all == Self.codes.map(\.code))
    #expect(try constantCount(of: "Code", in: "Sources/Dialtone/Values/ReachabilityError.swift") == Self.codes.count)
    #expect(InterfaceKind.all == Self.kinds.map(\.kind))
    #expect(Reachability.Reason.all == Self.reasons.map(\.reason))
    #expect(Set(Self.reasons.map(\.reason.description)).count == Self.reasons.count)
  }

  @Test(arguments: ["", " ", "WIFI", "Wi-Fi", "wifi ", "no route", "noRoute", "NO-ROUTE", "unknown", "\0"])
  func refusesOtherTexts(text: String) {
    #expect(InterfaceKind(identifier: text) == nil)
    #expect(Reachability.Reason(identifier: text) == nil)
    #expect(ReachabilityError.Code(identifier: text) == nil)
  }

  @Test(arguments: [
    (Reachability.Status.undetermined, "undetermined"), (.unreachable, "unreachable"),
    (.requiresConnection, "requires-connection"), (.reachable, "reachable"),
  ])
  func aStatusHasItsIdentifier(status: Reachability.Status, identifier: String) {
    #expect(status.identifier == identifier)
  }
}
