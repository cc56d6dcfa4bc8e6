// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneTesting
import TestSupport
import Testing

@testable import Dialtone

/// An IPv4 literal on a network that has only IPv6.
@Suite(.timeLimit(.minutes(5)))
struct NAT64TargetTests {
  private static let literal = ip("192.0.2.33")
  private static let discovery = "ipv4only.arpa"
  private static let prefix = ip("64:ff9b::192.0.0.170")
  private static let translated = ip("64:ff9b::192.0.2.33")

  /// IPv6 over Wi-Fi, without a way to the literal.
  private static func network(_ reason: Reachability.Reason = .noRoute) -> ScriptedNetwork {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.unreachable(reason), for: literal)
    return network
  }

  @Test(.timeLimit(.minutes(1)), arguments: [Reachability.Reason.noRoute, .noAddress, .noCarrier, .linkDown])
  func isReachedThroughThePrefixThatTheNetworkReveals(reason: Reachability.Reason) async throws {
    let network = Self.network(reason)
    network.set(.addresses([Self.prefix]), forName: Self.discovery)
    network.set(.wired, for: Self.translated)
    let monitor = network.monitor(.address(Self.literal))
    // A scripted clock ends no wait.
    try await eventually("through the translator") { monitor.current.isVia("eth0") }
    #expect(monitor.current.destination == Self.translated)
  }

  /// The lookup of the prefix is one that no test sees.
  @Test(arguments: [ScriptedNames.nonexistent, .addresses([prefix])])
  func isDecidedOnceTheNetworkHasSettled(names: ScriptedNames) async throws {
    for _ in 0..<50 {
      let network = scriptedNetwork()
      network.set(.wifi)
      network.set(.wired, for: Self.translated)
      network.set(names, forName: Self.discovery)
      let monitor = network.monitor(.address(Self.literal))
      try await monitor.waitUntilReachable()
      network.set(.unreachable(.noCarrier), for: Self.literal)
      try await network.settle()
      if case .nonexistent = names {
        #expect(monitor.current.isUnreachable(.noCarrier))
      } else {
        #expect(monitor.current.isVia("eth0") && monitor.current.destination == Self.translated)
      }
    }
  }

  @Test(arguments: ["169.254.1.1", "127.0.0.1", "224.0.0.251", "0.0.0.0"])
  func anAddressThatNoTranslatorCanLeadToIsNotLookedFor(text: String) async throws {
    let lab = NameLab()
    lab.answer(Self.discovery, .addresses([Self.prefix]))
    lab.set(.wifi)
    lab.network.set(.unreachable(), for: ip(text))
    lab.network.set(.unreachable(), for: IPAddress.rootServer(.ipv4))
    let monitor = ReachabilityMonitor(.address(ip(text)), environment: lab.environment)
    #expect(try await monitor.waitUntilKnown().isUnreachable(.noRoute))
    #expect(lab.started(Self.discovery) == 0)
  }

  @Test func readsAsBehindTheTranslatorEvenIfThatIsUnreachable() async throws {
    let network = Self.network()
    network.set(.addresses([Self.prefix]), forName: Self.discovery)
    network.set(.unreachable(.prohibited), for: Self.translated)
    #expect(try await network.monitor(.address(Self.literal)).waitUntilKnown().isUnreachable(.prohibited))
  }

  @Test func anIPv4MappedLiteralIsTheIPv4AddressInIt() async throws {
    let network = Self.network()
    network.set(.addresses([Self.prefix]), forName: Self.discovery)
    network.set(.wired, for: Self.translated)
    let state = try await network.monitor(.address(ip("::ffff:192.0.2.33"))).waitUntilReachable()
    #expect(state.destination == Self.translated)
  }

  @Test(arguments: [ScriptedNames.nonexistent, .failing, .addresses([ip("2001:db8::1")])])
  func isUnreachableForItsOwnReasonIfThereIsNoTranslator(names: ScriptedNames) async throws {
    let network = Self.network(.noAddress)
    network.set(names, forName: Self.discovery)
    #expect(try await network.monitor(.address(Self.literal)).waitUntilKnown().isUnreachable(.noAddress))
  }

  @Test func isUndeterminedWhileThePrefixIsAsked() async throws {
    let lab = NameLab()
    lab.hang(Self.discovery)
    lab.set(.wifi)
    let monitor = ReachabilityMonitor(.address(Self.literal), environment: lab.environment)
    let log = Log<Reachability>()
    let token = monitor.observe { log.append($0) }
    try await log.wait("by IPv4") { $0.isReachable }
    lab.network.set(.unreachable(), for: Self.literal)
    lab.advance(by: .zero)
    try await log.wait("undetermined") { $0.status == .undetermined }
    #expect(log.last?.reason == nil)
    // The prefix takes too long: then the known state is told.
    lab.advance(by: .seconds(1))
    try await log.wait("its own reason") { $0.isUnreachable(.noRoute) }
    lab.answer(Self.discovery, .addresses([Self.prefix]))
    try await log.wait("through the translator") { $0.destination == Self.translated }
    #expect(log.last?.isReachable == true)
    token.cancel()
  }

  @Test func isToldNothingBeforeThePrefixIsKnown() async throws {
    let lab = NameLab()
    lab.hang(Self.discovery)
    lab.set(.wifi)
    lab.network.set(.unreachable(), for: Self.literal)
    let monitor = ReachabilityMonitor(.address(Self.literal), environment: lab.environment)
    let log = Log<Reachability>()
    let token = monitor.observe { log.append($0) }
    try await eventually("the prefix is asked for") { lab.running(Self.discovery) == 1 }
    try await lab.settle()
    #expect(log.count == 0)
    lab.answer(Self.discovery, .addresses([Self.prefix]))
    try await log.wait("through the translator") { $0.isReachable }
    #expect(log.count == 1)
    token.cancel()
  }

  @Test func goesBackToIPv4WhenThatComesBack() async throws {
    let network = Self.network()
    network.set(.addresses([Self.prefix]), forName: Self.discovery)
    network.set(.cellular, for: Self.translated)
    let log = Log<Reachability>()
    let token = network.monitor(.address(Self.literal)).observe { log.append($0) }
    try await log.wait("through the translator") { $0.isVia("wwan0") }
    network.set(.wired, for: Self.literal)
    try await log.wait("by IPv4") { $0.isVia("eth0") }
    #expect(log.last?.destination == Self.literal)
    network.set(.unreachable(), for: Self.literal)
    // The prefix was asked for less than a second ago, although for a target that is gone.
    try await log.wait("through the translator again") { $0.isVia("wwan0") }
    token.cancel()
  }

  @Test func asksForNoPrefixIfItIsNotNeeded() async throws {
    let lab = NameLab()
    lab.set(.wifi)
    lab.network.set(.unreachable(), for: Self.literal)
    func state(_ target: ReachabilityTarget, _ configure: (inout ReachabilityConfiguration) -> Void = { _ in })
      async throws -> Reachability
    {
      var configuration = ReachabilityConfiguration()
      configure(&configuration)
      let monitor = ReachabilityMonitor(target, configuration: configuration, environment: lab.environment)
      return try await monitor.waitUntilKnown()
    }
    #expect(try await state(.address(Self.literal)) { $0.usesNAT64 = false }.isUnreachable(.noRoute))
    #expect(try await state(.address(Self.literal)) { $0.family = .ipv4 }.isUnreachable(.noRoute))
    #expect(try await state(.address(ip("192.0.2.34"))).isReachable)
    lab.set(.unreachable(.noCarrier))
    // Without IPv6 there is nothing to translate.
    #expect(try await state(.address(ip("192.0.2.34"))).isUnreachable(.noCarrier))
    for text in ["127.0.0.1", "169.254.1.1", "224.0.0.1", "0.0.0.0"] { _ = try await state(.address(ip(text))) }
    try await lab.settle()
    #expect(lab.started(Self.discovery) == 0)
  }

  @Test(arguments: [Reachability.Reason.prohibited, .blackhole, .unreachableRoute, .noInterface])
  func doesNotTranslateWhatIsUnreachableOnPurpose(reason: Reachability.Reason) async throws {
    let network = Self.network(reason)
    network.set(.addresses([Self.prefix]), forName: Self.discovery)
    #expect(try await network.monitor(.address(Self.literal)).waitUntilKnown().isUnreachable(reason))
  }

  @Test func manyLiteralsShareOneLookup() async throws {
    let lab = NameLab()
    lab.answer(Self.discovery, .addresses([Self.prefix]))
    lab.set(.unreachable())
    lab.network.set(.wifi, for: IPAddress.rootServer(.ipv6))
    let monitors = (1...20).map { number in
      let address = IPAddress(ipv4: 0xC000_0200 + UInt32(number))
      lab.network.set(.wired, for: ip("64:ff9b::192.0.2.\(number)"))
      return ReachabilityMonitor(.address(address), environment: lab.environment)
    }
    for monitor in monitors { #expect(try await monitor.waitUntilReachable().isVia("eth0")) }
    #expect(lab.started(Self.discovery) == 1)
  }
}
