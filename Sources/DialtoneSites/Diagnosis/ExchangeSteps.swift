// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// What is known of the clock of this machine.
struct ClockEvidence: Equatable, Sendable {
  /// Seconds since 1970, as the clock says.
  var now: Int64
  /// Whether something keeps it right; `nil` if the system does not say.
  var isKept: Bool?
  /// When this machine last changed one of the files that it changes often, in seconds since 1970; `nil` if there is
  /// none of them.
  var lastChange: Int64?

  private static let day: Int64 = 86_400

  /// Whether a date that has passed, or has not come, is not the clock's fault: something keeps the clock right, or the
  /// date had passed when this machine last changed a file.
  func isSure(ofExpiry expiry: Int64?) -> Bool {
    if isKept == true { return true }
    guard let expiry, let lastChange else { return false }
    return expiry < lastChange
  }

  /// Why the clock looks wrong; `nil` if it does not.
  var fault: String? {
    guard let lastChange else { return nil }
    if now < lastChange - Self.day { return "it is behind this machine's own files" }
    // A machine that was off for so long has no certificates that are valid either.
    if now > lastChange + 3 * 365 * Self.day { return "it is years ahead of this machine's own files" }
    return nil
  }
}

/// What came of one request. Plain values, which tests make by hand.
struct ExchangeEvidence: Equatable, Sendable {
  /// The verdict of a usual check.
  var verdict: SiteVerdict
  /// The verdict of a second check, in which both sides sent small segments alone; `nil` if there was none.
  var smallVerdict: SiteVerdict?
  /// The verdict of a third check, as usual again, if the second was answered; `nil` if there was no time for one that
  /// could tell. It tells a path that swallows large packets from a site that was slow once.
  var thirdVerdict: SiteVerdict?
  var clock: ClockEvidence?

  /// Whether the request got no answer in time, although a connection was made.
  var hasStalled: Bool { Self.isStalled(verdict) }

  static func isStalled(_ verdict: SiteVerdict) -> Bool {
    verdict.kind == .failed && verdict.error?.code == .timedOut
      && [.tls, .request, .response, .body].contains(verdict.stage)
  }

  /// The verdict that TLS and the answer are judged by: the latest with an answer to a usual check, or the first.
  var judged: SiteVerdict { thirdVerdict.map { Self.isAnswered($0) ? $0 : verdict } ?? verdict }

  /// Whether a verdict rests on an answer, be it a bad one.
  static func isAnswered(_ verdict: SiteVerdict) -> Bool {
    switch verdict.kind {
    case .available, .captivePortal, .unexpectedResponse, .intercepted: true
    default: verdict.kind == .failed && verdict.error?.code != .timedOut && verdict.stage != .connect
    }
  }
}

/// The rules about large packets, TLS and the answer. Pure.
enum ExchangeSteps {
  /// What datagrams told of large packets, for a target that is not asked by HTTP.
  struct DatagramEvidence: Equatable, Sendable {
    var smallAnswered: Bool
    var largeAnswered: Bool
    /// The bytes of the large one, with its IP header.
    var size: Int
    /// What somebody on the way said of the large one.
    var refusal: String?
  }

  // MARK: Large packets

  static func pathMTU(_ evidence: ExchangeEvidence) -> DiagnosisStep {
    guard evidence.hasStalled else {
      return ExchangeEvidence.isAnswered(evidence.verdict)
        ? step(.pathMTU, .ok, "what the site sent came through")
        : step(.pathMTU, .skipped, "there was no exchange to tell by")
    }
    guard let small = evidence.smallVerdict else {
      return step(.pathMTU, .skipped, "there was no time to try small packets")
    }
    let facts = [DiagnosisEvidence("smallPacketsPass", flag: ExchangeEvidence.isAnswered(small))]
    guard ExchangeEvidence.isAnswered(small) else {
      return step(.pathMTU, .ok, "small packets get no answer either", facts)
    }
    if let third = evidence.thirdVerdict, ExchangeEvidence.isAnswered(third) {
      return step(.pathMTU, .doubtful, "the site was slow once, and then answered", facts)
    }
    let isSure = evidence.thirdVerdict.map { ExchangeEvidence.isStalled($0) } ?? false
    return step(
      .pathMTU, .fault, "large packets vanish on the way, and small ones pass", facts, .pathMTU,
      isSure ? .certain : .likely,
      "Lower the MTU of the interface, such as: ip link set INTERFACE mtu 1400")
  }

  static func pathMTU(_ evidence: DatagramEvidence?, family: IPAddress.Family) -> DiagnosisStep {
    guard let evidence, evidence.smallAnswered else {
      return DiagnosisStep(.pathMTU, family: family, .skipped, "the target answers no datagrams to tell by")
    }
    let facts = [
      DiagnosisEvidence("sizeBytes", number: evidence.size),
      DiagnosisEvidence("largeAnswered", flag: evidence.largeAnswered), DiagnosisEvidence("refusal", evidence.refusal),
    ]
    if evidence.largeAnswered {
      return DiagnosisStep(.pathMTU, family: family, .ok, "packets of \(evidence.size) bytes pass", evidence: facts)
    }
    if let refusal = evidence.refusal {
      return DiagnosisStep(
        .pathMTU, family: family, .ok,
        "packets of \(evidence.size) bytes are too large, and the sender is told: \(refusal)",
        evidence: facts)
    }
    return DiagnosisStep(
      .pathMTU, family: family, .fault, "packets of \(evidence.size) bytes vanish on the way, and small ones pass",
      evidence: facts, cause: .pathMTU, confidence: .likely,
      advice: "Lower the MTU of the interface, such as: ip link set INTERFACE mtu 1400")
  }

  // MARK: TLS

  static func tls(_ evidence: ExchangeEvidence) -> DiagnosisStep {
    let verdict = evidence.judged
    guard verdict.url.isSecure else { return step(.tls, .skipped, "the URL is http") }
    let facts = [
      DiagnosisEvidence("error", verdict.error?.code.identifier),
      DiagnosisEvidence("certificateExpires", verdict.certificateExpires?.description),
      DiagnosisEvidence("clockIsKept", flag: evidence.clock?.isKept),
    ]
    let site = verdict.url.authority
    switch verdict.kind {
    case .available, .unexpectedResponse, .captivePortal:
      return step(.tls, .ok, "the certificate proves that it is \(site)", facts)
    case .intercepted: return certificate(evidence, site, facts)
    case .failed:
      guard verdict.stage == .tls else { break }
      if ExchangeEvidence.isStalled(verdict) {
        return step(
          .tls, .fault, "\(site) takes the connection, and says nothing", facts, .siteFault, .likely,
          "Ask whoever runs \(site).")
      }
      if verdict.error?.code == .trustUnreadable {
        return step(.tls, .fault, "this machine trusts nobody: \(verdict.error?.message ?? "")", facts, .tlsCertificate)
      }
      return step(
        .tls, .fault, "TLS with \(site) fails: \(verdict.error?.message ?? "no reason is known")", facts, .siteFault,
        .likely, "Ask whoever runs \(site).")
    default: break
    }
    return step(.tls, .skipped, "it did not come to TLS", facts)
  }

  private static func certificate(
    _ evidence: ExchangeEvidence, _ site: String, _ facts: [DiagnosisEvidence]
  ) -> DiagnosisStep {
    let error = evidence.judged.error
    let isAboutDates = error?.code == .certificateExpired || error?.code == .certificateNotYetValid
    if isAboutDates, let fault = evidence.clock?.fault {
      return step(
        .tls, .fault, "this machine's clock is wrong: \(fault), and the certificate of \(site) seems to be out of date",
        facts, .clockWrong, .likely, "Set the clock: timedatectl set-ntp true")
    }
    let expires = evidence.judged.certificateExpires?.durationSince1970.secondsClamped
    let isSure =
      !isAboutDates
      || evidence.clock?.isSure(ofExpiry: error?.code == .certificateExpired ? expires : nil)
        ?? false
    return step(
      .tls, .fault, "\(error?.message ?? "the certificate is not valid")", facts, .tlsCertificate,
      isSure ? .certain : .likely,
      isAboutDates ? "Renew the certificate of \(site)." : "Do not trust it; ask whoever runs \(site), or the network.")
  }

  // MARK: HTTP

  static func http(_ evidence: ExchangeEvidence) -> DiagnosisStep {
    let verdict = evidence.judged
    let facts = [
      DiagnosisEvidence("verdict", verdict.kind.identifier), DiagnosisEvidence("status", number: verdict.status),
      DiagnosisEvidence("location", verdict.location), DiagnosisEvidence("error", verdict.error?.code.identifier),
    ]
    let site = verdict.url.authority
    let status = verdict.status.map { " \($0)" } ?? ""
    switch verdict.kind {
    case .available, .unexpectedResponse:
      if let number = verdict.status, number >= 500 {
        return step(
          .http, .fault, "\(site) answers\(status): something is wrong with it", facts, .siteFault, .certain,
          "Ask whoever runs \(site).")
      }
      if verdict.kind == .unexpectedResponse, let error = verdict.error {
        return step(.http, .doubtful, "\(site) answers\(status): \(error)", facts)
      }
      return step(.http, .ok, "\(site) answers\(status)", facts)
    case .captivePortal:
      let isCertain = verdict.status == 511
      return step(
        .http, .fault,
        isCertain
          ? "the network says that it wants a login (511)"
          : "\(status.dropFirst()) leads to another host, as a portal does",
        facts, .captivePortal, isCertain ? .certain : .likely, "Open \(verdict.url) in a browser, and log in.")
    case .failed:
      if verdict.stage == .tls || verdict.stage == .connect || verdict.stage == .name {
        return step(.http, .skipped, "it did not come to a request", facts)
      }
      if ExchangeEvidence.isStalled(verdict) {
        return step(
          .http, .fault, "\(site) takes the request, and does not answer", facts, .siteFault, .likely,
          "Ask whoever runs \(site).")
      }
      return step(
        .http, .fault, "\(site) gives no proper answer: \(verdict.error?.message ?? "no reason is known")", facts,
        .siteFault, .likely, "Ask whoever runs \(site).")
    default: return step(.http, .skipped, "it did not come to a request", facts)
    }
  }

  private static func step(
    _ kind: DiagnosisStep.Kind, _ outcome: DiagnosisStep.Outcome, _ text: String,
    _ evidence: [DiagnosisEvidence] = [], _ cause: DiagnosisCause? = nil,
    _ confidence: DiagnosisConfidence = .certain, _ advice: String? = nil
  ) -> DiagnosisStep {
    DiagnosisStep(kind, outcome, text, evidence: evidence, cause: cause, confidence: confidence, advice: advice)
  }
}
