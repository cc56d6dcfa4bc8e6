// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneSites

/// RFC 8305, 3.
struct NameResolutionTests {
  private let six = [IPAddress("2001:503:ba3e::2:30")].compactMap(\.self)
  private let four = [IPAddress("198.41.0.4")].compactMap(\.self)
  private let zero = IPAddress(ipv4: 0)
  private let home = IPAddress(ipv4: 0xC0A8_0101)

  private func resolution(requiresPublicAddress: Bool = false) -> NameResolution {
    NameResolution([.ipv6, .ipv4], requiresPublicAddress: requiresPublicAddress)
  }

  @Test func ipv6IsTriedAsSoonAsItIsKnown() {
    var resolution = resolution()
    #expect(resolution.ended(.ipv6, .addresses(six)) == .connect(six))
    #expect(resolution.isOpen)
    #expect(resolution.ended(.ipv4, .addresses(four)) == .connect(four))
    #expect(!resolution.isOpen)
  }

  @Test func ipv4WaitsForIPv6ForTheResolutionDelay() {
    var resolution = resolution()
    #expect(resolution.ended(.ipv4, .addresses(four)) == .waitForIPv6)
    #expect(resolution.delayPassed() == .connect(four))
    #expect(resolution.ended(.ipv6, .addresses(six)) == .connect(six), "late, and tried beside it")
  }

  @Test(arguments: [NameLookupResult.noAddress, .failed])
  func ipv4DoesNotWaitForWhatWillNotCome(_ result: NameLookupResult) {
    var resolution = resolution()
    #expect(resolution.ended(.ipv4, .addresses(four)) == .waitForIPv6)
    #expect(resolution.ended(.ipv6, result) == .connect(four))
    #expect(resolution.delayPassed() == .wait, "once")
    resolution = self.resolution()
    #expect(resolution.ended(.ipv6, result) == .wait)
    #expect(resolution.ended(.ipv4, .addresses(four)) == .connect(four))
  }

  @Test func bothWithinTheDelayAreTriedTogether() {
    var resolution = resolution()
    _ = resolution.ended(.ipv4, .addresses(four))
    #expect(resolution.ended(.ipv6, .addresses(six)) == .connect(four + six))
  }

  @Test(arguments: [
    (NameLookupResult.noAddress, NameLookupResult.noAddress, NameResolution.Failure.noAddress, true),
    (.failed, .noAddress, .failed, true), (.noAddress, .failed, .failed, true), (.failed, .failed, .failed, false),
  ])
  func failsOnceNoFamilyIsLeft(
    _ first: NameLookupResult, _ second: NameLookupResult, _ failure: NameResolution.Failure, _ hasNoAddress: Bool
  ) {
    var resolution = resolution()
    #expect(resolution.ended(.ipv6, first) == .wait)
    #expect(resolution.ended(.ipv4, second) == .fail(failure))
    #expect(resolution.hasNoAddress == hasNoAddress)
  }

  @Test func whatFailsLateChangesNothing() {
    var resolution = resolution()
    _ = resolution.ended(.ipv6, .addresses(six))
    #expect(resolution.ended(.ipv4, .failed) == .wait && !resolution.isOpen)
  }

  @Test func unspecifiedAddressesDoNotCount() {
    var resolution = resolution()
    #expect(resolution.ended(.ipv6, .noAddress) == .wait)
    #expect(resolution.ended(.ipv4, .addresses([zero])) == .fail(.unspecified(zero)))
    resolution = self.resolution()
    #expect(resolution.ended(nil, .addresses([zero] + four)) == .connect(four))
  }

  @Test func privateAddressesDoNotCountIfPublicOnesAreRequired() {
    var resolution = resolution(requiresPublicAddress: true)
    #expect(resolution.ended(.ipv4, .addresses([zero, home])) == .wait)
    #expect(resolution.ended(.ipv6, .noAddress) == .fail(.hijacked(home)))
    resolution = self.resolution(requiresPublicAddress: true)
    #expect(resolution.ended(.ipv4, .addresses([home])) == .wait)
    #expect(resolution.ended(.ipv6, .addresses(six)) == .connect(six))
  }
}
