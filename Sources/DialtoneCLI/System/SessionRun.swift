// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone

/// What is watched, and what its states say: targets, or sites.
protocol WatchRequest<State>: Sendable {
  associatedtype State: DeterminableState & Equatable
  associatedtype Monitor: StateMonitor<State>

  /// As they were typed.
  var names: [String] { get }
  /// What a state is called that one hopes for: "reachable".
  var goodWord: String { get }
  /// What is waited for at first: "to become known".
  var firstGoal: String { get }

  /// Begins to watch them.
  func monitors() -> [Monitor]
  func formatter(json: Bool, showsTime: Bool) -> any ReportFormatter<State>
  func facts(_ report: StateReport<State>) -> HookFacts
  /// What a state says of a target, for a person who waits for it.
  func words(for state: State, of target: Int) -> String
  /// Whether a state is what one hopes for.
  func holds(_ state: State) -> TruthValue
  /// Whether a state says that the system tells nothing.
  func isDenied(_ state: State) -> Bool
}

/// What a command is asked besides.
struct RunOptions: Sendable {
  var timeout: Duration?
  /// Whether it goes on as long as somebody reads the output, and no longer.
  var endsWithReader = false
  /// Whether nothing is printed, because the exit status tells.
  var isQuiet = false
  /// How many of the targets, from the first, `dialtone explain` is named for, on a terminal, when one of them is lost.
  var explainableCount = 0
}

/// One run of a command: hands states to its session, and what the session makes of them to standard output, the hook,
/// the service manager and standard error.
///
/// Nothing here waits for any of these. Lines have a thread (`LineWriter`) and hooks a task. What a full pipe or socket
/// does not take is left out, or sent later.
actor SessionRun<Request: WatchRequest> {
  typealias State = Request.State
  /// The tasks of a run. The first that returns a status ends it.
  typealias Children = ThrowingTaskGroup<ExitStatus?, any Error>

  /// How long the lines have at the end of `--timeout` to be taken by their reader.
  private static var timeToRead: Duration { .seconds(1) }

  nonisolated let thread: MainThread
  private nonisolated let options: RunOptions
  private nonisolated let hooks: HookRunner<State>?
  private nonisolated let summary: WatchSummary?
  nonisolated let start = ContinuousClock.now
  private nonisolated let progress: Progress
  private let request: Request
  private let formatter: any ReportFormatter<State>
  private var session: any Session<State>
  /// `nil` if the main thread writes.
  private let lines: LineWriter?
  private lazy var names = ShortenedNames(request.names)
  private var reasons = WaitReasons()
  private var hasToldShortage = false
  private var hasNamedExplain = false
  private nonisolated let isNotifying: Bool
  private var manager: ServiceManager?
  private var notice: ServiceNotice
  /// Gets an element when the service manager has not taken a message.
  private nonisolated let refusals = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  /// Begins. From now on a signal ends the process, with the summary at Control-C.
  init(
    _ session: any Session<State>, of request: Request, json: Bool, showsTime: Bool = false, options: RunOptions,
    hooks: HookRunner<State>? = nil, manager: ServiceManager? = nil, summary: WatchSummary? = nil,
    on thread: MainThread
  ) {
    self.session = session
    self.request = request
    formatter = request.formatter(json: json, showsTime: showsTime)
    self.options = options
    self.hooks = hooks
    self.manager = manager
    isNotifying = manager != nil
    self.summary = summary
    self.thread = thread
    notice = ServiceNotice(names: request.names)
    let progress = Progress(isEnabled: !options.isQuiet && Progress.isPossible)
    self.progress = progress
    // A thread and no task: it ends the process while the main thread writes to a terminal that is stopped. It comes
    // first, since other threads inherit the mask.
    Signals.onEnd { [start] signal in
      guard signal == SIGINT, let summary else {
        // It says what was still waited for.
        if signal == SIGINT { progress.leave() } else { progress.erase() }
        return
      }
      // Over what waits, and the ^C that the terminal shows.
      if progress.isEnabled { StandardStream.error.offer("\r\u{1B}[K") }
      Output.remark(summary.lines(at: start.duration(to: .now)).joined(separator: "\n"))
    }
    lines = options.endsWithReader ? LineWriter.start() : nil
  }

  /// Runs these children until one of them ends the run. Then the hook's runs that are due are waited for.
  nonisolated func untilEnd(_ addChildren: @Sendable (inout Children) async throws -> Void) async throws -> ExitStatus {
    async let hookRuns: Void? = hooks?.run(on: thread)
    let status = try await withThrowingTaskGroup(of: ExitStatus?.self) { children in
      defer { children.cancelAll() }
      try await addChildren(&children)
      addOwnChildren(&children)
      for try await case let status? in children { return status }
      throw CancellationError()
    }
    hooks?.finish()
    await hookRuns
    return await end(with: status)
  }

  private nonisolated func addOwnChildren(_ children: inout Children) {
    if let timeout = options.timeout {
      children.addTask { [self] in
        try await thread.sleep(until: start.advanced(by: timeout)) ? await timeOut() : nil
      }
    }
    if options.endsWithReader {
      children.addTask { [thread] in
        if await thread.wait(for: [StandardStream.output.descriptor], areRead: false) { Signals.end(by: SIGPIPE) }
        return nil
      }
    }
    if progress.isEnabled {
      children.addTask { [self] in
        var next = Progress.interval
        while await thread.sleep(until: start.advanced(by: next)), await showProgress() {
          next = .seconds(start.duration(to: .now).secondsClamped) + Progress.interval
        }
        return nil
      }
    }
    if !isNotifying { return }
    children.addTask { [self] in
      for await _ in refusals.stream {
        while let time = await nextMessage, await thread.sleep(until: start.advanced(by: time)) { await retryMessage() }
      }
      return nil
    }
  }

  // MARK: What happens

  /// Takes a state. Returns the exit status if there is nothing more to do.
  func receive(_ state: State, of target: Int) throws -> ExitStatus? {
    if session.ending != nil { return session.ending }
    let now = start.duration(to: .now)
    summary?.note(request.holds(state), of: target, at: now)
    let reports = session.receive(state, of: target, at: now)
    tellServiceManager(state, of: target, at: now)
    if request.isDenied(state) { tellShortage() }
    try tell(reports)
    if session.ending == nil { tellReason(of: target) }
    return session.ending
  }

  func timeOut() throws -> ExitStatus? {
    if session.ending == nil { try tell(session.timeOut()) }
    return session.ending
  }

  /// The wait is given up, for these reasons.
  func giveUp(_ words: String) throws -> ExitStatus? {
    if session.ending != nil { return session.ending }
    try tell(session.timeOut())
    if !options.isQuiet { Output.remark("dialtone: gave up: \(words)") }
    return .fails
  }

  // MARK: Who is told

  private func tell(_ reports: [StateReport<State>]) throws {
    if !reports.isEmpty || session.ending != nil { progress.erase() }
    for report in reports {
      if !options.isQuiet { try write(formatter.line(for: report), of: report.target) }
      hooks?.receive(report, holds: request.holds(report.state))
    }
    nameExplain(reports)
  }

  private func write(_ line: String, of target: Int) throws {
    if let lines { lines.write(line, target: target) } else { try Output.line(line) }
  }

  /// Shows what is waited for. Returns `false` once nothing is.
  private func showProgress() -> Bool {
    guard session.ending == nil, let waiting = session.waiting else { return false }
    if lines?.isIdle == false { return true }
    progress.show(
      ProgressText.line(
        waiting, names: names,
        reason: { target in session.unmetState(of: target).map { request.words(for: $0, of: target) } },
        elapsed: start.duration(to: .now), limit: options.timeout, columns: StandardStream.error.columns))
    return true
  }

  /// Says why the wait goes on, on a terminal in place of the former reason.
  private func tellReason(of target: Int) {
    if progress.isVisible {
      _ = showProgress()
    } else if session.tellsReasons, !options.isQuiet, !progress.isEnabled, let goal = session.waiting?.goal,
      let state = session.unmetState(of: target),
      let line = reasons.line(request.names[target], goal, request.words(for: state, of: target))
    {
      Output.remark(line)
    }
  }

  private func tellServiceManager(_ state: State, of target: Int, at now: Duration) {
    if manager == nil { return }
    let message = notice.message(of: target, request.words(for: state, of: target), holds: request.holds(state))
    manager?.send(message, at: now)
    if manager?.next != nil { refusals.continuation.yield() }
  }

  private var nextMessage: Duration? { manager?.next }

  private func retryMessage() { manager?.retry(at: start.duration(to: .now)) }

  /// What the system is short of. Not among the lines, which may be for a program.
  private func tellShortage() {
    guard !options.isQuiet, !hasToldShortage, let shortage = Shortage.now() else { return }
    Output.remark("dialtone: \(shortage)")
    hasToldShortage = true
  }

  /// Names `explain` for the first target that is lost: it was there before, or was waited for and did not come.
  private func nameExplain(_ reports: [StateReport<State>]) {
    guard !hasNamedExplain, progress.isEnabled else { return }
    let lost = reports.first { report in
      guard report.target < options.explainableCount, request.holds(report.state) == .fails else { return false }
      return report.former.map { request.holds($0.state) != .fails } ?? (session.ending == .fails)
    }
    guard let lost else { return }
    // After the line that it is about.
    _ = lines?.finish(within: Self.timeToRead)
    let name = TerminalText.visible(request.names[lost.target])
    Output.remark("to find out why: dialtone explain \(ShellWord.quoted(name))")
    hasNamedExplain = true
  }

  /// Waits until the lines are written. With `--timeout` it does not wait for a reader who takes none.
  private func end(with status: ExitStatus) -> ExitStatus {
    let limit = options.timeout.map { max(.zero, $0 - start.duration(to: .now)) + Self.timeToRead }
    if lines?.finish(within: limit) ?? true { return status }
    Output.remark("dialtone: \(StandardStream.outputName): its reader takes nothing; lines are lost")
    return .inputOutput
  }
}
