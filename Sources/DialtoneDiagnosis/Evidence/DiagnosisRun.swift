// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites

/// One diagnosis: which question is asked when. It knows the source of evidence only by its questions.
final class DiagnosisRun: Sendable {
  private let diagnosis: Diagnosis
  private let emit: @Sendable (Diagnosis.Event) -> Void
  private let start = TimeSource.system.now()
  private let found = Lock<[Finding]>([])
  private let askedOnce = Lock<Set<DiagnosisQuestion>>([])

  init(_ diagnosis: Diagnosis, emit: @escaping @Sendable (Diagnosis.Event) -> Void) {
    (self.diagnosis, self.emit) = (diagnosis, emit)
  }

  private var subject: DiagnosisSubject { diagnosis.subject }
  private var configuration: DiagnosisConfiguration { diagnosis.configuration }

  func run() async {
    tell([.history(recent)].filter { $0 != .history([]) })
    // The kernel answers at once, and who may be asked follows from it.
    if subject.goal == .internet { await ask(.way) }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.askBeyond(after: self.subject.goal == .internet ? .zero : self.patience) }
      if subject.goal == .internet {
        group.addTask { await self.ask(.names) }
        group.addTask { await self.ask(.proxy) }
      }
      await walk()
      // The walk is the first to matter: once it has succeeded, nobody beyond has to be asked. If it has failed, they
      // are asked at once.
      if subject.goal != .internet, isSettled || !askedOnce.withLock({ $0.contains(.beyond) }) { group.cancelAll() }
    }
    if Task.isCancelled { return }
    await askBeyond(after: .zero)
    await askNeighboursAgain()
    await lookAtWayAgain()
    if Task.isCancelled { return }
    let elapsed = Duration.nanoseconds(TimeSource.system.now() - start)
    emit(.verdict(DiagnosisVerdict(of: subject.text, goal: subject.goal, findings: findings, elapsed: elapsed)))
  }

  /// How long what was asked for may take before somebody beyond the router is asked, too.
  private var patience: Duration { min(.milliseconds(1_200), configuration.timeout) }

  private var findings: [Finding] { found.withLock { $0 } }

  // MARK: The order of questions

  private func walk() async {
    await withTaskGroup(of: Bool.self) { group in
      if subject.goal == .site {
        group.addTask {
          await self.ask(.proxy)
          return true
        }
        group.addTask {
          await Self.pause(self.patience)
          return false
        }
      }
      // A proxy looks names up itself, and takes the place of the way. Beside a slow one, that is looked at.
      let isProxyAsked = await group.next() ?? false
      if isProxyAsked { group.cancelAll() }
      if inquiry.hasProxyDelivered { return await ask(.way) }
      await walkToTarget(isProxyAsked: isProxyAsked)
      await group.waitForAll()
      if subject.goal == .site, !hasFound(.exchange), inquiry.mayExchange { await ask(.exchange) }
    }
  }

  private func walkToTarget(isProxyAsked: Bool) async {
    if subject.goal != .internet { await ask(.names) }
    if !hasFound(.way) { await ask(.way) }
    if inquiry.isCutOff, !inquiry.isKernelDenied { return }
    // One that wants an address was not asked yet.
    async let proxy: Void = isProxyAsked && !hasFound(.proxy) ? ask(.proxy) : ()
    // Over http, the answer may be somebody else's.
    async let portal: Void = subject.url?.isSecure == false ? askPortal() : ()
    async let neighbours: Void = ask(.neighbours)
    async let tunnels: Void = ask(.tunnels)
    if subject.goal != .internet, !inquiry.addresses.isEmpty { await ask(.connections) }
    _ = await (proxy, portal, neighbours, tunnels)
  }

  /// Looks at neighbours again that were there before and may have gone: the kernel takes its time to be sure.
  private func askNeighboursAgain() async {
    let inquiry = inquiry
    if isSuccessful || Task.isCancelled || inquiry.deadline <= TimeSource.system.now() { return }
    if inquiry.openWays.contains(where: { inquiry.isUnsure($0.target.family) }) { await ask(.neighbours) }
  }

  /// Looks at the kernel once more if nothing has succeeded: a link that has gone since the first look explains why
  /// nobody has answered. What was suspected meanwhile is not to blame.
  private func lookAtWayAgain() async {
    let openFamilies = inquiry(of: findings.filter { $0.question == .way }).openFamilies
    if isSuccessful || openFamilies.isEmpty || Task.isCancelled { return }
    let latest = await answer(to: .way, in: inquiry)
    if Task.isCancelled || inquiry(of: latest).openFamilies.isSuperset(of: openFamilies) { return }
    found.withLock { $0.removeAll { $0.question == .way } }
    tell(latest)
  }

  private func askPortal() async {
    guard configuration.asksBeyondRouter, needsRouter else { return }
    if askedOnce.withLock({ $0.insert(.portal).inserted }) { await ask(.portal) }
  }

  /// Asks beyond the router, once: if the target is the Internet, or if what was asked for has not succeeded.
  private func askBeyond(after pause: Duration) async {
    await Self.pause(pause)
    if Task.isCancelled || hasFound(.beyond) || isSettled || inquiry.hasProxyDelivered { return }
    if !configuration.asksBeyondRouter { return tell([.unasked(.beyond, nil, .notWanted)]) }
    if inquiry.isCutOff || !needsRouter { return }
    askedOnce.withLock { _ = $0.insert(.beyond) }
    async let portal: Void = askPortal()
    await ask(.beyond)
    await portal
  }

  /// No wait for something to happen: it is cancelled when that is there.
  static func pause(_ time: Duration) async {
    do {
      try await Task.sleep(for: time)
    } catch {
      // It is cancelled.
    }
  }

  /// What stands straight on the link needs no router.
  private var needsRouter: Bool {
    let ways = inquiry.openWays
    if subject.goal == .internet || ways.isEmpty { return true }
    return ways.contains { $0.gateway != nil || $0.neighbour?.isResolved != true }
  }

  private func hasFound(_ question: DiagnosisQuestion) -> Bool { findings.map(\.question).contains(question) }

  private var isSuccessful: Bool { Success(of: subject.goal, in: findings.compared) != nil }

  /// Whether it succeeded, and a message from the way has not stopped connections of one family alone: whether that is
  /// the family's fault, others beyond tell.
  private var isSettled: Bool {
    isSuccessful
      && !findings.lazy.compactMap(\.connection).contains { connection in
        !connection.attempts.isEmpty && connection.attempts.allSatisfy { $0.outcome.isRefusedOnWay }
      }
  }

  // MARK: Questions

  private var inquiry: DiagnosisInquiry { inquiry(of: findings) }

  private func inquiry(of findings: [Finding]) -> DiagnosisInquiry {
    DiagnosisInquiry(
      subject: subject, configuration: configuration, findings: findings,
      // Answers that are not waited for any more need their time, too.
      deadline: start.addingClamped(configuration.timeout.nanosecondsClamped / 20 * 19))
  }

  private func ask(_ question: DiagnosisQuestion) async {
    if Task.isCancelled { return }
    let inquiry = inquiry
    // The kernel answers at once.
    if question != .way, inquiry.deadline <= TimeSource.system.now(), !(question == .names && subject.isAddress) {
      return tell([.unasked(question.kind, nil, .timeIsUp)])
    }
    emit(.began(question.kind))
    let findings = await answer(to: question, in: inquiry)
    if !Task.isCancelled { tell(findings) }
  }

  /// Asks the source. It need not know the deadline: it is cancelled somewhat later, and has 50 ms in any case.
  private func answer(to question: DiagnosisQuestion, in inquiry: DiagnosisInquiry) async -> [Finding] {
    let end = inquiry.deadline.addingClamped(configuration.timeout.nanosecondsClamped / 40)
    let rest = Duration.nanoseconds(max(50_000_000, end - TimeSource.system.now()))
    return await withTaskGroup(of: [Finding]?.self) { group in
      group.addTask { await self.diagnosis.source.findings(for: question, in: inquiry) }
      group.addTask {
        await Self.pause(rest)
        return nil
      }
      var answer = await group.next() ?? nil
      group.cancelAll()
      for await late in group { answer = answer ?? late }
      return answer ?? []
    }
  }

  private func tell(_ findings: [Finding]) {
    for finding in findings {
      found.withLock { $0.append(finding) }
      emit(.finding(finding))
    }
  }

  /// The states of the last minute.
  private var recent: [Reachability] {
    let now = UTCTimestamp.now.durationSince1970
    return configuration.history.filter { state in
      state.timestamp.map { (0...60).contains((now - $0.durationSince1970).secondsClamped) } ?? false
    }
  }
}
