// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneDiagnosis
import Foundation
import Testing

@testable import DialtoneJournal

struct ExplanationTests {
  private func verdict(_ links: [(address: String, interface: String)], _ more: [Finding] = []) throws
    -> DiagnosisVerdict
  {
    let findings = try links.map { address, interface in
      Finding.kernel(KernelFinding(.link(.works(interface)), target: try #require(IPAddress(address))))
    }
    return DiagnosisVerdict(of: "a", goal: .host, findings: findings + more)
  }

  /// A step differs from the same step of the same family alone.
  @Test func comparesStepsOfOneFamily() throws {
    let usual = try verdict([("192.0.2.7", "eth0")]).steps.map(Explanation.Step.init)
    let same = try verdict([("192.0.2.7", "eth0"), ("2001:db8::7", "wlan0")])
    #expect(!same.steps.isEmpty && Explanation(same, goodTime: usual).steps.isEmpty)
    let other = try verdict([("192.0.2.7", "wlan0"), ("2001:db8::7", "wlan0")])
    #expect(Explanation(other, goodTime: usual).steps.map(\.family) == ["ipv4"])
    let address = try #require(IPAddress("2001:db8::7"))
    let fault = Finding.kernel(KernelFinding(.route(.missing), target: address))
    #expect(Explanation(try verdict([("192.0.2.7", "eth0")], [fault]), goodTime: usual).steps.map(\.step) == ["route"])
  }

  /// Without a router on the way, silence is not the provider's.
  @Test func silenceIsTheProvidersBehindARouterAlone() throws {
    let (target, router) = (try #require(IPAddress("192.0.2.9")), try #require(IPAddress("192.0.2.1")))
    func layer(_ result: KernelFinding.Result) -> OutageLayer {
      let silent = ConnectionFinding(.ipv4, [ConnectionFinding.Attempt(target, port: 443, .silent)])
      return OutageLayer(
        DiagnosisVerdict(
          of: "a", goal: .host, findings: [.kernel(KernelFinding(result, target: target)), .connection(silent)]))
    }
    #expect(layer(.route(.leads(gateway: router, interface: "eth0"))) == .provider)
    #expect(layer(.route(.leads(gateway: nil, interface: "eth0"))) == .site)
    #expect(layer(.link(.loopback)) == .machine)
  }

  /// A server that answers at one time alone is a name server, whatever else answers.
  @Test func aNameServerThatFailsAtTimesIsOne() throws {
    let (target, server) = (try #require(IPAddress("203.0.113.9")), try #require(IPAddress("192.0.2.1")))
    let reply = NameFinding.Reply.answer(.success, [target])
    var name = NameFinding(name: "a.example", servers: [.init(server, ipv4: reply)], addresses: [target])
    name.unsteady = NameFinding.Unsteady(server, failures: 1, tries: 2)
    let beyond = BeyondFinding([BeyondFinding.Question(target, .answer)])
    let verdict = DiagnosisVerdict(of: "a", goal: .host, findings: [.beyond(beyond), .name(name)])
    #expect(verdict.cause == .unreliable && OutageLayer(verdict) == .nameServer)
  }

  /// proc(5): the uptime of the system, in which the time that it slept counts.
  @Test func aMomentHasTheSystemsClocks() throws {
    func uptime() throws -> Double {
      let text = try String(contentsOfFile: "/proc/uptime", encoding: .utf8)
      return try #require(Double(text.prefix { $0 != " " }))
    }
    let (date, start) = (Date.now, try uptime())
    let moment = JournalClock.system.now()
    #expect((start - 0.01...(try uptime()) + 0.02).contains(Double(moment.clock) / 1e6))
    #expect(
      (date.addingTimeInterval(-1)...Date.now.addingTimeInterval(1)).contains(
        Date(timeIntervalSince1970: Double(moment.wall) / 1e6)))
  }
}
