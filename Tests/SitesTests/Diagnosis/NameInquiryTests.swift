// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// What an inquiry about a name does where no server can be asked: nothing is sent, so that nothing is waited for.
struct NameInquiryTests {
  private static let four = NearestCauseTests.target
  private static let six = NearestCauseTests.target6
  private static let router = NearestCauseTests.router
  private static let servers = [IPAddress(ipv4: 0xC000_0235), IPAddress(ipv4: 0xC000_0236)]
  private static let resolver = "nameserver 192.0.2.53\nnameserver 192.0.2.54\nsearch a.example b.example\n"

  /// This machine has no link at all, so that there is no way to anybody.
  private static func noWay(_ server: IPAddress, gateway: IPAddress? = nil) -> KernelEvidence {
    KernelEvidence(target: server, state: Reachability(status: .unreachable, gateway: gateway, reason: .noRoute))
  }

  private static func patience(_ rest: Int64 = 3_600_000_000_000) -> Patience {
    Patience(until: TimeSource.system.now() + rest)
  }

  private static func inquiry(
    sources: String = "dns", hosts: String = "", gateway: IPAddress? = nil, patience: Patience = patience()
  ) -> NameInquiry {
    let configuration = ResolverConfiguration(resolver: resolver, switching: "hosts: \(sources)\n", hosts: hosts)
    return NameInquiry(configuration: configuration, patience: patience) { Self.noWay($0, gateway: gateway) }
  }

  private static func fault(_ server: IPAddress, gateway: IPAddress? = nil) -> NameFinding.Reply {
    .noWay(KernelFinding(.link(.missing(nil)), noWay(server, gateway: gateway)))
  }

  // MARK: Who is asked

  @Test(arguments: [[.ipv4], [.ipv6], [.ipv4, .ipv6]] as [[IPAddress.Family]], [nil, router])
  func whoHasNoWayIsToldSoOfEachFamily(families: [IPAddress.Family], gateway: IPAddress?) {
    let found = Self.inquiry(gateway: gateway).evidence("www", families: families)
    #expect(found.name == "www" && found.source == .dns && found.foundAs == nil && found.addresses == [])
    // No server answers, so that another name gets no answer either.
    #expect(found.tried == ["www.a.example"] && !found.isHurried && !found.isRootOnly)
    #expect(found.servers.map(\.address) == Self.servers)
    for server in found.servers {
      let fault = Self.fault(server.address, gateway: gateway)
      #expect(server.ipv4 == (families.contains(.ipv4) ? fault : nil))
      #expect(server.ipv6 == (families.contains(.ipv6) ? fault : nil))
      #expect(server.control == nil && server.milliseconds == nil && !server.deniesRoot)
      // What a router forwards comes from beyond it.
      #expect(server.isBeyond == (gateway != nil))
    }
    #expect(NameRules.read(found).charge?.cause == .noInterface)
  }

  /// What is heard by one interface says nothing of the router of another.
  @Test func onlyTheInterfaceThatCountsIsBeyondItsRouter() {
    let configuration = ResolverConfiguration(resolver: Self.resolver, switching: "hosts: dns\n")
    for (name, isBeyond) in [(nil, true), ("eth0", true), ("w0", false)] as [(String?, Bool)] {
      let inquiry = NameInquiry(configuration: configuration, patience: Self.patience(), interface: name) { server in
        var evidence = Self.noWay(server, gateway: Self.router)
        evidence.link = KernelEvidence.LinkFacts(name: "eth0", index: 7)
        return evidence
      }
      #expect(inquiry.evidence("", families: [.ipv4]).servers.map(\.isBeyond) == [isBeyond, isBeyond])
    }
  }

  @Test func theRootIsAskedForOnce() {
    let found = Self.inquiry().evidence("", families: [.ipv4, .ipv6])
    #expect(found.isRootOnly && found.name == "the root" && found.tried == [] && !found.isHurried)
    #expect(found.servers.map(\.ipv4) == Self.servers.map { Self.fault($0) })
    #expect(found.servers.allSatisfy { $0.ipv6 == nil && $0.control == nil })
  }

  /// Nobody had the time to answer, so nobody is silent.
  @Test func withoutTimeNobodyIsAsked() {
    let inquiry = Self.inquiry(patience: Self.patience(-1))
    let found = inquiry.evidence("www", families: [.ipv4])
    #expect(found.isHurried && found.servers == [] && found.tried == ["www.a.example"])
    let root = inquiry.evidence("", families: [.ipv4])
    #expect(root.isHurried && root.servers == [] && root.isRootOnly)
  }

  // MARK: Files

  /// nsswitch.conf(5): what the hosts file has counts before what servers say, as its line has it. Whether programs get
  /// it after that, only the system's resolver can tell: `dns [TRYAGAIN=return] files`.
  @Test(arguments: [("files dns", true), ("dns files", false), ("dns", false)])
  func aHostsFileIsLookedIntoInItsOrder(sources: String, isFirst: Bool) {
    let hosts = "203.0.113.10 www\n2001:db8::a www\n"
    let found = Self.inquiry(sources: sources, hosts: hosts).evidence("www", families: [.ipv4, .ipv6])
    #expect(found.source == (isFirst ? .hosts : .dns))
    #expect(found.addresses == (isFirst ? [Self.four, Self.six] : []) && found.name == "www")
    // What is not asked for is no address: only the family that counts is.
    let six = Self.inquiry(sources: sources, hosts: hosts).evidence("www", families: [.ipv6])
    #expect(six.addresses == (isFirst ? [Self.six] : []))
    let none = Self.inquiry(sources: sources, hosts: "203.0.113.10 www\n").evidence("www", families: [.ipv6])
    #expect(none.source == .dns && none.addresses == [] && none.servers.count == 2)
  }

  /// The files are looked into before any server is asked about, if they come first.
  @Test func noServerIsAskedForWhatAFileHas() {
    var asked: [IPAddress] = []
    func evidence(_ sources: String, finds addresses: [IPAddress]) {
      let configuration = ResolverConfiguration(
        resolver: Self.resolver, switching: "hosts: \(sources)\n", hosts: "203.0.113.10 www\n")
      let inquiry = NameInquiry(configuration: configuration, patience: Self.patience()) { server in
        asked.append(server)
        return Self.noWay(server)
      }
      #expect(inquiry.evidence("www", families: [.ipv4]).addresses == addresses)
    }
    evidence("files dns", finds: [Self.four])
    #expect(asked == [])
    evidence("dns files", finds: [])
    #expect(asked == Self.servers)
  }

  // MARK: Asking again

  /// Servers are none here: the system's resolver alone is asked again, and gives these one after the other.
  private func unsteady(
    _ finding: NameFinding, _ replies: [NameFinding.SystemReply], patience: Patience = Self.patience()
  ) -> (NameFinding.Unsteady?, asked: Int) {
    var configuration = ResolverConfiguration(resolver: "")
    configuration.servers = []
    let inquiry = NameInquiry(configuration: configuration, patience: patience) { Self.noWay($0) }
    var asked = 0
    let found = inquiry.unsteady(finding, families: [.ipv4, .ipv6]) {
      asked += 1
      return asked <= replies.count ? replies[asked - 1] : .silent
    }
    return (found, asked)
  }

  private static func finding(
    _ addresses: [IPAddress], _ system: NameFinding.SystemReply?, _ four: NameFinding.Reply? = nil, count: Int = 1,
    _ change: (inout NameFinding) -> Void = { _ in }
  ) -> NameFinding {
    let reply = four ?? .answer(.success, addresses)
    let servers = servers.prefix(count).map { NameFinding.Server($0, ipv4: reply) }
    var finding = NameFinding(name: "www", servers: servers, addresses: addresses, system: system)
    finding.tried = ["www"]
    change(&finding)
    return finding
  }

  private static let all = NameFinding.SystemReply.addresses([four, six])
  private static let some = NameFinding.SystemReply.addresses([four])

  /// Programs get less than servers know: they are asked for twice more, or once more if there are several servers.
  @Test func whatProgramsGetIsAskedForAgain() {
    func unsteady(_ failures: Int, of tries: Int) -> NameFinding.Unsteady {
      NameFinding.Unsteady(nil, failures: failures, tries: tries)
    }
    let lacking = Self.finding([Self.four, Self.six], Self.some)
    #expect(self.unsteady(lacking, [Self.all, Self.some]) == (unsteady(2, of: 3), asked: 2))
    #expect(self.unsteady(lacking, [Self.all, Self.all]) == (unsteady(1, of: 3), asked: 2))
    // What got no answer tells nothing, and a failure is no address.
    #expect(self.unsteady(lacking, [.silent, Self.all]) == (unsteady(1, of: 2), asked: 2))
    #expect(self.unsteady(lacking, [.failed, Self.all]) == (unsteady(2, of: 3), asked: 2))
    let two = Self.finding([Self.four, Self.six], Self.some, count: 2)
    #expect(self.unsteady(two, [Self.all, Self.some]) == (unsteady(1, of: 2), asked: 1))
    // Servers fail, and programs have an address all the same.
    let lost = Self.finding([], Self.some, .silent)
    #expect(self.unsteady(lost, [.failed, Self.some]) == (unsteady(1, of: 3), asked: 2))
    // Programs wait: they may not the next time, or servers fail at times.
    let late = Self.finding([Self.four], .silent)
    #expect(self.unsteady(late, [Self.some]) == (unsteady(1, of: 2), asked: 1))
    let failing = NameFinding.Unsteady(Self.servers[0], failures: 2, tries: 3)
    #expect(self.unsteady(late, []) == (failing, asked: 1))
  }

  /// Nobody is asked again if nothing contradicts, if it would tell nothing, or if no name was asked for.
  @Test func whatFitsIsNotAskedForAgain() {
    let lacking = Self.finding([Self.four, Self.six], Self.some)
    let rows = [
      Self.finding([Self.four], Self.some), Self.finding([Self.four], nil),
      // The name is unknown to servers, which are not out of their depth, and a file may have it.
      Self.finding([], Self.some, .answer(.nameError, [])), Self.finding([], .failed, .silent),
      Self.finding([Self.four, Self.six], Self.some) { $0.source = .system },
      Self.finding([Self.four, Self.six], Self.some) { $0.isHurried = true },
      Self.finding([Self.four, Self.six], Self.some) { $0.tried = [] },
    ]
    for finding in rows { #expect(unsteady(finding, [Self.all, .failed]) == (nil, asked: 0), "\(finding)") }
    // The time is up: a single look shows no change.
    #expect(unsteady(lacking, [Self.all], patience: Self.patience(-1)) == (nil, asked: 0))
    let odd = Self.finding([Self.four], Self.some) { $0.servers[0].ipv6 = .answer(.refused, []) }
    #expect(odd.servers[0].contradictsItself)
    #expect(unsteady(odd, [Self.all], patience: Self.patience(-1)) == (nil, asked: 0))
  }
}
#endif
