// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import TestSupport
import Testing

@testable import DialtoneSites

/// Programs ask for both families at once (getaddrinfo(3), AF_UNSPEC): if hosts(5) has one of them, they ask no name
/// server for the other.
@Suite(.timeLimit(.minutes(5)))
struct HostsRaceTests {
  private static let four = IPAddress(ipv4: 0x7F00_0001)
  private static let six = IPAddress(IPAddressBits(ipv6High: 0x2001_0DB8_0000_0000, low: 1))

  /// What a resolver says of a family, and which families it was asked for. Its hosts file has IPv4 of each name alone,
  /// so that a question for both has no other answer, while a name server knows IPv6.
  private func ask(
    _ name: String, _ family: IPAddress.Family, isOneOfTwo: Bool
  ) async -> (NameLookupResult, [IPAddress.Family?]) {
    let asked = Box<[IPAddress.Family?]>([])
    let resolver = Resolver(
      EngineProvider(
        lookup: { _, family in
          asked.update { $0.append(family) }
          return .addresses(family == .ipv6 ? [Self.six] : [Self.four])
        }, nameServers: { [] }), NameLookupPool(threads: 2))
    let result = await withCheckedContinuation { continuation in
      _ = resolver.ask(name, family, isOneOfTwo: isOneOfTwo, begun: { _ in }) { continuation.resume(returning: $0) }
    }
    return (result, asked.value)
  }

  @Test func aNameOfTheHostsFileHasNoOtherFamily() async throws {
    // Each system's file has it.
    try #require(HostsFile().has("localhost"))
    let (six, asked) = await ask("localhost", .ipv6, isOneOfTwo: true)
    #expect(six == .noAddress && asked == [nil])
    #expect(await ask("localhost", .ipv4, isOneOfTwo: true).0 == .addresses([Self.four]))
    // Who wants one family alone gets it from wherever it is known.
    let (alone, askedAlone) = await ask("localhost", .ipv6, isOneOfTwo: false)
    #expect(alone == .addresses([Self.six]) && askedAlone == [.ipv6])
  }

  @Test func anotherNameIsLookedUpByFamily() async throws {
    let name = "name-of-no-hosts-file.example"
    try #require(!HostsFile().has(name))
    let (six, asked) = await ask(name, .ipv6, isOneOfTwo: true)
    #expect(six == .addresses([Self.six]) && asked == [.ipv6])
  }

  /// hosts(5): names are compared without regard to case; comments end a line; aliases count, parts of a name do not.
  @Test func readsHosts() {
    let file = HostsFile("127.0.0.1 localhost lo # 192.0.2.9 ghost\n::1\tLOCALHOST\nbad name\n192.0.2.1 a.example\n")
    #expect(file.addresses(of: "LocalHost").map(\.description) == ["127.0.0.1", "::1"])
    #expect(file.has("lo") && file.has("a.example") && !file.has("ghost") && !file.has("example") && !file.has("name"))
    #expect(!HostsFile("").has("localhost"))
  }
}
#endif
