// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneSites

/// Carries the states of targets to a session, and its lines to standard output. All of it runs on the main thread,
/// except what watches the targets.
struct Runner<S: Session> where S.State: Sendable {
  /// The targets as they were typed.
  let names: [String]
  var session: S
  var formatter: any ReportFormatter<S.State>
  let timeout: Duration?
  /// Whether to end when nobody reads the output any more.
  let endsWithReader: Bool
  /// Whether nothing is printed, because the exit status tells.
  var isQuiet = false
  /// What a state says of a target, for a person who waits for it.
  let words: (S.State, Int) -> String
  /// Whether a state says that the system tells nothing.
  let isDenied: (S.State) -> Bool
  /// Whether a state says that a target is lost.
  let isLoss: (S.State) -> Bool
  /// Whether the command that says why is named, on a terminal, when a target is lost.
  var namesExplain = false
  /// Begins to post the targets' states. What it returns is kept until the end.
  let watch: (Mailbox<S.State>) -> any Sendable

  /// Runs until the session ends.
  ///
  /// - Throws: `SystemError` if the output cannot be written.
  mutating func run() throws -> ExitStatus {
    let clock = ContinuousClock()
    let start = clock.now
    let progress = Progress(isEnabled: !isQuiet && StandardStream.error.isTerminal && !Environment.isDumb)
    Signals.onEnd { progress.erase() }

    let mailbox = try Mailbox<S.State>()
    let wait = try EventWait(mailbox: mailbox, output: endsWithReader ? .output : nil)
    let watchers = watch(mailbox)
    defer { withExtendedLifetime(watchers) {} }

    let shortened = progress.isEnabled ? ShortenedNames(names) : nil
    var obstacles = session.toldGoal != nil && !isQuiet && !progress.isEnabled ? Obstacles() : nil
    var hasToldShortage = isQuiet
    var hasNamedExplain = !namesExplain || !progress.isEnabled
    var nextProgress = Progress.interval
    while true {
      let now = start.duration(to: clock.now)
      let isOver = timeout.map { $0 <= now } ?? false
      let waiting = progress.isEnabled ? session.waiting : nil
      if !isOver, nextProgress <= now, let waiting, let shortened {
        let line = ProgressText.line(
          waiting, names: shortened, reason: { target in session.obstacle(of: target).map { words($0, target) } },
          elapsed: now, limit: timeout, columns: StandardStream.error.columns)
        progress.show(line)
        nextProgress = .seconds(now.secondsClamped) + Progress.interval
      }
      let tick = waiting == nil ? nil : nextProgress - now
      let rest = timeout.map { $0 - now }
      let outcome = wait.wait(atMost: isOver ? .zero : [tick, rest].compactMap { $0 }.min())
      if outcome.isOutputClosed { Signals.end(by: SIGPIPE) }

      var reports: [StateReport<S.State>] = []
      let letters = mailbox.takeAll()
      for letter in letters {
        reports += session.receive(letter.state, of: letter.target, at: start.duration(to: clock.now))
      }
      if !hasToldShortage, letters.contains(where: { isDenied($0.state) }), let shortage = Shortage.now() {
        // Not among the lines, which may be for a program.
        StandardStream.error.writeIgnoringErrors("dialtone: \(shortage)\n")
        hasToldShortage = true
      }
      if isOver, session.ending == nil { reports += session.timeOut() }
      if progress.isVisible {
        if !reports.isEmpty || session.ending != nil || session.waiting == nil {
          progress.erase()
        } else if !letters.isEmpty {
          // The reason for the wait may have changed.
          nextProgress = .zero
        }
      }
      if !isQuiet { for report in reports { try Output.line(formatter.line(for: report)) } }
      if !hasNamedExplain, let target = lost(reports) {
        let name = TerminalText.visible(names[target])
        StandardStream.error.writeIgnoringErrors("to find out why: dialtone explain \(name)\n")
        hasNamedExplain = true
      }
      if let ending = session.ending { return ending }
      tell(letters.map(\.target), &obstacles)
    }
  }

  /// The first target that is reported as lost: it was there before, or was waited for in vain.
  private func lost(_ reports: [StateReport<S.State>]) -> Int? {
    reports.first { report in
      guard isLoss(report.state) else { return false }
      return report.former.map { !isLoss($0.state) } ?? (session.ending == .fails)
    }?.target
  }

  /// Says what stands in the way of these targets, if that has not been said.
  private func tell(_ targets: [Int], _ obstacles: inout Obstacles?) {
    guard var told = obstacles, let goal = session.toldGoal else { return }
    for target in targets where !told.isComplete {
      guard let state = session.obstacle(of: target) else { continue }
      if let note = told.note(names[target], goal, words(state, target)) {
        StandardStream.error.writeIgnoringErrors(note)
      }
    }
    obstacles = told
  }
}

extension Runner where S.State == Reachability {
  /// Watches whether packets can reach the targets.
  init(
    request: TargetRequest, session: S, formatter: any ReportFormatter<Reachability>, timeout: Duration?,
    endsWithReader: Bool, isQuiet: Bool = false, namesExplain: Bool = false
  ) {
    let takesAnyInterface = request.targets.map { $0.takesAnyInterface && request.configuration.interface == nil }
    self.init(
      names: request.targets.map(\.typed), session: session, formatter: formatter, timeout: timeout,
      endsWithReader: endsWithReader, isQuiet: isQuiet,
      words: { state, target in
        let details = TextReportFormatter.details(of: state, takesAnyInterface: takesAnyInterface[target])
        return state.isReachable ? "reachable \(details)" : details
      }, isDenied: { $0.reason == .denied },
      isLoss: { !$0.isReachable && $0.isDetermined }, namesExplain: namesExplain
    ) { mailbox in
      request.targets.enumerated().map { position, target in
        ReachabilityMonitor(target.target, configuration: request.configuration)
          .observe { state in mailbox.post(state, for: position) }
      }
    }
  }
}

extension Runner where S.State == SiteVerdict {
  /// Asks sites, or watches them.
  init(
    request: SiteRequest, session: S, formatter: any ReportFormatter<SiteVerdict>, timeout: Duration?,
    endsWithReader: Bool, isQuiet: Bool = false, namesExplain: Bool = false,
    watch: @escaping (Mailbox<SiteVerdict>) -> any Sendable
  ) {
    self.init(
      names: request.urls.map(\.text), session: session, formatter: formatter, timeout: timeout,
      endsWithReader: endsWithReader, isQuiet: isQuiet,
      words: { verdict, _ in
        let details = SiteTextFormatter.details(of: verdict)
        return details.isEmpty ? verdict.kind.identifier : "\(verdict.kind.identifier), \(details)"
      }, isDenied: { _ in false }, isLoss: { !$0.isAvailable && $0.kind != .undetermined },
      namesExplain: namesExplain, watch: watch)
  }
}
