// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import DialtoneSites
import NIOCore
import NIOPosix
import NetworkLab
import SiteLab

/// Checks in a lab's network: threads inside the namespace make their sockets and the engine's.
final class LabSites: Sendable {
  let lab: NetworkLab
  let environment: SiteEnvironment
  private let group: MultiThreadedEventLoopGroup
  /// Keeps the engine, whose threads belong to the lab, from ending between two checks.
  private let anchor: ReachabilityMonitor

  /// Resolves only `names`, and has `nameServers` as from resolv.conf.
  convenience init(_ lab: NetworkLab, names: [String: [String]] = [:], nameServers: [String] = []) throws {
    try self.init(lab, lookup: SiteNames.lookup(names), nameServers: nameServers)
  }

  init(_ lab: NetworkLab, lookup: @escaping NameLookup, nameServers: [String]) throws {
    self.lab = lab
    let servers = nameServers.compactMap { IPAddress($0) }
    let reachability = ReachabilityEnvironment(
      EngineProvider(lookup: lookup, nameServers: { servers }))
    // A thread belongs to the namespace of the one that starts it.
    (group, anchor) = try lab.run {
      (
        MultiThreadedEventLoopGroup(numberOfThreads: 1), ReachabilityMonitor(.localNetwork, environment: reachability)
      )
    }
    environment = SiteEnvironment(reachability: reachability, group: group)
  }

  deinit {
    // The group's threads end some time later: there is no one left to wait, or to handle an error.
    group.shutdownGracefully { _ in }
  }

  func check(
    _ url: String, _ configure: (inout SiteCheckConfiguration) -> Void = { _ in }
  ) async throws -> SiteVerdict {
    try await SitesTests.check(try SiteURL(url), in: environment, configure)
  }
}

/// A client at one end of a cable, and a server at the other.
struct LabCable {
  let client: NetworkLab
  let server: NetworkLab

  /// `client` has v0 with 10.0.0.1/24, 2001:db8::1/64 and defaults via the other end. That has 10.0.0.2, 2001:db8::2
  /// and the site's addresses 192.0.2.80 and 2001:db8:80::80.
  init() throws {
    client = try NetworkLab()
    server = try NetworkLab()
    try Self.connect(client, "v0", to: server, 0)
  }

  /// Lays a cable between `name` of the client and `far` of a server's lab. Each has another `number`.
  static func connect(_ client: NetworkLab, _ name: String, to server: NetworkLab, _ number: Int) throws {
    try client.addVeth(name, "far", peerIn: server)
    try client.up(name)
    try server.up("far")
    try client.waitUntilRunning(name)
    try server.waitUntilRunning("far")
    try client.addAddress("10.\(number).0.1/24", name)
    try client.addAddress("2001:db8:\(number)::1/64", name)
    try server.addAddress("10.\(number).0.2/24", "far")
    try server.addAddress("2001:db8:\(number)::2/64", "far")
    try server.addAddress("192.0.2.80/32", "lo")
    try server.addAddress("2001:db8:80::80/128", "lo")
    let metric = UInt32(100 + number)
    try client.addRoute("default", via: "10.\(number).0.2", dev: name, metric: metric)
    try client.addRoute("default", via: "2001:db8:\(number)::2", dev: name, metric: metric, family: .v6)
  }
}
#endif
