// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneCommand
internal import CDialtoneSystem
internal import Dialtone
internal import Dispatch
internal import Netlink
internal import Subprocess
internal import Synchronization
internal import SystemPackage

/// Runs a hook for changes, one run at a time. For any thread.
final class HookRunner<State: Equatable & Sendable>: Sendable {
  private let hook: Hook
  private let facts: @Sendable (StateReport<State>) -> HookFacts
  private let queue: Lock<HookQueue<State>>
  /// Entered while there is a run.
  private let runs = DispatchGroup()

  init(_ hook: Hook, trigger: HookTrigger, facts: @escaping @Sendable (StateReport<State>) -> HookFacts) {
    self.hook = hook
    self.facts = facts
    queue = Lock(HookQueue(trigger: trigger))
  }

  /// Takes a change. It returns at once.
  func receive(_ report: StateReport<State>, holds: TruthValue) {
    let first = queue.withLock { queue in
      queue.receive(report, holds: holds)
      return queue.next()
    }
    guard let first else { return }
    runs.enter()
    Task.detached { [self] in
      var next: StateReport<State>? = first
      while let report = next {
        await hook.run(facts(report))
        next = queue.withLock { queue in
          queue.ended()
          return queue.next()
        }
      }
      runs.leave()
    }
  }

  /// Waits until no run is under way or due. Each ends within the hook's time-out and the time that it has to end.
  func finish() { runs.wait() }
}

/// What a hook is told of a change.
struct HookFacts: Sendable {
  /// Variables of the environment; those of which nothing is known are empty.
  let environment: [String: String]
  /// The line of `--json`.
  let json: String
}

/// A program to run.
struct Hook: Sendable {
  /// How long a hook that is asked to end (SIGTERM) has for it, before it is killed.
  private static let timeToEnd = Duration.seconds(5)
  /// The process group of the hook that runs; 0 if none does.
  private static let running = Atomic<pid_t>(0)

  let program: String
  let arguments: [String]
  let timeout: Duration

  /// Asks a hook that runs to end, because the command itself does.
  static func end() {
    let group = running.load(ordering: .relaxed)
    if group > 0 { kill(-group, SIGTERM) }
  }

  /// Whether the program is there, in PATH or by its path.
  var exists: Bool {
    // access(2) reads the path during the call.
    if program.contains("/") { return unsafe access(program, X_OK) == 0 }
    let path = Environment.value(of: "PATH") ?? "/usr/local/bin:/usr/bin:/bin"
    return path.split(separator: ":").contains { unsafe access("\($0)/\(program)", X_OK) == 0 }
  }

  /// Runs it to its end. What goes wrong is said on standard error.
  func run(_ facts: HookFacts) async {
    do {
      let (status, isTooLong) = try await status(facts)
      if isTooLong {
        say("was ended after \(DurationText.words(timeout)); --exec-timeout gives it longer")
      } else {
        switch status {
        case .exited(0): break
        case .exited(let code): say("exit status \(code)")
        case .signaled(let signal): say("ended by signal \(signal)")
        }
      }
    } catch {
      say("could not be run: \(error)")
    }
  }

  private func status(_ facts: HookFacts) async throws -> (TerminationStatus, isTooLong: Bool) {
    try await withThrowingTaskGroup(of: TerminationStatus?.self) { group in
      group.addTask { try await process(facts) }
      group.addTask {
        // The hook's own time, which the user gives it: nothing else is waited for by the clock.
        try await Task.sleep(for: timeout)
        return nil
      }
      defer { group.cancelAll() }
      if let status = try await group.next() ?? nil { return (status, false) }
      // To be cancelled, a run ends its process by the steps that it was given.
      group.cancelAll()
      guard let status = try await group.next() ?? nil else { throw CancellationError() }
      return (status, true)
    }
  }

  private func process(_ facts: HookFacts) async throws -> TerminationStatus {
    var options = PlatformOptions()
    // A group of its own: what the hook starts ends with it.
    options.processGroupID = 0
    options.teardownSequence = [
      .send(signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: Self.timeToEnd)
    ]
    var environment: [Subprocess.Environment.Key: String?] = [:]
    for (name, value) in facts.environment {
      guard let key = Subprocess.Environment.Key(rawValue: name) else { continue }
      environment[key] = .some(value)
    }
    let input = try Self.file(facts.json + "\n")
    let result = try await Subprocess.run(
      program.contains("/") ? .path(FilePath(program)) : .name(program), arguments: Arguments(arguments),
      environment: .inherit.updating(environment), platformOptions: options,
      input: .fileDescriptor(FileDescriptor(rawValue: input), closeAfterSpawningProcess: true),
      // Standard output has the lines of `watch`, perhaps for a program.
      output: .currentStandardError, error: .currentStandardError
    ) { execution in
      Self.running.store(execution.processIdentifier.value, ordering: .relaxed)
    }
    Self.running.store(0, ordering: .relaxed)
    return result.terminationStatus
  }

  /// A file in memory with the text, to be read from its beginning. Unlike a pipe, it takes all of it at once, whether
  /// the hook reads it or not (memfd_create(2)).
  private static func file(_ text: String) throws(SystemError) -> CInt {
    let bytes = Array(text.utf8)
    // The call reads as many bytes as it is told, which the array has.
    let descriptor = unsafe bytes.withUnsafeBytes { unsafe command_memory_file($0.baseAddress, $0.count) }
    if descriptor < 0 { throw SystemError("memfd_create") }
    return descriptor
  }

  private func say(_ words: String) {
    StandardStream.error.writeIgnoringErrors("dialtone: --exec: \(TerminalText.visible(program)): \(words)\n")
  }
}
