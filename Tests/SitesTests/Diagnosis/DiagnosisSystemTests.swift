// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Glibc
import NetworkLab
import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// What the system is asked for a diagnosis: its tunnels, its files, and itself if it tells nothing.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)), .threadsApart)
struct DiagnosisSystemTests {
  private static func findings(
    for question: DiagnosisQuestion, _ target: ReachabilityTarget = .internet, _ known: [Finding] = [],
    family: IPAddress.Family? = .ipv4
  ) -> [Finding] {
    var configuration = DiagnosisConfiguration()
    configuration.family = family
    let deadline = TimeSource.system.now() + 3_600_000_000_000
    let inquiry = DiagnosisInquiry(
      subject: DiagnosisSubject(target), configuration: configuration, findings: known, deadline: deadline)
    return SystemQuestion(inquiry: inquiry, patience: Patience(until: deadline)).findings(for: question)
  }

  /// ip-link(8), ip-tuntap(8): a link that is no tunnel has no other end, and of a tun device the kernel knows none.
  @Test(.enabled(if: NetworkLab.canMakeTun, "needs /dev/net/tun"))
  func onlyATunnelHasAnotherEnd() throws {
    let target = NearestCauseTests.target
    func tunnels(_ lab: NetworkLab) throws -> [Finding] {
      try lab.run {
        let name = Finding.name(NameFinding(name: "a", source: .literal, addresses: [target]))
        let way = Self.findings(for: .way, .address(target), [name])
        return Self.findings(for: .tunnels, .address(target), [name] + way)
      }
    }
    let cable = try LabCable()
    #expect(try tunnels(cable.client) == [])
    withExtendedLifetime(cable) {}
    let lab = try NetworkLab()
    let tun = try lab.addTun("tun7")
    defer { tun.close() }
    try lab.up("tun7")
    try lab.addAddress("10.9.0.1/24", "tun7")
    try lab.addRoute("default", dev: "tun7")
    let tunnel = TunnelFinding(.ipv4, interface: "tun7", kind: "tun", peer: .unknown)
    #expect(try tunnels(lab) == [.tunnel(tunnel)])
  }

  /// A sandbox refuses netlink: the kernel tells nothing of any family, and nothing else rests on that.
  @Test func aKernelThatTellsNothingSaysSo() throws {
    let lab = try NetworkLab()
    try lab.deny(.netlinkSockets())
    for family in [IPAddress.Family.ipv4, .ipv6, nil] {
      let found = try lab.run { Self.findings(for: .way, family: family) }
      let families = found.compactMap { finding in
        if case .kernel(let kernel) = finding, kernel.result == .link(.denied) { kernel.target.family } else { nil }
      }
      #expect(Set(families) == Set(family.map { [$0] } ?? [.ipv4, .ipv6]) && families.count == found.count)
      for question in [DiagnosisQuestion.names, .neighbours, .beyond, .connections, .portal, .tunnels] {
        #expect(try lab.run { Self.findings(for: question, family: family) } == [], "\(question)")
      }
    }
  }

  /// resolv.conf(5), nsswitch.conf(5): servers are asked for the root, and that programs ask none is told.
  @Test(
    .enabled(if: SystemFile.text(at: "/etc/nsswitch.conf") != nil, "the file is needed"),
    arguments: [("files dns", .dns), ("files", .none)] as [(String, NameFinding.Source)])
  func serversAreAskedForTheRoot(sources: String, source: NameFinding.Source) async throws {
    let lab = try NetworkLab(ownMounts: true)
    let folder = try TemporaryFolder()
    let texts = ["resolv.conf": "nameserver 127.0.0.1\n", "nsswitch.conf": "hosts: \(sources)\n", "hosts": "\n"]
    defer { for name in texts.keys { _ = unsafe unlink("\(folder.path)/\(name)") } }
    for (name, text) in texts {
      let descriptor = unsafe open("\(folder.path)/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      // The call reads this many bytes.
      #expect(unsafe write(descriptor, text, text.utf8.count) == text.utf8.count && close(descriptor) == 0)
      try lab.bindMount("\(folder.path)/\(name)", over: "/etc/\(name)")
    }
    let address = IPAddress(ipv4: 0x7F00_0001)
    // A name server of the root (RFC 1035, 3.3.11): a.
    let server = try await NameServerTests.Server(in: lab, at: address) { $0.answer(0, [[1, 97, 0]]) }
    let found = try lab.run { Self.findings(for: .names) }
    guard case .name(let name)? = found.first else {
      Issue.record("\(found)")
      return
    }
    #expect(name.isRootOnly && name.source == source && name.servers.map(\.address) == [address])
    #expect(name.servers.map(\.ipv4) == [.answer(.success, [])] && name.servers.allSatisfy { !$0.deniesRoot })
    withExtendedLifetime(server) {}
  }
}
#endif
