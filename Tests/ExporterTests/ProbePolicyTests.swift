// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneExporter
import DialtoneSites
import Testing

struct ProbePolicyTests {
  private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

  /// What the addresses stand for: RFC 3927, RFC 4291, RFC 6052, RFC 3056, and the documents of the clouds.
  @Test(arguments: [
    "169.254.169.254", "169.254.0.1", "::ffff:169.254.169.254", "::169.254.169.254", "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe", "2001:db8:64::a9fe:a9fe", "2001:db8::ffff:ffff:a9fe:a9fe", "2002:a9fe:a9fe::1", "fe80::1",
    "febf::1", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "192.0.0.192", "168.63.129.16", "fec0::1",
    "fd00:ec2::23", "fd00:42::42", "fd00:a9fe:a9fe::1", "fd00:100::100:200", "fd00:c1::a9fe:a9fe",
  ])
  func nobodyOpensTheWayToMetadata(_ text: String) throws {
    let all = [
      try #require(AddressAdmission.Network(try address("::"), length: 0)),
      try #require(AddressAdmission.Network(try address("0.0.0.0"), length: 0)),
    ]
    #expect(try !AddressAdmission().admits(address(text)))
    #expect(try !AddressAdmission(networks: all).admits(address(text)))
  }

  @Test(arguments: ["127.0.0.1", "::1", "10.0.0.1", "192.0.2.1", "2001:db8::1", "169.253.255.255", "64:ff9b::102:304"])
  func anythingElseIsProbedForThisMachine(_ text: String) throws {
    let host = SiteURL.Host.address(try address(text))
    #expect(try ProbePolicy.local.admission(of: host)?.admits(address(text)) == true)
  }

  @Test func onlyWhatIsListedIsProbedForOthers() throws {
    let policy = try ProbePolicy(allowing: ["Example.COM", "192.0.2.0/24", "2001:db8::/32", "198.51.100.7"])
    for (text, isAllowed) in [
      ("192.0.2.255", true), ("192.0.3.0", false), ("198.51.100.7", true), ("198.51.100.8", false),
      ("2001:db8:1::1", true), ("2001:db9::1", false), ("127.0.0.1", false), ("::ffff:192.0.2.1", true),
    ] {
      #expect(try (policy.admission(of: .address(address(text))) != nil) == isAllowed, "\(text)")
    }
    // A listed name may lead anywhere but to this machine; another only into the networks.
    let listed = try #require(policy.admission(of: SiteURL("http://example.com/").host))
    #expect(try listed.admits(address("10.0.0.1")) && !listed.admits(address("127.0.0.1")))
    let other = try #require(policy.admission(of: SiteURL("http://example.org/").host))
    #expect(try other.admits(address("192.0.2.9")) && !other.admits(address("10.0.0.1")))
  }

  /// A listed name leads to this machine if that is listed, too.
  @Test func aListedNameLeadsToWhatIsListed() throws {
    for (list, isAllowed) in [(["example.com", "127.0.0.0/8"], true), (["example.com", "::1", "127.0.0.2"], false)] {
      let admission = try ProbePolicy(allowing: list).admission(of: SiteURL("http://example.com/").host)
      #expect(try admission?.admits(address("127.0.0.1")) == isAllowed, "\(list)")
      #expect(try admission?.admits(address("10.0.0.1")) == true)
    }
  }

  @Test func aNameIsNotEvenLookedUpIfNoNetworkIsListed() throws {
    let policy = try ProbePolicy(allowing: ["example.com"])
    #expect(policy.admission(of: SiteURL("http://example.org/").host) == nil)
  }

  @Test(arguments: [
    "192.0.2.0/33", "2001:db8::/129", "192.0.2.0/x", "nosuch/8", "", "a b", "192.0.2.0/-1", "169.254.169.254",
    "fe80::1", "169.254.0.0/16", "169.254.169.0/24", "fe80::/10", "fd00:ec2::254/128", "::ffff:169.254.0.0/112",
    "::ffff:192.0.2.0/24", "::ffff:192.0.2.0/129", "192.0.2.0/\(Int.min)",
  ])
  func refusesWhatIsNoHostOrNetwork(_ text: String) {
    #expect(throws: ProbePolicy.Refusal.self) { try ProbePolicy(allowing: [text]) }
  }

  /// RFC 4291, 2.5.5.2: 96 bits, then the IPv4 address. A network that has more than what is closed is one.
  @Test func readsNetworks() throws {
    let policy = try ProbePolicy(allowing: ["::ffff:192.0.2.0/120", "::ffff:198.51.100.7", "169.252.0.0/14"])
    for (text, isAllowed) in [
      ("192.0.2.255", true), ("192.0.3.0", false), ("198.51.100.7", true), ("198.51.100.8", false),
      ("169.253.0.1", true), ("169.254.0.1", false),
    ] {
      #expect(try (policy.admission(of: .address(address(text))) != nil) == isAllowed, "\(text)")
    }
  }

  /// A name that led elsewhere when it was looked up before: the address of this look-up counts, before any packet.
  @Test func theAddressIsJudgedThatIsConnectedTo() throws {
    var configuration = SiteCheckConfiguration(timeout: .seconds(5))
    var inspection = SiteInspection()
    inspection.admission = AddressAdmission()
    configuration.inspection = inspection
    let moment = CheckStateMachine.Moment(uptime: 0, realtime: .now)
    var machine = CheckStateMachine("http://rebound.example/", configuration, at: moment)
    _ = machine.start()
    let metadata = try address("169.254.169.254")
    _ = machine.handle(.lookupEnded(nil, .addresses([metadata])), at: moment)
    let actions = machine.handle(.pathsKnown([metadata], [.unknown]), at: moment)
    guard case .end(let verdict?)? = actions.last else {
      Issue.record("it does not end: \(actions)")
      return
    }
    #expect(verdict.kind == .failed && verdict.stage == .connect && verdict.address == metadata)
  }
}

struct ListenAddressTests {
  @Test(arguments: [
    ("127.0.0.1:9115", true), ("[::1]:9115", true), ("localhost:9115", true), ("127.1.2.3:1", true),
    ("unix:/run/a.sock", true), (":9115", false), ("0.0.0.0:9115", false), ("[::]:9115", false),
    ("192.0.2.1:80", false), ("[::ffff:127.0.0.1]:80", true),
  ])
  func knowsWhoReachesIt(_ text: String, _ isLocal: Bool) throws {
    #expect(try #require(ListenAddress(text)).isLocal == isLocal)
  }

  @Test(arguments: [
    "", "9115", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "::1:9115", "host:80", "unix:a", "[]:80",
  ])
  func refusesTheRest(_ text: String) { #expect(ListenAddress(text) == nil) }
}
