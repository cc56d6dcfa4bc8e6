// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import DialtoneSites

/// What is said of an exchange with the site.
enum SiteMeaning: Hashable, Sendable {
  // Large packets.
  case largePass
  case largeUntold
  case smallFail
  case largeVanish
  /// Some tries succeeded, some did not.
  case unreliable(failures: Int, of: Int)
  /// It succeeded, after the kernel had sent this number of segments again.
  case lossy(Int)
  /// It took a connection before, and none for the exchange.
  case unconnected
  /// It takes connections, and packets of any size vanish on them.
  case swallowed
  /// The same, before they have left this machine.
  case held
  // TLS.
  case proven
  case plain
  case tlsStalled
  case tlsFails
  case trustUnreadable
  case certificate
  case clock(SiteFinding.Clock.Fault)
  case noTLS
  // The answer.
  case answers(status: Int?)
  case unexpected
  case serverFault(status: Int)
  /// Somebody answers so for addresses that nobody has, too.
  case answeredForAll
  case loginWanted
  case redirected
  case stalled
  case malformed
  /// It answers over HTTP/1.1, and over HTTP/2 it does not.
  case http2Fails
  case noRequest
}

/// The rules about large packets, TLS and the answer. Pure.
enum SiteRules {
  /// `wasConnected`: whether the site took a connection before.
  static func read(_ finding: SiteFinding, wasConnected: Bool = true) -> [Reading] {
    func reading(_ kind: DiagnosisStep.Kind, _ judgement: Judgement, _ proof: DiagnosisProof? = nil) -> Reading {
      let (meaning, outcome, cause) = judgement
      return Reading(.site(finding), of: kind, outcome, .site(meaning), charge: cause.map { Charge($0, proof) })
    }
    let large = reading(.pathMTU, largePackets(finding))
    if large.isFault { return [large] }
    let judged = judged(finding)
    let proof = DiagnosisProof(finding, judged)
    return [
      large, reading(.tls, tls(finding, judged), proof), reading(.http, http(finding, judged, wasConnected), proof),
    ]
  }

  /// How many usual checks have to stop, and small ones to pass, for large packets to be blamed if the kernel knows of
  /// none that vanished: a backend of several that hangs would have to meet all of the former, and none of the latter.
  static let usualTries = 4
  static let smallTries = 3
  /// How many segments of an exchange, which has some ten, the kernel may send again without a word: an answer that
  /// takes long makes it send the first one again, and the request.
  static let lossLimit = 3

  /// The verdict that TLS and the answer are judged by: the latest with an answer to a usual check, or the first.
  static func judged(_ finding: SiteFinding) -> SiteVerdict {
    finding.usual.last(where: SiteFinding.isGood) ?? finding.usual.last(where: SiteFinding.isAnswered)
      ?? finding.verdict
  }

  private typealias Judgement = (SiteMeaning, DiagnosisStep.Outcome, DiagnosisCause?)

  // MARK: Large packets

  private static func largePackets(_ finding: SiteFinding) -> Judgement {
    let failures = finding.usual.count - finding.successes
    if finding.successes > 0, failures > 0 {
      return (.unreliable(failures: failures, of: finding.usual.count), .doubtful, .unreliable)
    }
    if finding.successes > 0, finding.resent >= lossLimit { return (.lossy(finding.resent), .doubtful, .unreliable) }
    guard finding.hasStalled else {
      return SiteFinding.isAnswered(finding.verdict) ? (.largePass, .ok, nil) : (.largeUntold, .skipped, nil)
    }
    let small = finding.smallVerdicts.map(SiteFinding.isAnswered)
    if small.isEmpty { return (.largeUntold, .skipped, nil) }
    if !small.contains(true) { return (.smallFail, .ok, nil) }
    // Small packets fail, too, at times: it is not their size. Nor is it, for all that is known, if no packet is known
    // to have vanished, and only a few tries say so.
    let isFew = finding.usual.count < usualTries || small.count < smallTries
    if small.contains(false) || !finding.hasLostPackets && isFew {
      let all = finding.usual.count + small.count
      return (.unreliable(failures: failures + small.count { !$0 }, of: all), .fault, .unreliable)
    }
    // An answer to a later large one that is no success.
    if finding.laterVerdicts.contains(where: SiteFinding.isAnswered) {
      return (.unreliable(failures: 1, of: finding.usual.count), .doubtful, .unreliable)
    }
    return (.largeVanish, .fault, .pathMTU)
  }

  // MARK: TLS

  private static func tls(_ finding: SiteFinding, _ verdict: SiteVerdict) -> Judgement {
    guard verdict.url.isSecure else { return (.plain, .skipped, nil) }
    switch verdict.kind {
    case let kind where kind.answerer != nil: return (.proven, .ok, nil)
    case .intercepted:
      let fault = verdict.error?.isAboutTime == true ? finding.clock?.fault : nil
      return fault.map { (.clock($0), .fault, .clockWrong) } ?? (.certificate, .fault, .tlsCertificate)
    case .failed where verdict.stage == .tls:
      if SiteFinding.isStalled(verdict) { return stall(finding, .tlsStalled) }
      if verdict.error?.code == .trustUnreadable { return (.trustUnreadable, .fault, .tlsCertificate) }
      return (.tlsFails, .fault, verdict.error?.isInDispute == true ? nil : .siteFault)
    case .failed where [.request, .response, .body].contains(verdict.stage): return (.proven, .ok, nil)
    default: return (.noTLS, .skipped, nil)
    }
  }

  /// Whose fault it is that nothing comes on a connection: that of the site, which is `mute`, if no packet is known to
  /// be lost.
  private static func stall(_ finding: SiteFinding, _ mute: SiteMeaning) -> Judgement {
    if finding.isHeldHere { return (.held, .fault, .localFirewall) }
    return finding.hasLostPackets ? (.swallowed, .fault, .silent) : (mute, .fault, .siteFault)
  }

  // MARK: The answer

  private static func http(_ finding: SiteFinding, _ verdict: SiteVerdict, _ wasConnected: Bool) -> Judgement {
    switch (verdict.kind.answerer, verdict.stage) {
    case (.site?, _):
      if finding.isAnsweredForAll { return (.answeredForAll, .fault, (verdict.status ?? 0) < 500 ? .prohibited : nil) }
      if let status = verdict.status, status >= 500 { return (.serverFault(status: status), .fault, .siteFault) }
      return verdict.kind == .unexpectedResponse && verdict.error != nil
        ? (.unexpected, .doubtful, nil) : (.answers(status: verdict.status), .ok, nil)
    // A certificate proves that it is the site that says so.
    case (.network?, _) where verdict.status == 511 && verdict.url.isSecure:
      return (.serverFault(status: 511), .fault, .siteFault)
    case (.network?, _):
      return (verdict.status == 511 ? .loginWanted : .redirected, .fault, .captivePortal)
    case (nil, .request?), (nil, .response?), (nil, .body?):
      if finding.isHTTP2Broken { return (.http2Fails, .fault, .siteFault) }
      if SiteFinding.isStalled(verdict) { return stall(finding, .stalled) }
      return (.malformed, .fault, verdict.error?.code == .headersTooLarge ? nil : .siteFault)
    default:
      return SiteFinding.isUnconnected(verdict) && wasConnected
        ? (.unconnected, .fault, .unreliable) : (.noRequest, .skipped, nil)
    }
  }
}
