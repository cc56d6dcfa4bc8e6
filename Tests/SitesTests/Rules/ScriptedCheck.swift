// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import Testing

@testable import DialtoneSites

/// A check's state machine, and what its driver sees.
struct ScriptedCheck: Sendable {
  private(set) var machine: CheckStateMachine
  private(set) var uptime: Int64 = 0
  var namePaths: [Reachability?] = []
  var attempt: Route?
  private let url: SiteURL

  init(
    _ url: SiteURL, by proxy: ProxyServer? = nil, _ configure: (inout SiteCheckConfiguration) -> Void = { _ in }
  ) {
    var configuration = SiteCheckConfiguration()
    configure(&configuration)
    self.url = url
    let beginning = CheckStateMachine.Moment(uptime: 0, realtime: UTCTimestamp(durationSince1970: .zero))
    machine = CheckStateMachine(url, configuration, proxy, at: beginning)
  }

  var name: HostName {
    guard case .name(let name) = url.lookupHost else { preconditionFailure("\(url) has no name") }
    return name
  }

  mutating func start() -> [CheckStateMachine.Action] { machine.start() }

  mutating func take(_ event: CheckStateMachine.Event) -> [CheckStateMachine.Action] {
    machine.handle(
      event,
      at: CheckStateMachine.Moment(
        uptime: uptime, realtime: UTCTimestamp(durationSince1970: .zero), namePaths: namePaths, attempt: attempt))
  }

  mutating func pass(_ seconds: Int64) { uptime += seconds * 1_000_000_000 }

  /// The verdict with which an event ends the check.
  mutating func verdict(of event: CheckStateMachine.Event) throws -> SiteVerdict {
    let actions = take(event)
    guard case .end(let verdict)? = actions.last else {
      throw SiteError(.malformedResponse, "no end: \(actions)")
    }
    return try #require(verdict)
  }

  // MARK: States

  /// The same check while a thread looks the name up.
  func lookingUp(servers: [IPAddress] = []) -> ScriptedCheck {
    var check = self
    _ = check.start()
    _ = check.take(.lookupBegan(at: uptime, servers: servers))
    return check
  }

  /// The same check of a literal address, while it connects.
  func connecting() -> ScriptedCheck {
    var check = self
    _ = check.start()
    if url.isSecure { _ = check.take(.trustFound(nil)) }
    _ = check.take(.pathsKnown([.four], [.wifi]))
    return check
  }

  /// The same check once it is connected.
  func exchanging() -> ScriptedCheck {
    var check = connecting()
    _ = check.take(.connected(.four))
    return check
  }
}

extension CheckStateMachine.Action {
  /// A deadline this many seconds after the beginning.
  static func deadline(_ seconds: Int64) -> Self { .setDeadline(seconds * 1_000_000_000) }
}

extension IPAddress {
  static let zero = IPAddress(ipv4: 0)
  static let four = IPAddress(ipv4: 0xC000_0201)
  static let server = IPAddress(ipv4: 0xC000_0235)
  static let six = IPAddress("2001:db8::1") ?? four
}

extension Reachability {
  static let wifi = Reachability(
    status: .reachable, flags: .reachable,
    interface: NetworkInterface(name: "wlan0", index: 3, kind: .wifi))
  static let gone = Reachability(status: .unreachable, reason: .noCarrier)
}

extension Route {
  static let four = Route(address: .four, interface: Reachability.wifi.interface)
  static let six = Route(address: .six, interface: Reachability.wifi.interface)
  static let server = Route(address: .server, interface: Reachability.wifi.interface)
}

extension ProxyServer {
  static let proxy = ProxyServer(host: .address(.server), port: 8_080, authorization: nil)
}

extension CheckStateMachine.PeerCertificate {
  static let good = Self(expires: UTCTimestamp(durationSince1970: .seconds(1_000)), isForSite: true)
}

extension VerdictRules.Head {
  static func status(_ status: Int, _ method: SiteCheckConfiguration.Method = .head) -> Self {
    Self(method: method, status: status)
  }
}
