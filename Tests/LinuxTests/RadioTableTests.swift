// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// The switches of radios, on events that the kernel of the radio lab announced: two simulated radios, phy0 and phy1,
/// one of them blocked and unblocked.
struct RadioTableTests {
  /// `struct rfkill_event_ext`: index, type, operation, soft, hard, reasons of the hard block.
  private static let phy0Added: [UInt8] = [0, 0, 0, 0, 1, 0, 0, 0, 0]
  private static let phy1Added: [UInt8] = [1, 0, 0, 0, 1, 0, 0, 0, 0]
  private static let phy0Blocked: [UInt8] = [0, 0, 0, 0, 1, 2, 1, 0, 0]
  private static let phy0Unblocked: [UInt8] = [0, 0, 0, 0, 1, 2, 0, 0, 0]
  private static let phy1Removed: [UInt8] = [1, 0, 0, 0, 1, 1, 0, 0, 0]
  private static let modemBlocked: [UInt8] = [7, 0, 0, 0, 5, 0, 0, 1, 0]

  private func table(_ events: [UInt8]..., radio: (UInt32) -> UInt32? = { $0 }) throws -> RadioTable {
    var table = RadioTable()
    for event in events {
      let isEvent = table.apply(event, radio: radio)
      try #require(isEvent)
    }
    return table
  }

  private func link(_ kind: InterfaceKind, radio: UInt32? = nil) throws -> Link {
    let message = try BuiltMessages.link(.init(flags: 0x1002, state: .down))
    return try #require(Link(message, kind: kind, radio: radio))
  }

  @Test("a radio is blocked by its own switch, not by another radio's")
  func aRadioIsBlockedByItsOwnSwitch() throws {
    let blocked = try table(Self.phy0Added, Self.phy1Added, Self.phy0Blocked)
    #expect(blocked.isBlocked(try link(.wifi, radio: 0)))
    #expect(try !blocked.isBlocked(link(.wifi, radio: 1)))
    let unblocked = try table(Self.phy0Added, Self.phy1Added, Self.phy0Blocked, Self.phy0Unblocked)
    #expect(try !unblocked.isBlocked(link(.wifi, radio: 0)))
  }

  @Test("a radio with an unknown switch is blocked if all of its kind are")
  func aRadioWithAnUnknownSwitchIsBlockedIfAllAre() throws {
    let one = try table(Self.phy0Added, Self.phy1Added, Self.phy0Blocked, radio: { _ in nil })
    #expect(try !one.isBlocked(link(.wifi, radio: 0)))
    #expect(try !one.isBlocked(link(.wifi)))
    let all = try table(Self.phy0Added, Self.phy1Added, Self.phy0Blocked, Self.phy1Removed, radio: { _ in nil })
    #expect(try all.isBlocked(link(.wifi, radio: 0)))
    #expect(try all.isBlocked(link(.wifi)))
  }

  @Test("what a switch is set to now counts before the last event")
  func thePresentStateOfASwitchCounts() throws {
    let radios = try table(Self.phy0Added)
    #expect(try radios.isBlocked(link(.wifi, radio: 0)) { $0 == 0 ? true : nil })
    #expect(try !radios.isBlocked(link(.wifi, radio: 0)) { $0 == 1 ? true : nil })
  }

  @Test("kinds are told apart; what is no radio is never blocked")
  func kindsOfRadioAreToldApart() throws {
    let radios = try table(Self.phy0Added, Self.modemBlocked)
    #expect(try radios.isBlocked(link(.cellular)))
    #expect(try !radios.isBlocked(link(.wifi, radio: 0)))
    #expect(try !radios.isBlocked(link(.wired)))
    #expect(try !RadioTable().isBlocked(link(.wifi)))
  }

  @Test("a number that is used again is another switch")
  func aNumberUsedAgainIsAnotherSwitch() throws {
    var numbers: [UInt32] = [1, 4]
    let radios = try table(Self.phy1Added, Self.phy1Removed, [1, 0, 0, 0, 1, 0, 1, 0]) { _ in numbers.removeFirst() }
    #expect(try radios.isBlocked(link(.wifi, radio: 4)))
    #expect(try radios.isBlocked(link(.wifi)))
    #expect(numbers.isEmpty)
  }

  @Test("a message that is too short is no event", arguments: [[0, 0, 0, 0, 1, 0, 1], []] as [[UInt8]])
  func aShortMessageIsNoEvent(bytes: [UInt8]) throws {
    var radios = RadioTable()
    let isEvent = radios.apply(bytes) { $0 }
    #expect(!isEvent)
    #expect(try !radios.isBlocked(link(.wifi)))
  }
}
