// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import DialtoneSites

/// What was found out about the proxy that other programs would use.
public struct ProxyFinding: Hashable, Sendable {
  /// What came of asking it.
  public enum Outcome: Hashable, Sendable {
    /// It led to the site: what the site then said is a finding of its own.
    case delivers
    /// It takes connections; there was no site to ask it for.
    case connects
    /// Its name leads to no address.
    case unresolved
    /// No connection to it could be made, or it said nothing.
    case unreachable(SiteError)
    /// It did not lead to the site: it refused, or does not speak the protocol of a proxy.
    case refuses(SiteError)
    /// The variable has no URL that could be read.
    case unreadable
    /// It was not tried: it speaks a protocol that is not spoken here.
    case notTried
  }

  /// The variable of the environment that names it.
  public let variable: String
  /// Its host and port, without user and password.
  public let server: String
  /// What came of asking it.
  public let outcome: Outcome

  /// Makes a finding.
  public init(variable: String, server: String, _ outcome: Outcome) {
    (self.variable, self.server, self.outcome) = (variable, server, outcome)
  }
}

extension [Finding] {
  /// The proxy that this came of, if it did.
  func proxy(_ outcome: ProxyFinding.Outcome) -> ProxyFinding? {
    lazy.compactMap(\.proxy).first { $0.outcome == outcome }
  }
}

/// Whether somebody answers over http for addresses that nobody has and a name that cannot exist: a network that wants
/// a login does.
public struct PortalFinding: Hashable, Sendable {
  /// The status of the answer; `nil` if there was none.
  public let status: Int?

  /// Makes a finding.
  public init(status: Int?) { self.status = status }

  /// Whether it is an answer as portals give it: a page, a redirect, or that a login is wanted (RFC 9110, 15.5.2; RFC
  /// 6585). A proxy that nobody sees says that it found no way (RFC 9110, 15.6).
  var isPortal: Bool { demandsLogin || status.map { 200..<300 ~= $0 } ?? false }

  /// Whether the answer is no page, but leads to one or wants a login.
  var demandsLogin: Bool { status.map { 300..<400 ~= $0 || [401, 511].contains($0) } ?? false }
}
