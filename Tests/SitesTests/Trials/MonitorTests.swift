// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import DialtoneSites
import NIOConcurrencyHelpers
import NetworkLab
import SiteLab
import TestSupport
import Testing

/// Trials 51, 56 and 58 of Sites.md: monitors of real servers over real links.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)))
struct MonitorTests {
  /// A server with other steps for each request, counted from 0.
  private func counting(_ steps: @escaping @Sendable (Int, SiteRequest) -> [SiteStep]) -> SiteBehaviour {
    let count = NIOLockedValueBox(0)
    return SiteBehaviour { request in
      steps(
        count.withLockedValue { count in
          defer { count += 1 }
          return count
        }, request)
    }
  }

  @Test("51: HTTP fine, HTTPS blocked: partial; neither blocked: available; both: failed")
  func partial() async throws {
    let cable = try LabCable()
    let identity = try SiteIdentity("lab")
    let plain = try await SiteServer(.answer(204), at: "192.0.2.80", port: 80, in: cable.server)
    let sites = try LabSites(cable.client)
    let monitor = try sites.monitor("http://192.0.2.80/", "https://192.0.2.80/")
    let recording = VerdictRecording(monitor)
    // There is no listener on 443.
    try await recording.wait(for: .partial)
    let secure = try await SiteServer(.answer(204), as: identity, at: "192.0.2.80", port: 443, in: cable.server)
    try await recording.wait(for: .available)
    try await secure.stopListening()
    monitor.checkNow()
    try await recording.wait(for: .partial)
    try await plain.stopListening()
    monitor.checkNow()
    try await recording.wait(for: .failed)
    #expect(recording.kinds == [.partial, .available, .partial, .failed])
  }

  @Test(
    "51: HTTPS blackholed, or in an impostor's hands: partial, too; HTTP captive: a portal", arguments: [true, false])
  func partialWithoutAnAnswer(isBlackholed: Bool) async throws {
    let cable = try LabCable()
    let impostor = try SiteIdentity("self-signed")
    let plain = try await SiteServer(.answer(204), at: "192.0.2.80", port: 80, in: cable.server)
    let secure =
      isBlackholed
      ? try await SiteServer(SiteBehaviour(opening: [.stall]), at: "192.0.2.80", port: 443, in: cable.server)
      : try await SiteServer(.answer(204), as: impostor, at: "192.0.2.80", port: 443, in: cable.server)
    let sites = try LabSites(cable.client)
    let monitor = try sites.monitor("http://192.0.2.80/", "https://192.0.2.80/") { $0.check.timeout = .seconds(2) }
    let recording = VerdictRecording(monitor)
    try await recording.wait(for: .partial)
    #expect(secure.connections.allSatisfy { !$0.received.contains(bytesOf: "HTTP/1") })
    try await plain.stopListening()
    let portal = try await SiteServer(
      .redirect(to: "http://login.example/"), at: "192.0.2.80", port: 80, in: cable.server)
    monitor.checkNow()
    try await recording.wait(for: .captivePortal)
    #expect(portal.requests.count >= 1)
  }

  @Test("56: a failure just after link-up is tried again before a verdict")
  func failureAfterLinkUp() async throws {
    let cable = try LabCable()
    let server = try await SiteServer(
      counting { number, request in number == 0 ? [.reset] : [.answer(204, to: request), .close] },
      at: "192.0.2.80", port: 80, in: cable.server)
    try cable.client.down("v0")
    let sites = try LabSites(cable.client)
    let monitor = try sites.monitor("http://192.0.2.80/") { $0.check.expectation = .success }
    let recording = VerdictRecording(monitor)
    try await recording.wait(for: .offline)
    #expect(server.connectionCount == 0)
    try cable.bringUp()
    try await recording.wait(for: .available)
    #expect(recording.kinds == [.offline, .available])
    #expect(server.requests.count == 2)
  }

  @Test("56: a failure that lasts is told after the second check")
  func failureThatLasts() async throws {
    let cable = try LabCable()
    let server = try await SiteServer(
      counting { number, request in number == 0 ? [.answer(204, to: request), .close] : [.reset] },
      at: "192.0.2.80", port: 80, in: cable.server)
    let sites = try LabSites(cable.client)
    let monitor = try sites.monitor("http://192.0.2.80/") { $0.check.expectation = .success }
    let recording = VerdictRecording(monitor)
    try await recording.wait(for: .available)
    monitor.checkNow()
    try await recording.wait(for: .failed)
    #expect(recording.kinds == [.available, .failed])
    #expect(server.requests.count >= 3)
  }

  @Test("58: the network lost while a request is in flight: offline at once, and the late answer changes nothing")
  func lostInFlight() async throws {
    let cable = try LabCable()
    let isLost = NIOLockedValueBox(false)
    let server = try await SiteServer(
      counting { number, request in
        number == 0
          ? [.hold { isLost.withLockedValue { $0 } }, .answer(500, to: request), .stall]
          : [.answer(204, to: request), .close]
      }, at: "192.0.2.80", port: 80, in: cable.server)
    let sites = try LabSites(cable.client)
    let monitor = try sites.monitor("http://192.0.2.80/") { $0.check.expectation = .success }
    let recording = VerdictRecording(monitor)
    try await eventually(within: .seconds(30), "the request is in flight") { server.requests.count == 1 }
    #expect(recording.kinds.isEmpty)
    #expect(monitor.isChecking)
    try cable.client.down("v0")
    try await recording.wait(for: .offline)
    #expect(!monitor.isChecking)
    // The answer waits in the server's kernel, which sends it as soon as packets pass again.
    isLost.withLockedValue { $0 = true }
    try await eventually(within: .seconds(30), "the late answer has been sent") {
      server.connections.first?.sentCount ?? 0 > 0
    }
    try cable.bringUp()
    try await recording.wait(for: .available)
    #expect(recording.kinds == [.offline, .available])
    #expect(server.requests.count == 2)
  }

  /// While it is offline nothing is sent, even if a check is due.
  @Test("58: offline for long: no request, and then one")
  func nothingIsSentWhileOffline() async throws {
    let cable = try LabCable()
    let server = try await SiteServer(.answer(204), at: "192.0.2.80", port: 80, in: cable.server)
    let sites = try LabSites(cable.client)
    let monitor = try sites.monitor("http://192.0.2.80/") { $0.interval = .milliseconds(50) }
    let recording = VerdictRecording(monitor)
    try await eventually(within: .seconds(30), "it is checked again and again") { server.requests.count > 3 }
    try cable.client.down("v0")
    try await recording.wait(for: .offline)
    // Packets sent before the loss have arrived by the time that a packet sent now would.
    let before = server.connectionCount
    monitor.checkNow()
    #expect(!monitor.isChecking)
    try cable.bringUp()
    try await recording.wait(for: .available)
    #expect(server.connectionCount > before)
    #expect(recording.kinds == [.available, .offline, .available])
  }

  /// Of two ways, the remaining one is used for the check.
  @Test("58: the way changes while a request is in flight: the request is made again over the other way")
  func anotherWay() async throws {
    let cable = try LabCable()
    let other = try NetworkLab()
    try LabCable.connect(cable.client, "w0", to: other, 1)
    let slow = try await SiteServer(SiteBehaviour(), at: "192.0.2.80", port: 80, in: cable.server)
    let quick = try await SiteServer(.answer(204), at: "192.0.2.80", port: 80, in: other)
    let sites = try LabSites(cable.client)
    let monitor = try sites.monitor("http://192.0.2.80/") { $0.check.timeout = .seconds(60) }
    let recording = VerdictRecording(monitor)
    try await eventually(within: .seconds(30), "the request is in flight") { slow.requests.count == 1 }
    try cable.client.down("v0")
    try await recording.wait(for: .available)
    #expect(recording.verdicts.last?.interface?.name == "w0")
    #expect(quick.requests.count == 1)
    #expect(recording.kinds == [.available] || recording.kinds == [.offline, .available], "\(recording.verdicts)")
  }
}

extension LabCable {
  /// Adds what `client.down("v0")` removed: the routes and the IPv6 address.
  func bringUp() throws {
    try client.up("v0")
    try client.addRoute("default", via: "10.0.0.2", dev: "v0", metric: 100)
  }
}
#endif
