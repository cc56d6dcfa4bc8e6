// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
public import Dialtone
public import DialtoneSites

/// What checks of the site came to.
public struct SiteFinding: Hashable, Sendable {
  /// What is known of the clock of this machine.
  public struct Clock: Hashable, Sendable {
    /// Seconds since 1970, as the clock says.
    public var now: Int64
    /// Whether something keeps it right; `nil` if the system does not say.
    public var isKept: Bool?
    /// When this machine last changed one of the files that it changes often, in seconds since 1970; `nil` if there is
    /// none of them.
    public var lastChange: Int64?

    /// Makes a reading of a clock.
    public init(now: Int64, isKept: Bool? = nil, lastChange: Int64? = nil) {
      (self.now, self.isKept, self.lastChange) = (now, isKept, lastChange)
    }
  }

  /// How an exchange stopped, as the kernel knows it of the connection (tcp(7), TCP_INFO).
  public enum Stall: String, Hashable, Sendable, CaseIterable {
    /// What was sent is not acknowledged, although it was sent again: it does not arrive.
    case unacknowledged
    /// Segments came behind one that did not: an answer does not arrive.
    case incomplete
    /// All that was sent is acknowledged, and what came has no gap: the other side says nothing.
    case acknowledged
    /// What was to be sent has never left this machine.
    case unsent
  }

  /// The verdict of the first check, which is a usual one.
  public var verdict: SiteVerdict
  /// The verdicts of checks in which both sides sent small segments alone.
  public var smallVerdicts: [SiteVerdict]
  /// The verdicts of further usual checks, if the first failed and something else did not.
  public var laterVerdicts: [SiteVerdict]
  /// The verdicts of checks over HTTP/1.1, if the usual ones are over HTTP/2, and fail.
  public var http1Verdicts: [SiteVerdict] = []
  /// How the usual checks stopped that got no answer in time, as far as the kernel told.
  public var stalls: [Stall]
  /// What is known of this machine's clock.
  public var clock: Clock?
  /// Whether somebody answers the same over http for addresses that nobody has, so that it need not be the site.
  var isAnsweredForAll = false
  /// Whether the site chose HTTP/2 in the first check.
  var isHTTP2 = false
  /// How many segments the kernel has sent again in one exchange, at most.
  var resent = 0

  /// Makes a finding.
  public init(
    _ verdict: SiteVerdict, small: [SiteVerdict] = [], later: [SiteVerdict] = [], stalls: [Stall] = [],
    clock: Clock? = nil
  ) {
    (self.verdict, smallVerdicts, laterVerdicts) = (verdict, small, later)
    (self.stalls, self.clock) = (stalls, clock)
  }
}

extension SiteFinding {
  /// Whether a request got no answer in time, although a connection was made.
  static func isStalled(_ verdict: SiteVerdict) -> Bool {
    verdict.kind == .failed && verdict.error?.code == .timedOut
      && [.tls, .request, .response, .body].contains(verdict.stage)
  }

  /// Whether no connection was made, and not for want of time to look the name up.
  static func isUnconnected(_ verdict: SiteVerdict) -> Bool {
    verdict.kind == .offline || verdict.stage == .connect || verdict.stage == .name && verdict.error?.code != .timedOut
  }

  /// Whether a verdict rests on an answer, though a bad one.
  static func isAnswered(_ verdict: SiteVerdict) -> Bool {
    if verdict.kind == .failed { return verdict.error?.code != .timedOut && verdict.stage != .connect }
    return verdict.kind.answerer != nil || verdict.kind == .intercepted
  }

  /// Whether packets are known to have vanished in each check that stopped, and not only the other side's words.
  var hasLostPackets: Bool { !stalls.isEmpty && !stalls.contains(.acknowledged) }
  /// Whether this machine itself stopped each check that stopped.
  var isHeldHere: Bool { !stalls.isEmpty && stalls.allSatisfy { $0 == .unsent } }

  var hasStalled: Bool { Self.isStalled(verdict) }

  /// Whether all that works is HTTP/1.1, as far as that was tried.
  private var isHTTP2Dead: Bool {
    http1Verdicts.allSatisfy(Self.isGood) && !(usual + smallVerdicts).contains(where: Self.isGood)
  }
  /// Whether HTTP/2 may be why it fails: what a check's own limit ends is no fault.
  var isHTTP2Suspect: Bool {
    isHTTP2 && isHTTP2Dead && [.request, .response, .body].contains(verdict.stage)
      && verdict.error?.code != .headersTooLarge
  }
  /// Whether the site works over HTTP/1.1, each time, and over HTTP/2 never.
  var isHTTP2Broken: Bool { !http1Verdicts.isEmpty && isHTTP2Dead }

  /// Whether a check had no thread or descriptor: that is nobody else's fault.
  var isShort: Bool { usual.contains { [EAGAIN, EMFILE, ENFILE].contains($0.error?.errno) } }

  /// Whether no check got an answer, nor waited for as long as a site may take.
  var isHurried: Bool {
    (usual + smallVerdicts).allSatisfy { Self.isStalled($0) && ($0.timings.total ?? .zero) < Self.patience }
  }

  /// Whether it ended for want of an address, or of one of the family that has a way, after a while.
  var isSlowName: Bool {
    (verdict.kind == .offline || verdict.stage == .name) && (verdict.timings.total ?? .zero) > .milliseconds(900)
  }

  private static let patience = Duration.milliseconds(2_900)
  var usual: [SiteVerdict] { [verdict] + laterVerdicts }
  var successes: Int { usual.count(where: Self.isGood) }

  /// Whether the site itself answered, and not that something is wrong with it.
  static func isGood(_ verdict: SiteVerdict) -> Bool { verdict.kind.answerer == .site && (verdict.status ?? 200) < 500 }
}

extension SiteError {
  /// Whether the certificate is not valid at this machine's time.
  var isAboutTime: Bool { code == .certificateExpired || code == .certificateNotYetValid }
}

extension [Finding] {
  /// The same, each compared with others of the same matter.
  var compared: [Finding] { comparedWithPortal.comparedWithChecks }

  /// What programs get for a name, compared with checks, which look it up again: if it came at once there, the system's
  /// resolver fails at times.
  private var comparedWithChecks: [Finding] {
    let checks = flatMap { if case .site(let site) = $0 { site.usual } else { [SiteVerdict]() } }
    let isQuick = checks.contains { $0.timings.name.map { $0 < .seconds(1) } ?? false }
    return map { finding in
      guard isQuick, case .name(var name) = finding, name.isLateByItself else { return finding }
      name.unsteady = name.unsteady ?? NameFinding.Unsteady(nil, failures: 1, tries: 2)
      return .name(name)
    }
  }

  /// The same, compared with who answers for addresses that nobody has: if no portal does, a site that leads to another
  /// host is none, and one with the same error need not be the site.
  private var comparedWithPortal: [Finding] {
    guard contains(where: { if case .portal(let portal) = $0 { !portal.isPortal } else { false } }) else { return self }
    return map { finding in
      guard case .site(var site) = finding else { return finding }
      func innocent(_ verdict: SiteVerdict) -> SiteVerdict {
        guard verdict.kind == .captivePortal, let status = verdict.status, 300..<400 ~= status else { return verdict }
        return SiteVerdict(
          url: verdict.url, kind: .unexpectedResponse, status: status, location: verdict.location,
          address: verdict.address, interface: verdict.interface, timings: verdict.timings,
          timestamp: verdict.timestamp ?? .now)
      }
      site.verdict = innocent(site.verdict)
      site.laterVerdicts = site.laterVerdicts.map(innocent)
      site.smallVerdicts = site.smallVerdicts.map(innocent)
      site.isAnsweredForAll = site.usual.contains {
        !$0.url.isSecure && ($0.status ?? 0) >= 400 && contains(.portal(PortalFinding(status: $0.status)))
      }
      return .site(site)
    }
  }
}

extension SiteFinding.Clock {
  private static let day: Int64 = 86_400

  /// Whether a date that has passed, or has not come, is not the clock's fault: something keeps the clock right, or the
  /// date had passed when this machine last changed a file.
  func isSure(ofExpiry expiry: Int64?) -> Bool {
    if isKept == true { return true }
    guard let expiry, let lastChange else { return false }
    return expiry < lastChange
  }

  /// How the clock looks wrong.
  enum Fault: Hashable, Sendable {
    case behind, ahead
  }

  /// How the clock looks wrong; `nil` if it does not.
  var fault: Fault? {
    guard let lastChange else { return nil }
    if now < lastChange - Self.day { return .behind }
    // A machine that was off for so long has no certificates that are valid either.
    return now > lastChange + 3 * 365 * Self.day ? .ahead : nil
  }
}

/// Whether datagrams as large as the link's MTU are answered as small ones are.
public struct LargePacketsFinding: Hashable, Sendable {
  /// The family of the datagrams.
  public let family: IPAddress.Family
  /// What came of the large ones.
  public enum Outcome: Hashable, Sendable {
    /// They were answered.
    case answered
    /// Somebody said that they are too large: the sender learns it.
    case refused
    /// They vanished, and small ones were answered.
    case vanished
  }

  /// What came of the large ones; `nil` if the small ones were not answered either.
  public let outcome: Outcome?
  /// The bytes of a large one, with its IP header.
  public let byteCount: Int

  /// Makes a finding.
  public init(_ family: IPAddress.Family, _ outcome: Outcome?, byteCount: Int = 1_500) {
    (self.family, self.outcome, self.byteCount) = (family, outcome, byteCount)
  }
}
