// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone
package import DialtoneDiagnosis
internal import Dispatch

/// Watches targets, and writes their outages to a journal. It drives a ``RecorderStateMachine`` on the thread that runs
/// it.
package final class Recorder: Sendable {
  package struct Configuration: Sendable {
    package var directory: JournalDirectory
    /// How many bytes the journal has at most.
    package var sizeLimit = 64 << 20
    package var clock = JournalClock.system
    package var environment = ReachabilityEnvironment.system
    package var evidence: any EvidenceSource = .system
    /// Whether explanations may ask beyond the router.
    package var asksBeyondRouter = false
    /// The boot of the machine; by default what random(4) says.
    package var boot = Configuration.presentBoot
    /// Takes what a person has to know.
    package var remark: @Sendable (String) -> Void = { _ in }
    /// Takes each event that was found, before it is written.
    package var tell: @Sendable (JournalEvent) -> Void = { _ in }
    /// Takes the state in words, at first once all targets are known.
    package var tellStatus: @Sendable (String) -> Void = { _ in }

    package init(directory: JournalDirectory) { self.directory = directory }

    private static var presentBoot: String {
      // Without /proc no two recorders are known to be of one boot.
      SystemFile.text(at: "/proc/sys/kernel/random/boot_id", limit: 64)?.filter { !$0.isWhitespace }
        ?? WallTime.text(JournalClock.system.now().wall)
    }
  }

  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  private enum Letter: Sendable {
    case input(RecorderStateMachine.Input)
    case verdict(Int, number: Int, DiagnosisVerdict)
    case glance(Int, DiagnosisVerdict)
    case learned(Int, [Explanation.Step])
  }

  private let configuration: Configuration
  private let targets: [RecordedTarget]
  private let wait: RecorderWait
  /// When a letter came counts, even if the thread is busy with something else then, such as a slow disk.
  private let inbox = Lock<[(letter: Letter, at: Moment)]>([])
  private let counts = Lock(JournalWriter.Counts())
  private let isDone = DispatchSemaphore(value: 0)

  package init(_ configuration: Configuration, targets: [RecordedTarget]) throws(Failure) {
    self.configuration = configuration
    self.targets = targets
    do throws(SystemError) { wait = try RecorderWait() } catch { throw Failure(description: "\(error)") }
  }

  /// What was written, what waits and what was lost.
  package var writerCounts: JournalWriter.Counts { counts.withLock { $0 } }

  /// Has the time looked at, for a clock that a test has moved.
  package func wake() { post(.input(.time)) }

  /// Ends it, and waits for so long at most until the journal is closed. For any thread but its own.
  package func stop(reason: String, within limit: Duration) {
    post(.input(.stop(reason: reason)))
    _ = isDone.wait(timeout: .now() + .nanoseconds(Int(limit.nanosecondsClamped)))
  }

  private func post(_ letter: Letter) {
    inbox.withLock { $0.append((letter, configuration.clock.now())) }
    wait.wake()
  }

  /// Records until it is stopped. Blocks.
  package func run() throws(Failure) {
    // Once the lock is released, so that another recorder may begin; and if nothing could be recorded, too.
    defer { isDone.signal() }
    let directory = configuration.directory
    do throws(SystemError) {
      try directory.make()
      if let lock = try directory.lock() { return record(try leftOpen(), lock) }
    } catch {
      throw Failure(description: "\(error)")
    }
    throw Failure(description: "\(directory.path): another recorder writes there; stop it, or give another --directory")
  }

  /// What the recorder before has left open, if it ran in the same boot. The last file says all of it, unless one of
  /// this boot has begun with it, which may not have known yet.
  private func leftOpen() throws(SystemError) -> (open: [String: OpenOutage], end: Moment)? {
    var reader = JournalReader(configuration.directory)
    var events: [JournalEvent] = []
    for file in try configuration.directory.files().reversed() {
      var own: [JournalEvent] = []
      do throws(SystemError) { try reader.read(file) { own.append($0) } } catch { if events.isEmpty { throw error } }
      events = own + events
      guard case .start(let recorder)? = own.first?.kind, recorder.boot == configuration.boot else { break }
    }
    var log = OutageLog { _ in }
    for event in events { log.take(event) }
    guard let end = log.end, end.boot == configuration.boot else { return nil }
    return (log.open, end.at)
  }

  private func record(_ last: (open: [String: OpenOutage], end: Moment)?, _ lock: consuming OwnedDescriptor) {
    let recorder = JournalEvent.Recorder(
      version: DialtoneLibraryVersion.current.description, boot: configuration.boot, targets: targets.map(\.name))
    var work = Work(
      configuration: configuration,
      machine: RecorderStateMachine(
        recorder, previous: last?.open ?? [:], previousEnd: last?.end, at: configuration.clock.now()),
      lock: lock)
    work.write(work.machine.start)
    counts.withLock { $0 = work.writer.counts }
    let watchers = watch()
    defer { withExtendedLifetime(watchers) {} }
    while !work.isStopped {
      wait.wait(atMost: work.nextTime - configuration.clock.now().clock)
      // No letter that comes later is older than this.
      let (letters, now) = inbox.withLock { letters in
        defer { letters = [] }
        return (letters, configuration.clock.now())
      }
      for (letter, at) in letters where !work.isStopped { handle(letter, at, &work) }
      if !work.isStopped { perform(work.handle(.time, now), &work) }
      counts.withLock { $0 = work.writer.counts }
    }
    // The last event has its second try, too: with that, a folder that was removed is made anew.
    work.retry()
    _ = work.explaining?.run.conclude()
    let lost = work.writer.counts.waiting + work.writer.counts.lost
    if work.writer.counts.waiting > 0 {
      configuration.remark("\(configuration.directory.path): \(lost) of the events could not be written, and are lost")
    }
  }

  private func watch() -> [any Sendable] {
    let paths = PathMonitor(environment: configuration.environment)
      .observe { [weak self] path in self?.post(.input(.path(NetworkSummary(path)))) }
    return targets.enumerated().map { position, target in
      target.watch { [weak self] state, since in
        let wall = since.map { $0.durationSince1970.nanosecondsClamped / 1_000 }
        self?.post(.input(.state(position, state, since: wall)))
      }
    } + [paths]
  }

  private func handle(_ letter: Letter, _ at: Moment, _ work: inout Work) {
    switch letter {
    case .input(.state(let target, .up(let words), let since)):
      // What was found of it up to now is all that can be found.
      if let running = work.explaining, running.target == target {
        work.explaining = nil
        let explanation = running.run.conclude().flatMap { work.explanation(of: target, $0) }
        perform(work.handle(.explained(target, explanation), at), &work)
      }
      perform(work.handle(.state(target, .up(words: words), since: since), at), &work)
    case .input(let input): perform(work.handle(input, at), &work)
    case .verdict(let target, let number, let verdict):
      if work.explaining?.number != number { return }
      work.explaining = nil
      perform(work.handle(.explained(target, work.explanation(of: target, verdict)), at), &work)
    case .glance(let target, let verdict):
      if let explanation = work.explanation(of: target, verdict) {
        perform(work.handle(.glanced(target, explanation), at), &work)
      }
    case .learned(let target, let steps): work.goodTimes[target] = steps
    }
  }

  private func perform(_ actions: [RecorderStateMachine.Action], _ work: inout Work) {
    for action in actions {
      switch action {
      case .write(let event): work.write(event)
      case .explain(let target):
        work.number += 1
        let number = work.number
        let diagnosis = diagnosis(of: target, configuration.asksBeyondRouter ? .beyondRouter : .upToRouter)
        let run = Explaining(diagnosis) { [weak self] verdict in
          self?.post(.verdict(target, number: number, verdict))
        }
        work.explaining = (target, number, run)
      case .glance(let target):
        _ = Explaining(diagnosis(of: target, .passive)) { [weak self] in self?.post(.glance(target, $0)) }
      case .learn(let target):
        guard work.mayLearn(target) else { break }
        _ = Explaining(diagnosis(of: target, .kernel)) { [weak self] verdict in
          // The target may be lost since then. What is wrong now is not how it usually is.
          if verdict.cause != nil { return }
          self?.post(.learned(target, verdict.steps.filter { $0.outcome != .skipped }.map(Explanation.Step.init)))
        }
      }
    }
    work.tellStatus()
  }

  private func diagnosis(of target: Int, _ scope: RecorderEvidence.Scope) -> Diagnosis {
    var configuration = DiagnosisConfiguration(timeout: .seconds(10))
    configuration.asksBeyondRouter = scope == .beyondRouter
    return targets[target].diagnosis(configuration, RecorderEvidence(self.configuration.evidence, scope))
  }
}

/// What the thread of a recorder works with.
private struct Work: ~Copyable {
  let configuration: Recorder.Configuration
  var machine: RecorderStateMachine
  var writer: JournalWriter
  var explaining: (target: Int, number: Int, run: Explaining)?
  /// The steps of each target when nothing was wrong.
  var goodTimes: [Int: [Explanation.Step]] = [:]
  private var learned: [Int: Int64] = [:]
  private(set) var isStopped = false
  /// How many explanations have begun: the verdict of an earlier one comes too late.
  var number = 0
  private var status = ""

  init(configuration: Recorder.Configuration, machine: RecorderStateMachine, lock: consuming OwnedDescriptor) {
    self.configuration = configuration
    self.machine = machine
    writer = JournalWriter(configuration.directory, sizeLimit: configuration.sizeLimit, lock: lock)
  }

  /// How long what could not be written waits for the next try, in microseconds.
  private static let retryPause = 5 * WallTime.second
  /// How long the steps of a good time are good enough.
  private static let learningPause = 60 * WallTime.second

  var nextTime: Int64 {
    writer.counts.waiting == 0 ? machine.nextTime : configuration.clock.now().clock + Self.retryPause
  }

  mutating func mayLearn(_ target: Int) -> Bool {
    let now = configuration.clock.now().clock
    if let last = learned[target], now - last < Self.learningPause { return false }
    learned[target] = now
    return true
  }

  mutating func handle(_ input: RecorderStateMachine.Input, _ at: Moment) -> [RecorderStateMachine.Action] {
    if case .stop = input { isStopped = true }
    if case .time = input { retry() }
    return machine.handle(input, at: at)
  }

  /// Writes what waits, if that is possible by now.
  mutating func retry() {
    if writer.counts.waiting == 0 { return }
    let header = machine.header
    if let remark = writer.writeWaiting(header: { header }) { configuration.remark(remark) }
  }

  /// What the verdict says of the outage; `nil` if nothing was wrong any more.
  func explanation(of target: Int, _ verdict: DiagnosisVerdict) -> Explanation? {
    verdict.isFine ? nil : Explanation(verdict, goodTime: goodTimes[target] ?? [])
  }

  mutating func write(_ event: JournalEvent) {
    configuration.tell(event)
    let header = machine.header
    if let remark = writer.write(event, header: { header }) { configuration.remark(remark) }
  }

  mutating func tellStatus() {
    guard let text = machine.status, text != status else { return }
    status = text
    configuration.tellStatus(text)
  }
}
