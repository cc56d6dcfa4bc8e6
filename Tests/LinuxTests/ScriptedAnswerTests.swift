// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneTesting
import NetworkLab
import TestSupport
import Testing

/// A scripted network beside the kernel: the same interface and the same router.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct ScriptedAnswerTests {
  private let lab: NetworkLab
  private let network = ScriptedNetwork()
  private let index: UInt32

  init() throws {
    lab = try NetworkLab()
    try lab.makeB()
    try lab.addAddress("2001:db8::1/64", "v0")
    try lab.addAddress("fe80::1/64", "v0")
    try lab.addRoute("default", via: "2001:db8::2", dev: "v0")
    index = UInt32(try lab.index(of: "v0"))
    let v0 = try #require(NetworkInterface(name: "v0", index: index, kind: .wired))
    network.set(.reachable(over: v0, gateway: IPAddress("10.0.0.2"), source: IPAddress("10.0.0.1")))
  }

  private func agree(
    _ target: ReachabilityTarget, _ configure: (inout ReachabilityConfiguration) -> Void = { _ in }
  ) throws {
    var asked = ReachabilityConfiguration()
    configure(&asked)
    let configuration = asked
    let real = try lab.run { Reachability.now(target, configuration: configuration, environment: .ofItsOwn()) }
    let scripted = Reachability.now(target, configuration: configuration, environment: network.environment)
    func words(_ state: Reachability) -> String {
      "\(state) by \(state.interface?.index ?? 0) to \(state.destination.map { "\($0)" } ?? "nothing")"
    }
    #expect(words(scripted) == words(real), "\(target)")
    // The script may leave out what it was not told.
    if let source = scripted.source { #expect(source == real.source, "\(target)") }
    if let gateway = scripted.gateway { #expect(gateway == real.gateway, "\(target)") }
  }

  @Test func anInterfaceIsNamedByNameOrIndex() throws {
    for name in ["v0", "\(index)", "\(index + 70)", "x0", "", "0\(index)"] {
      try agree(.internet) { $0.interface = name }
      try agree(.localNetwork) { $0.interface = name }
      try agree(.address("2001:db8:7::7")) { $0.interface = name }
    }
  }

  @Test func bothFamiliesHaveAddressesOfTheirOwn() throws {
    let targets: [ReachabilityTarget] = [
      .internet, .localNetwork, try .address("2001:db8:7::7"), try .address("192.0.2.7"),
    ]
    for family in [nil, IPAddress.Family.ipv4, .ipv6] {
      for target in targets { try agree(target) { $0.family = family } }
    }
  }

  /// The path leads to addresses of both families, and says so.
  @Test func thePathSpeaksTheFamiliesThatItLeadsTo() async throws {
    let path = try await PathMonitor(environment: network.environment).waitUntilDetermined()
    #expect(path.supportsIPv4 && path.supportsIPv6)
    let monitor = try lab.run { PathMonitor(environment: .ofItsOwn()) }
    let real = try await monitor.waitUntilDetermined()
    #expect(real.supportsIPv4 && real.supportsIPv6)
  }

  /// A connection is judged by such a pair.
  @Test func thePairOfAStateIsLikeTheState() throws {
    for remote in ["192.0.2.7", "2001:db8:7::7"] {
      let remote = try #require(IPAddress(remote))
      for local in ["10.0.0.1", "2001:db8::1"] {
        try agree(.address(remote, from: try #require(IPAddress(local))))
      }
      let state = Reachability.now(.address(remote), environment: network.environment)
      if let source = state.source { try agree(.address(remote, from: source)) }
    }
    let pair = ReachabilityTarget.address(IPAddress(ipv4: 0xC000_0207), from: IPAddress(ipv4: 0x0A00_0001))
    #expect(Reachability.now(pair, environment: network.environment).source == IPAddress("10.0.0.1"))
  }

  @Test func aZoneIsAnInterface() throws {
    for zone in ["%v0", "%\(index)", "%x0", "%\(index + 70)", ""] {
      try agree(.address("fe80::9\(zone)"))
      try agree(.address("fe80::9\(zone)")) { $0.interface = "v0" }
      try agree(.address("fe80::9\(zone)")) { $0.interface = "x0" }
    }
  }

  /// `::ffff:192.0.2.7` is 192.0.2.7, in a script as in a target.
  @Test func anIPv4MappedAddressIsTheIPv4Address() throws {
    let mapped = try #require(IPAddress("::ffff:192.0.2.7"))
    try lab.addRoute("192.0.2.7", kind: .unreachable)
    network.set(.unreachable(.unreachableRoute), for: mapped)
    try agree(.address(mapped))
    try agree(.address(mapped.unmapped))
  }
}
#endif
