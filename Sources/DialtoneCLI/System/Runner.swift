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
  /// Whether a state is what one hopes for.
  let holds: (S.State) -> TruthValue
  /// What is run for each line.
  var hook: HookRunner<S.State>?
  /// Who is told of each state in words, besides.
  var notice: (manager: ServiceManager, notice: ServiceNotice)?
  /// Ends a wait for which there is no hope; `nil` goes on.
  var prospects: Prospects?
  /// How many of the targets, from the first, `dialtone explain` is named for, on a terminal, when one of them is lost.
  var explainableCount = 0
  /// Begins to post the targets' states. What it returns is kept until the end.
  let watch: (Mailbox<S.State>) -> any Sendable

  /// Runs until the session ends.
  ///
  /// - Throws: `SystemError` if the output cannot be written.
  mutating func run() throws -> ExitStatus {
    let clock = ContinuousClock()
    let start = clock.now
    let progress = Progress(isEnabled: !isQuiet && StandardStream.error.isTerminal && !Environment.isDumb)
    Signals.onEnd {
      progress.erase()
      Hook.end()
    }

    let mailbox = try Mailbox<S.State>()
    // If netlink is refused, the states say so.
    let announcements = prospects == nil ? nil : InterfaceAnnouncements()
    let wait = try EventWait(
      mailbox: mailbox, output: endsWithReader ? .output : nil, announcements: announcements?.descriptors ?? [])
    let watchers = watch(mailbox)
    defer { withExtendedLifetime(watchers) {} }

    let shortened = progress.isEnabled ? ShortenedNames(names) : nil
    var obstacles = session.toldGoal != nil && !isQuiet && !progress.isEnabled ? Obstacles() : nil
    var hasToldShortage = isQuiet
    var hasNamedExplain = explainableCount == 0 || !progress.isEnabled
    var nextProgress = Progress.interval
    var mustLook = true
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
      let look = prospects?.end.map { $0 - now }
      let outcome = wait.wait(atMost: isOver ? .zero : [tick, rest, look].compactMap { $0 }.min())
      if outcome.isAnnounced {
        announcements?.drain()
        mustLook = true
      }
      if outcome.isOutputClosed {
        Hook.end()
        Signals.end(by: SIGPIPE)
      }

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
      for letter in letters { tell(serviceManager: letter) }
      if isOver, session.ending == nil { reports += session.timeOut() }
      let hopeless = session.ending == nil ? hopelessness(at: start.duration(to: clock.now), mustLook) : nil
      mustLook = false
      if hopeless != nil { reports += session.timeOut() }
      if progress.isVisible {
        if !reports.isEmpty || session.ending != nil || session.waiting == nil {
          progress.erase()
        } else if !letters.isEmpty {
          // The reason for the wait may have changed.
          nextProgress = .zero
        }
      }
      if !isQuiet { for report in reports { try Output.line(formatter.line(for: report)) } }
      for report in reports { hook?.receive(report, holds: holds(report.state)) }
      if !hasNamedExplain, let target = lost(reports) {
        let name = TerminalText.visible(names[target])
        StandardStream.error.writeIgnoringErrors("to find out why: dialtone explain \(name)\n")
        hasNamedExplain = true
      }
      if let hopeless {
        if !isQuiet { StandardStream.error.writeIgnoringErrors("dialtone: gave up: \(hopeless)\n") }
        return .fails
      }
      if let ending = session.ending {
        hook?.finish()
        return ending
      }
      tell(letters.map(\.target), &obstacles)
    }
  }

  /// Why there is no hope, in words; `nil` if there is some, nobody wants to know, or it is not time to look.
  private mutating func hopelessness(at now: Duration, _ mustLook: Bool) -> String? {
    guard let prospects, mustLook || prospects.end.map({ $0 <= now }) ?? false else { return nil }
    do {
      let interfaces = try currentInterfaces()
      return self.prospects?.areGone(interfaces, at: now) == true ? Prospects.words(for: interfaces) : nil
    } catch {
      // The states say that the system denies it.
      return nil
    }
  }

  private mutating func tell(serviceManager letter: Mailbox<S.State>.Letter) {
    guard let manager = notice?.manager else { return }
    let text = words(letter.state, letter.target)
    let holds = holds(letter.state)
    if let message = notice?.notice.message(of: letter.target, text, holds: holds) { manager.send(message) }
  }

  /// The first target that is reported as lost: it was there before, or was waited for in vain.
  private func lost(_ reports: [StateReport<S.State>]) -> Int? {
    reports.first { report in
      guard report.target < explainableCount, holds(report.state) == .fails else { return false }
      return report.former.map { holds($0.state) != .fails } ?? (session.ending == .fails)
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
    endsWithReader: Bool, isQuiet: Bool = false, namesExplain: Bool = false, questions: [HostName] = [],
    followsAddresses: Bool = false
  ) {
    let takesAnyInterface = request.targets.map { $0.takesAnyInterface && request.configuration.interface == nil }
    let targetCount = request.targets.count
    self.init(
      names: request.targets.map(\.typed) + questions.map { "a name server for \($0.text)" }, session: session,
      formatter: formatter, timeout: timeout,
      endsWithReader: endsWithReader, isQuiet: isQuiet,
      words: { state, target in
        if target >= targetCount { return state.isReachable ? "answered" : "no name server answers" }
        let details = TextReportFormatter.details(of: state, takesAnyInterface: takesAnyInterface[target])
        return state.isReachable ? "reachable \(details)" : details
      }, isDenied: { $0.reason == .denied },
      holds: { state in state.holds { $0.isReachable } }, explainableCount: namesExplain ? targetCount : 0
    ) { mailbox in
      for (position, name) in questions.enumerated() {
        NameServerWatch(name: name).start(mailbox, position: targetCount + position)
      }
      let monitors = request.targets.map { ReachabilityMonitor($0.target, configuration: request.configuration) }
      var observations = monitors.enumerated().map { position, monitor in
        monitor.observe { state in mailbox.post(state, for: position) }
      }
      if followsAddresses {
        // Another source is no change of a state, but one of a path.
        observations.append(
          PathMonitor().observe { _ in
            for (position, monitor) in monitors.enumerated() { mailbox.post(monitor.current, for: position) }
          })
      }
      return observations
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
      }, isDenied: { _ in false },
      holds: { $0.kind == .undetermined ? .unknown : TruthValue($0.isAvailable) },
      explainableCount: namesExplain ? request.urls.count : 0, watch: watch)
  }
}
