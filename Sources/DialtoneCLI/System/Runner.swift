// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneSites

/// Carries the states of targets to a session, and its lines to standard output. All of it runs on the main thread,
/// except what watches the targets.
///
/// Nothing here waits for anybody but the targets and the clock: not for a reader of the lines (`LineWriter`), nor for
/// one of standard error (`Output.remark`), nor for the service manager, nor for a hook.
struct Runner<S: Session> where S.State: Sendable {
  typealias Letter = Mailbox<S.State>.Letter

  /// The targets as they were typed.
  let names: [String]
  var session: S
  let formatter: any ReportFormatter<S.State>
  let timeout: Duration?
  /// Whether it goes on as long as somebody reads the output, and no longer.
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
  /// What is said at Control-C.
  var summary: WatchSummary?
  /// Ends a wait for which there is no hope; `nil` goes on.
  var prospects: Prospects?
  /// How many of the targets, from the first, `dialtone explain` is named for, on a terminal, when one of them is lost.
  var explainableCount = 0
  /// Begins to post the targets' states. What it returns is kept until the end.
  let watch: (Mailbox<S.State>) -> any Sendable
  /// What has been said so far.
  var said = Said()

  /// What is said once, or now and then.
  struct Said {
    /// `nil` if nobody is told why a wait goes on.
    fileprivate var obstacles: Obstacles?
    fileprivate var shortage = false
    fileprivate var explain = false
    fileprivate var nextProgress = Progress.interval
  }

  /// Where it is said.
  private struct Stage {
    let progress: Progress
    /// The names in the line of progress; `nil` without one.
    let names: ShortenedNames?
    /// `nil` if the main thread writes.
    let lines: LineWriter?
  }

  /// How long the lines have at the end of `--timeout` to be taken by their reader.
  private static var timeToRead: Duration { .seconds(1) }

  /// Runs until the session ends.
  ///
  /// - Throws: `SystemError` if the output cannot be written.
  mutating func run() throws -> ExitStatus {
    let start = ContinuousClock.now
    let progress = Progress(isEnabled: !isQuiet && StandardStream.error.isTerminal && !Environment.isDumb)
    Signals.onEnd { [summary] signal in
      progress.erase()
      guard signal == SIGINT, let summary else { return }
      // Over the ^C that the terminal shows.
      if progress.isEnabled { StandardStream.error.offer("\r\u{1B}[K") }
      Output.remark(summary.lines(at: start.duration(to: .now)).joined(separator: "\n"))
    }
    let mailbox = try Mailbox<S.State>()
    // If netlink is refused, the states say so.
    let announcements = prospects == nil ? nil : InterfaceAnnouncements()
    let wait = try EventWait(
      mailbox: mailbox, output: endsWithReader ? .output : nil, announcements: announcements?.descriptors ?? [])
    let stage = Stage(
      progress: progress, names: progress.isEnabled ? ShortenedNames(names) : nil,
      lines: endsWithReader ? LineWriter.start() : nil)
    if session.toldGoal != nil, !isQuiet, !progress.isEnabled { said.obstacles = Obstacles() }
    let watchers = watch(mailbox)
    defer { withExtendedLifetime(watchers) {} }

    var mustLook = true
    while true {
      let outcome = wait.wait(atMost: pause(at: start.duration(to: .now), on: stage))
      if outcome.isOutputClosed { Signals.end(by: SIGPIPE) }
      if outcome.isAnnounced { announcements?.drain() }
      let letters = mailbox.takeAll()
      let now = start.duration(to: .now)
      if let ending = try take(letters, mustLook || outcome.isAnnounced, at: now, on: stage) {
        hook?.finish()
        return end(with: ending, at: now, on: stage)
      }
      mustLook = false
    }
  }

  /// Shows how far it has come. Returns how long nothing is to be done unless something happens; `nil` is for ever.
  private mutating func pause(at now: Duration, on stage: Stage) -> Duration? {
    let waiting = stage.names == nil || stage.lines?.isIdle == false ? nil : session.waiting
    if let waiting, let names = stage.names, said.nextProgress <= now, timeout.map({ now < $0 }) ?? true {
      stage.progress.show(
        ProgressText.line(
          waiting, names: names, reason: { target in session.obstacle(of: target).map { words($0, target) } },
          elapsed: now, limit: timeout, columns: StandardStream.error.columns))
      said.nextProgress = .seconds(now.secondsClamped) + Progress.interval
    }
    let ends = [waiting == nil ? nil : said.nextProgress, timeout, prospects?.end, notice?.manager.next]
    return ends.compactMap { $0 }.min().map { max(.zero, $0 - now) }
  }

  /// Takes what has come, and says what follows. Returns the exit status if there is nothing more to do.
  private mutating func take(
    _ letters: [Letter], _ mustLook: Bool, at now: Duration, on stage: Stage
  ) throws -> ExitStatus? {
    var reports: [StateReport<S.State>] = []
    for letter in letters {
      summary?.note(holds(letter.state), of: letter.target, at: now)
      reports += session.receive(letter.state, of: letter.target, at: now)
      tell(serviceManager: letter, at: now)
    }
    notice?.manager.retry(at: now)
    tellShortage(letters)
    if timeout.map({ $0 <= now }) ?? false, session.ending == nil { reports += session.timeOut() }
    let hopeless = session.ending == nil ? hopelessness(at: now, mustLook) : nil
    if hopeless != nil { reports += session.timeOut() }
    if stage.progress.isVisible {
      if !reports.isEmpty || session.ending != nil || session.waiting == nil {
        stage.progress.erase()
      } else if !letters.isEmpty {
        // The reason for the wait may have changed.
        said.nextProgress = .zero
      }
    }
    for report in reports {
      if !isQuiet { try write(formatter.line(for: report), of: report.target, on: stage) }
      hook?.receive(report, holds: holds(report.state))
    }
    nameExplain(reports, on: stage)
    if let hopeless {
      if !isQuiet { Output.remark("dialtone: gave up: \(hopeless)") }
      return .fails
    }
    if session.ending == nil { tellObstacles(letters.map(\.target)) }
    return session.ending
  }

  private func write(_ line: String, of target: Int, on stage: Stage) throws {
    if let lines = stage.lines { lines.write(line, target: target) } else { try Output.line(line) }
  }

  /// Waits until the lines are written. With `--timeout` it does not wait for a reader who takes none.
  private func end(with status: ExitStatus, at now: Duration, on stage: Stage) -> ExitStatus {
    let limit = timeout.map { max(.zero, $0 - now) + Self.timeToRead }
    if stage.lines?.finish(within: limit) ?? true { return status }
    Output.remark("dialtone: \(StandardStream.outputName): its reader takes nothing; lines are lost")
    return .inputOutput
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

  private mutating func tell(serviceManager letter: Letter, at now: Duration) {
    guard notice != nil else { return }
    let (text, holds) = (words(letter.state, letter.target), holds(letter.state))
    guard let message = notice?.notice.message(of: letter.target, text, holds: holds) else { return }
    notice?.manager.send(message, at: now)
  }

  /// What the system is short of. Not among the lines, which may be for a program.
  private mutating func tellShortage(_ letters: [Letter]) {
    guard !isQuiet, !said.shortage, letters.contains(where: { isDenied($0.state) }), let shortage = Shortage.now()
    else { return }
    Output.remark("dialtone: \(shortage)")
    said.shortage = true
  }

  /// Names `explain` for the first target that is lost: it was there before, or was waited for and did not come.
  private mutating func nameExplain(_ reports: [StateReport<S.State>], on stage: Stage) {
    guard !said.explain, stage.progress.isEnabled else { return }
    let lost = reports.first { report in
      guard report.target < explainableCount, holds(report.state) == .fails else { return false }
      return report.former.map { holds($0.state) != .fails } ?? (session.ending == .fails)
    }
    guard let lost else { return }
    // After the line that it is about.
    _ = stage.lines?.finish(within: Self.timeToRead)
    let name = TerminalText.visible(names[lost.target])
    Output.remark("to find out why: dialtone explain \(ShellWord.quoted(name))")
    said.explain = true
  }

  /// Says what stands in the way of these targets, if that has not been said.
  private mutating func tellObstacles(_ targets: [Int]) {
    guard var told = said.obstacles, let goal = session.toldGoal else { return }
    for target in targets where !told.isComplete {
      guard let state = session.obstacle(of: target) else { continue }
      if let note = told.note(names[target], goal, words(state, target)) { Output.remark(note) }
    }
    said.obstacles = told
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
      }, isDenied: { $0.isDenied },
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
