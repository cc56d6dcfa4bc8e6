// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

@testable import DialtoneExporter
@testable import DialtoneSites

/// What is told of the machine's paths and of targets, as Exporter.md has it. The network is made up.
@Suite(.timeLimit(.minutes(5)))
struct WatchedTargetsTests {
  private func samples(_ watched: WatchedTargets) -> [String] {
    Exposition.text.text(of: watched.families).split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
  }

  private func paths(_ watched: WatchedTargets) -> [String] {
    samples(watched).filter { $0.hasPrefix("dialtone_path_up{") }.map { String($0.dropFirst("dialtone_path_up".count)) }
  }

  @Test func tellsOfATargetThatIsReachable() async throws {
    let (network, seconds) = (ScriptedNetwork(), Box<Int64>(5))
    network.set(.wifi)
    let clock = TimeSource(passes: false, realtime: { 1_000_000_000_000 }) { seconds.value * 1_000_000_000 }
    let address = try #require(IPAddress("192.0.2.9") as IPAddress?)
    let watched = try WatchedTargets(
      [("host", .network(.address(address)))], reachability: network.environment, time: clock)
    try await eventually("the target and the paths are known") {
      network.clock.advance(by: .seconds(1))
      return samples(watched).contains("dialtone_reachable{target=\"host\"} 1") && watched.isLocalPathUp == true
        && !paths(watched).isEmpty
    }
    seconds.value = 9
    #expect(
      samples(watched) == [
        "dialtone_last_change_timestamp_seconds{target=\"host\"} 1000", "dialtone_local_path_up 1",
        "dialtone_path_up{interface=\"wlan0\",kind=\"wifi\"} 1", "dialtone_reachable{target=\"host\"} 1",
        "dialtone_state_changes_total{target=\"host\"} 0",
        "dialtone_state_seconds_total{target=\"host\",status=\"reachable\"} 4",
        "dialtone_state_seconds_total{target=\"host\",status=\"undetermined\"} 0",
      ])
  }

  /// Packets can leave over an interface that leads to the Internet, as long as the path is satisfied. One that has
  /// left the path is told of, until it is deleted: then its series ends (Prometheus: "Staleness").
  @Test func tellsOfEachInterface() async throws {
    let network = ScriptedNetwork()
    let wired = try #require(NetworkInterface(name: "eth0", index: 3, kind: .wired))
    let wifi = try #require(NetworkInterface(name: "wlan0", index: 2, kind: .wifi))
    func path(_ status: NetworkPath.Status, _ interfaces: [(NetworkInterface, leads: Bool)]) -> NetworkPath {
      NetworkPath(
        status, reason: status == .satisfied ? nil : .noRoute,
        interfaces: interfaces.map { NetworkPath.Interface($0.0, supportsIPv4: $0.leads, supportsIPv6: false) })
    }
    let deleted = Box<Set<String>>([])
    let watched = try WatchedTargets([], reachability: network.environment) { !deleted.value.contains($0) }
    // The network's time goes on, whatever its monitors wait for.
    func tells(_ samples: [String]) -> Bool {
      network.clock.advance(by: .seconds(1))
      return paths(watched) == samples
    }
    network.set(path(.satisfied, [(wired, true), (wifi, false)]))
    let (eth0, wlan0) = (#"{interface="eth0",kind="wired"}"#, #"{interface="wlan0",kind="wifi"}"#)
    try await eventually("one leads") { tells(["\(eth0) 1", "\(wlan0) 0"]) }
    network.set(path(.satisfied, [(wifi, true)]))
    try await eventually("the other leads") { tells(["\(eth0) 0", "\(wlan0) 1"]) }
    network.set(path(.satisfied, [(wired, true), (wifi, true)]))
    try await eventually("both lead") { tells(["\(eth0) 1", "\(wlan0) 1"]) }
    network.set(path(.unsatisfied, []))
    try await eventually("none leads") { tells(["\(eth0) 0", "\(wlan0) 0"]) }
    deleted.value = ["eth0"]
    #expect(paths(watched) == ["\(wlan0) 0"])
    deleted.value = ["wlan0"]
    network.set(path(.satisfied, [(wired, true), (wifi, true)]))
    // What a path tells of is there.
    try await eventually("both are back") { tells(["\(eth0) 1", "\(wlan0) 1"]) }
    network.set(path(.satisfied, [(wired, true)]))
    try await eventually("one is deleted") { tells(["\(eth0) 1"]) }
  }

  /// netdevice(7): no name of an interface has 16 bytes or more.
  @Test func knowsWhichInterfacesThereAre() {
    #expect(WatchedTargets.machineHasInterface("lo"))
    #expect(!WatchedTargets.machineHasInterface("nosuch-interface-of-any-machine"))
  }
}
