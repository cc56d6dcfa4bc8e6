// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneSites

/// Who proves a cause. Without one, a cause is likely at most.
///
/// Only the evidence itself makes a proof, in this file: an address that somebody claims, an ICMP message, a TCP reset
/// and an answer of the DNS can come from anybody on the way, so nothing here takes one.
public struct DiagnosisProof: Hashable, Sendable {
  /// Who can prove something.
  public enum Witness: String, Hashable, Sendable, CaseIterable {
    /// The kernel, about this machine.
    case kernel
    /// A file or variable of this machine, about what its programs do.
    case configuration
    /// A signature that was checked, or a key that only the target has.
    case cryptography
  }

  /// Who it is.
  public let witness: Witness

  private init(_ witness: Witness) { self.witness = witness }

  /// What the kernel says of this machine: `nil` for a neighbour, of which others say what the kernel repeats.
  init?(_ finding: KernelFinding) {
    switch finding.result {
    // What a dormant link carries is for others to say, and what the kernel does not tell need not be in the way.
    case .link(.fails(_, .dormant, _)), .link(.denied): return nil
    case .link(.fails(_, _, isNamed: true)), .link(.missing), .link(.loopbackDown): break
    case .address(.missing), .address(.linkLocal), .address(.tentative), .address(.duplicate): break
    case .rule(.refuses(_, isProven: true)), .route(.missing), .route(.refuses), .route(.dead), .source(.missing): break
    default: return nil
    }
    self.init(.kernel)
  }

  /// What this machine refuses itself: its own port, or netfilter's verdict on what it sends.
  init?(_ finding: ConnectionFinding, _ attempt: ConnectionFinding.Attempt) {
    switch attempt.outcome {
    case .failed(EPERM) where !finding.hasCallFilter: break
    // Packets to a loopback address are not led elsewhere (route_localnet), and nothing listens there.
    case .reset where finding.isOwn && attempt.address.isLoopback && finding.listeners?.isEmpty == true: break
    // For a port without a listener TCP sends a reset: an ICMP message is a filter's (RFC 9293, 3.10.7.1).
    case .refused(let statement) where finding.isOwn && statement.isOwn: break
    case .silent where finding.isDatagramForbidden && attempt.sight?.hasLeft == false: break
    default: return nil
    }
    self.init(.kernel)
  }

  /// What this machine's files say, or netfilter of each question.
  init?(_ finding: NameFinding) {
    func isForbidden(_ server: NameFinding.Server) -> Bool {
      !server.replies.isEmpty && server.replies.allSatisfy { $0 == .forbidden }
    }
    if finding.source == .none || finding.source == .hosts && finding.addresses.allSatisfy(\.isUnspecified) {
      self.init(.configuration)
    } else if !finding.servers.isEmpty, finding.servers.allSatisfy(isForbidden) {
      self.init(.kernel)
    } else {
      return nil
    }
  }

  /// That WireGuard has no peer for the target, or what stops the packets beneath.
  init?(_ finding: TunnelFinding) {
    switch finding.peer {
    case .none: self.init(.kernel)
    case .known(_, _, _, let beneath?): self.init(beneath)
    default: return nil
    }
  }

  /// A certificate that was checked and does not prove who it should; an answer of a target that has proven itself.
  init?(_ finding: SiteFinding, _ verdict: SiteVerdict) {
    guard verdict.url.isSecure else { return nil }
    switch verdict.kind {
    case .intercepted:
      if verdict.error?.isInDispute == true { return nil }
      if let error = verdict.error, error.isAboutTime {
        let expiry = verdict.certificateExpires?.durationSince1970.components.seconds
        let isSure = finding.clock?.isSure(ofExpiry: error.code == .certificateExpired ? expiry : nil) ?? false
        if !isSure { return nil }
      }
    case let kind where kind.answerer == .site: break
    default: return nil
    }
    self.init(.cryptography)
  }

  /// That the environment names a proxy that cannot be one.
  init?(_ finding: ProxyFinding) {
    guard finding.outcome == .unreadable else { return nil }
    self.init(.configuration)
  }
}

/// That what was asked for has just succeeded, in the way that a program takes. Only a success makes one, and without
/// one there is no verdict of "nothing wrong".
struct Success: Hashable, Sendable {
  /// What was asked for.
  enum Kind: Hashable, Sendable {
    case site(SiteVerdict)
    case connection(IPAddress, port: UInt16, milliseconds: Double)
    case beyond(IPAddress)
  }

  let kind: Kind

  /// The success of a goal among findings; `nil` if there is none.
  init?(of goal: DiagnosisGoal, in findings: [Finding]) {
    // Programs go by their proxy, and whether that leads on is not known.
    if goal != .host, findings.contains(where: { [.connects, .notTried].contains($0.proxy?.outcome) }) { return nil }
    // Nor is that of what had not answered when the time was up. For the Internet, programs need names, too.
    let isOpen = { kind in findings.contains(.unasked(kind, nil, .timeIsUp)) }
    let name = findings.lazy.compactMap(\.name).first
    let isNameOpen = isOpen(.name) || name.map { $0.isHurried && !$0.servers.contains(where: \.hasAnswered) } ?? false
    if goal != .host && isOpen(.proxy) || goal == .internet && isNameOpen { return nil }
    guard let kind = findings.lazy.compactMap({ Self.success(of: goal, in: $0) }).first else { return nil }
    self.kind = kind
  }

  private static func success(of goal: DiagnosisGoal, in finding: Finding) -> Kind? {
    switch (goal, finding) {
    case (.site, .site(let site)) where !site.isAnsweredForAll:
      return site.usual.first(where: SiteFinding.isGood).map { .site($0) }
    case (.host, .connection(let connection)):
      return connection.attempts.lazy.compactMap { attempt in
        attempt.outcome.milliseconds.map { .connection(attempt.address, port: attempt.port, milliseconds: $0) }
      }.first
    case (.internet, .beyond(let beyond))
    where [nil, .answered, .otherPort].contains(beyond.connection) && beyond.stopsSites == nil:
      return beyond.questions.first { $0.outcome == .answer }.map { .beyond($0.server) }
    default: return nil
    }
  }
}

/// A cause, and its proof if it has one.
struct Charge: Hashable, Sendable {
  let cause: DiagnosisCause
  let proof: DiagnosisProof?

  /// Drops a proof whose witness cannot know of this cause.
  init(_ cause: DiagnosisCause, _ proof: DiagnosisProof?) {
    self.cause = cause
    self.proof = proof.flatMap { $0.witness == cause.witness ? $0 : nil }
  }

  var confidence: DiagnosisConfidence { proof == nil ? .likely : .certain }

  /// The same, likely at most: something was seen that it does not explain.
  var inDoubt: Charge { Charge(cause, nil) }
}
