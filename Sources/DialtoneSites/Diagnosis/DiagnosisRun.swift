// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Dialtone

/// One diagnosis: what blocks runs on a thread of its own, the exchange with a site as a task.
struct DiagnosisRun: Sendable {
  private let subject: DiagnosisSubject
  private let configuration: DiagnosisConfiguration
  private let patience: Patience
  private let emit: @Sendable (Diagnosis.Event) -> Void

  init(
    _ subject: DiagnosisSubject, _ configuration: DiagnosisConfiguration, _ patience: Patience,
    emit: @escaping @Sendable (Diagnosis.Event) -> Void
  ) {
    self.subject = subject
    self.configuration = configuration
    self.patience = patience
    self.emit = emit
  }

  func run() async {
    let start = TimeSource.system.now()
    let findings = await findings()
    if patience.isCancelled { return }
    var steps = findings.steps
    for step in await exchange(findings) + findings.lastSteps {
      steps.append(step)
      emit(.step(step))
    }
    if patience.isCancelled { return }
    let elapsed = Duration.nanoseconds(TimeSource.system.now() - start)
    emit(.verdict(DiagnosisVerdict(of: subject.text, steps: steps, elapsed: elapsed)))
  }

  /// What the thread finds.
  private func findings() async -> DiagnosisWork.Findings {
    await withCheckedContinuation { continuation in
      let isStarted = Thread.start(named: "dialtone-why") {
        let work = DiagnosisWork(subject, configuration, patience, emit: emit)
        continuation.resume(returning: work.run())
      }
      if !isStarted {
        let step = DiagnosisStep(.link, .fault, "this machine has no thread left", confidence: .unknown)
        emit(.step(step))
        continuation.resume(returning: DiagnosisWork.Findings(steps: [step]))
      }
    }
  }

  // MARK: The exchange

  private func exchange(_ findings: DiagnosisWork.Findings) async -> [DiagnosisStep] {
    guard let url = subject.url else { return [] }
    guard findings.isConnected else {
      return url.isSecure ? [skipped(.tls), skipped(.http)] : [skipped(.http)]
    }
    if patience.isOver {
      return [DiagnosisStep.Kind.pathMTU, .tls, .http].map { DiagnosisStep($0, .skipped, DiagnosisRules.timeIsUp) }
    }
    emit(.began(url.isSecure ? .tls : .http))
    do {
      // The rest is kept for a second try with small packets, and a third one without.
      let first = try await check(url, timeout: min(Self.longest, .nanoseconds(patience.rest * 2 / 5)), small: false)
      var evidence = ExchangeEvidence(verdict: first, clock: .read())
      if evidence.hasStalled, patience.rest > Self.margin {
        emit(.began(.pathMTU))
        try await tryAgain(url, &evidence)
      }
      let pathMTU = ExchangeSteps.pathMTU(evidence)
      if pathMTU.outcome == .fault {
        return [pathMTU, skipped(.tls, behind: pathMTU), skipped(.http, behind: pathMTU)]
      }
      return [pathMTU, ExchangeSteps.tls(evidence), ExchangeSteps.http(evidence)]
    } catch {
      // Only a cancellation throws here: the configuration is a usual one.
      return []
    }
  }

  /// Tries whether small packets pass, and then whether large ones do not in the same time.
  private func tryAgain(_ url: SiteURL, _ evidence: inout ExchangeEvidence) async throws {
    let half = Duration.nanoseconds((patience.rest - Self.margin) * 3 / 5)
    let small = try await check(url, timeout: min(Self.longest, half), small: true)
    evidence.smallVerdict = small
    guard ExchangeEvidence.isAnswered(small), let needed = small.timings.total else { return }
    let rest = Duration.nanoseconds(patience.rest - Self.margin)
    // A shorter time would not tell a slow site from a path that swallows large packets.
    if rest < max(.seconds(1), needed * 3) { return }
    evidence.thirdVerdict = try await check(url, timeout: min(max(.seconds(3), needed * 3), rest), small: false)
  }

  /// How long one check takes at most: programs have no more patience with a site.
  private static let longest = Duration.seconds(30)
  /// What is left for the verdict, in nanoseconds.
  private static let margin: Int64 = 100_000_000

  private func check(_ url: SiteURL, timeout: Duration, small: Bool) async throws -> SiteVerdict {
    var check = SiteCheckConfiguration(timeout: max(.milliseconds(1), timeout))
    check.interface = configuration.interface
    check.family = configuration.family
    check.trust = configuration.trust
    if small { check.maximumSegment = Self.smallSegment }
    return try await SiteCheck(url, configuration: check).run()
  }

  /// Fits into the smallest packet that each IPv4 host takes (RFC 791, 3.1: 576 bytes), and into IPv6's.
  private static let smallSegment = 500

  private func skipped(_ kind: DiagnosisStep.Kind, behind step: DiagnosisStep? = nil) -> DiagnosisStep {
    DiagnosisStep(kind, .skipped, "not tried: \(step?.kind.identifier ?? "connect") comes first")
  }
}
#endif
