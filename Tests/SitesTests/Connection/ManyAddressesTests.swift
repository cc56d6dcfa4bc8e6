// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSites
import DialtoneTesting
import SiteLab
import TestSupport
import Testing

/// Names with more addresses than any site has.
@Suite(.timeLimit(.minutes(5)))
struct ManyAddressesTests {
  /// Each is refused at once: TCP does not connect to a group.
  private static let groups = (0..<10_000).map { IPAddress(ipv4: 0xE001_0000 + UInt32($0)) }

  private let network = ScriptedNetwork()

  private func verdict(_ addresses: [IPAddress], port: Int) async throws -> SiteVerdict {
    network.set(.wifi)
    network.set(.addresses(addresses), forName: "many.example")
    let url = try SiteURL("http://many.example:\(port)/")
    return try await check(url, in: SiteEnvironment(reachability: network.environment))
  }

  @Test func thirtyTwoAddressesAreTried() async throws {
    let verdict = try await verdict(Self.groups, port: 80)
    #expect(verdict.kind == .failed && verdict.stage == .connect, "\(verdict)")
    #expect(verdict.error?.code == .cannotConnect, "\(verdict)")
    #expect(verdict.address == Self.groups[31])
    #expect(network.queryCount < 100, "a path is looked for only to what is tried")
  }

  @Test func addressesOfBothFamiliesAreTried() async throws {
    let server = try await SiteServer(.answer(204), .plain)
    let loopback = try #require(IPAddress("127.0.0.1"))
    let groups = (0..<10_000).compactMap { IPAddress("ff0e::\(String($0 + 1, radix: 16))") }
    let verdict = try await verdict(groups + [loopback], port: server.port)
    #expect(verdict.kind == .available && verdict.address == loopback, "\(verdict)")
  }
}
#endif
