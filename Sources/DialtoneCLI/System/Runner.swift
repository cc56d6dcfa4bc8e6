// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import Dialtone

/// Carries the states of targets to a session, and its lines to standard output. All of it on the main thread, but for what watches
/// the targets.
struct Runner<S: Session> where S.State: Sendable {
  /// The targets as they were typed.
  let names: [String]
  var session: S
  var formatter: any ReportFormatter<S.State>
  let timeout: Duration?
  /// Whether to end when nobody reads the output any more.
  let endsWithReader: Bool
  /// Begins to post the targets' states. What it answers is kept until the end.
  let watch: (Mailbox<S.State>) -> any Sendable

  /// Runs until the session ends.
  ///
  /// - Throws: `SystemError` where the output cannot be written.
  mutating func run() throws -> ExitStatus {
    let clock = ContinuousClock()
    let start = clock.now
    let progress = Progress(isEnabled: StandardStream.error.isTerminal && !Environment.isDumb)
    Signals.onEnd { progress.erase() }

    let mailbox = try Mailbox<S.State>()
    let wait = try EventWait(mailbox: mailbox, output: endsWithReader ? .output : nil)
    let watchers = watch(mailbox)
    defer { withExtendedLifetime(watchers) {} }

    var nextProgress = Progress.interval
    while true {
      let now = start.duration(to: clock.now)
      let isOver = timeout.map { $0 <= now } ?? false
      if !isOver, nextProgress <= now, let waiting = progress.isEnabled ? session.waiting : nil {
        progress.show(ProgressText.line(waiting, names: names, elapsed: now, limit: timeout))
        nextProgress = .seconds(now.secondsClamped) + Progress.interval
      }
      let tick = progress.isEnabled && session.waiting != nil ? nextProgress - now : nil
      let rest = timeout.map { $0 - now }
      let outcome = wait.wait(atMost: isOver ? .zero : [tick, rest].compactMap { $0 }.min())
      if outcome.isOutputClosed { Signals.end(by: SIGPIPE) }

      var reports: [StateReport<S.State>] = []
      for letter in mailbox.takeAll() {
        reports += session.receive(letter.state, of: letter.target, at: start.duration(to: clock.now))
      }
      if isOver, session.ending == nil { reports += session.timeOut() }
      if !reports.isEmpty || session.ending != nil || session.waiting == nil { progress.erase() }
      for report in reports { try Output.line(formatter.line(for: report)) }
      if let ending = session.ending { return ending }
    }
  }
}

extension Runner where S.State == Reachability {
  /// Watches whether packets can reach the targets.
  init(
    request: TargetRequest, session: S, formatter: any ReportFormatter<Reachability>, timeout: Duration?,
    endsWithReader: Bool
  ) {
    self.init(
      names: request.targets.map(\.typed), session: session, formatter: formatter, timeout: timeout,
      endsWithReader: endsWithReader
    ) { mailbox in
      request.targets.enumerated().map { position, target in
        ReachabilityMonitor(target.target, configuration: request.configuration)
          .observe { state in mailbox.post(state, for: position) }
      }
    }
  }
}
