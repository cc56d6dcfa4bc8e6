// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites
internal import DialtoneTesting

/// What a check of a scripted site comes to. The path is the scripted network's, the rules are those of real checks.
struct ScriptedCheck: Sendable {
  let url: SiteURL
  let configuration: SiteCheckConfiguration
  let reachability: ReachabilityEnvironment
  let clock: ManualClock

  /// Throws `CancellationError` if the task is cancelled.
  func verdict(_ answer: ScriptedAnswer, since began: ManualClock.Instant) async throws -> SiteVerdict {
    let path = try await path()
    if !configuration.isUsable(path) { return verdict(without: path) }
    let isLate = isSilent(answer) || answer.delay >= configuration.timeout
    try await clock.sleep(until: began.advanced(by: isLate ? configuration.timeout : answer.delay))
    var verdict = isLate ? timeout : judge(answer, path)
    verdict.timings.total = began.duration(to: clock.now)
    return complete(verdict, path)
  }

  private struct Outcome {
    var kind: SiteVerdict.Kind
    var status: Int?
    var location: String?
    var stage: SiteVerdict.Stage?
    var error: SiteError?
    var timings = SiteVerdict.Timings()
  }

  private func isSilent(_ answer: ScriptedAnswer) -> Bool {
    if case .nothing = answer.storage { true } else { false }
  }

  private var timeout: Outcome {
    Outcome(
      kind: .failed, stage: .response, error: SiteError(.timedOut, "no answer within \(configuration.timeout)"))
  }

  private func complete(_ outcome: Outcome, _ path: Reachability) -> SiteVerdict {
    SiteVerdict(
      url: url, kind: outcome.kind, status: outcome.status, location: outcome.location, stage: outcome.stage,
      error: outcome.error, address: path.destination, interface: path.interface, timings: outcome.timings,
      timestamp: .now)
  }

  // MARK: The path

  private func path() async throws -> Reachability {
    let target =
      switch url.lookupHost {
      case .name(let name): ReachabilityTarget(.host(name), port: url.port)
      case .address(let address): ReachabilityTarget.address(address, port: url.port)
      }
    let monitor = ReachabilityMonitor(target, configuration: configuration.path, environment: reachability)
    // The first that is known. It is there unless the task is cancelled.
    for await state in monitor.updates { return state }
    throw CancellationError()
  }

  private func verdict(without path: Reachability) -> SiteVerdict {
    var outcome = Outcome(kind: .offline)
    if path.reason == .nameNotResolved {
      outcome = Outcome(kind: .failed, stage: .name, error: SiteError(.nameNotResolved, "the name has no address"))
    } else {
      let words = path.reason?.description ?? "no reason is known"
      outcome.error = SiteError(.noPath, "no path to the site: \(words)")
    }
    outcome.timings.total = .zero
    return complete(outcome, path)
  }

  // MARK: The answer

  private func judge(_ answer: ScriptedAnswer, _ path: Reachability) -> Outcome {
    switch answer.storage {
    case .response(let status, let location, let body): judge(status, location, body)
    case .portal where url.isSecure: judge(.impostor, path)
    case .portal: judge(302, "http://login.example/", "")
    case .failure(let kind, let stage, let error): Outcome(kind: kind, stage: stage, error: error)
    case .nothing: timeout
    }
  }

  private func judge(_ status: Int, _ location: String?, _ body: String) -> Outcome {
    let rules = VerdictRules(url: url, configuration: configuration)
    let bytes = Array(body.utf8)
    var head = VerdictRules.Head(
      method: rules.firstMethod, status: status, locations: location.map { [$0] } ?? [], contentLength: bytes.count)
    var decision = rules.judge(head)
    if decision == .askAgain {
      head.method = .get
      decision = rules.judge(head)
    }
    if decision == .readBody {
      let text = rules.expectation.bodyText.map { Array($0.utf8) } ?? []
      let hasText = !text.isEmpty && bytes.firstRange(of: text) != nil
      decision = rules.judge(head, VerdictRules.Body(length: bytes.count, hasText: hasText, isComplete: true))
    }
    guard case .verdict(let kind, let location) = decision else {
      preconditionFailure("A whole answer without a coding has a verdict")
    }
    let hint = kind == .unexpectedResponse ? rules.hint(head) : nil
    return Outcome(kind: kind, status: status, location: location, error: hint)
  }
}
