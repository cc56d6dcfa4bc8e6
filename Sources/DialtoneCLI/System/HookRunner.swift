// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneCommand
internal import CDialtoneSystem
internal import Dialtone

/// Runs a hook for changes, one run at a time.
final class HookRunner<State: Equatable & Sendable>: Sendable {
  private let hook: Hook
  private let facts: @Sendable (StateReport<State>) -> HookFacts
  private let queue: Lock<HookQueue<State>>
  /// Gets an element when a run may be due.
  private let due = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  init(_ hook: Hook, trigger: HookTrigger, facts: @escaping @Sendable (StateReport<State>) -> HookFacts) {
    self.hook = hook
    self.facts = facts
    queue = Lock(HookQueue(trigger: trigger))
  }

  /// Takes a change.
  func receive(_ report: StateReport<State>, holds: TruthValue) {
    queue.withLock { $0.receive(report, holds: holds) }
    due.continuation.yield()
  }

  /// Does what is due until `finish()`, and then what is left.
  func run(on thread: MainThread) async {
    for await _ in due.stream {
      while let report = queue.withLock({ $0.next() }) {
        await hook.run(facts(report), on: thread)
        queue.withLock { $0.ended() }
      }
    }
  }

  /// No change comes any more.
  func finish() { due.continuation.finish() }
}

/// What a hook is told of a change.
struct HookFacts: Sendable {
  /// Variables of the environment; those of which nothing is known are empty.
  let environment: [String: String]
  let json: String
}

/// A program to run.
struct Hook: Sendable {
  /// How long a hook that is asked to end (SIGTERM) has for it, before it is killed.
  private static let timeToEnd = Duration.seconds(5)

  let program: String
  let arguments: [String]
  let timeout: Duration

  /// Whether the program is there, in PATH or by its path.
  var exists: Bool {
    if program.contains("/") { return Self.isProgram(program) }
    let path = Environment.value(of: "PATH") ?? "/usr/local/bin:/usr/bin:/bin"
    // An empty part is the folder that one is in (POSIX.1-2017, 8.3).
    return path.split(separator: ":", omittingEmptySubsequences: false)
      .contains { Self.isProgram($0.isEmpty ? program : "\($0)/\(program)") }
  }

  private static func isProgram(_ path: String) -> Bool {
    var information = stat()
    // Both read the path during the call; stat(2) fills the rest.
    return unsafe stat(path, &information) == 0 && information.st_mode & mode_t(S_IFMT) == mode_t(S_IFREG)
      && access(path, X_OK) == 0
  }

  private struct Outcome {
    var ending: command_event?
    /// Why it was ended before: 0 for its time, or the signal that stopped it.
    var cut: CInt?
  }

  /// Runs it to its end. If the task is cancelled, that is now. What goes wrong is said on standard error.
  func run(_ facts: HookFacts, on thread: MainThread) async {
    do throws(SystemError) {
      let outcome = try await outcome(facts, on: thread)
      if outcome.cut == 0 {
        return say("was ended after \(DurationText.words(timeout)); --exec-timeout gives it longer")
      }
      if outcome.cut != nil { return say("was ended: it wants the terminal, which only the command has") }
      guard let ending = outcome.ending else { return say("its end is not known: what watched over it was killed") }
      switch Int(ending.kind) {
      case COMMAND_NOT_STARTED: say("could not be run: \(SystemError.text(of: ending.value))")
      case COMMAND_SIGNALLED: say("ended by signal \(ending.value)")
      case _ where ending.value != 0: say("exit status \(ending.value)")
      default: break
      }
    } catch {
      say("could not be run: \(error)")
    }
  }

  private func outcome(_ facts: HookFacts, on thread: MainThread) async throws(SystemError) -> Outcome {
    var run = try start(facts)
    var outcome = Outcome()
    var event = command_event()
    // Filled by the call, which does not block then.
    while await thread.wait(for: [run.channel]), unsafe command_next_event(&run, &event) != 0 {
      if event.kind == COMMAND_CUT { outcome.cut = event.value } else { outcome.ending = outcome.ending ?? event }
    }
    unsafe command_end_run(&run)
    return outcome
  }

  private func start(_ facts: HookFacts) throws(SystemError) -> command_run {
    let input = OwnedDescriptor(try Self.file(facts.json + "\n"))
    let words = CStrings([program] + arguments)
    let settings = CStrings(facts.environment.map { "\($0)=\($1)" })
    var run = command_run()
    // The lists end with a null pointer, and live until the call returns: it copies the process, and them with it.
    let status = withExtendedLifetime(input) {
      withExtendedLifetime((words, settings)) {
        var program = unsafe command_program(
          arguments: words.pointers, environment: settings.pointers, input: input.rawValue,
          timeout: timeout.nanosecondsClamped / 1_000_000, grace: Self.timeToEnd.nanosecondsClamped / 1_000_000)
        return unsafe command_start_program(&program, &run)
      }
    }
    if status != 0 { throw SystemError("fork") }
    return run
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

  /// A reader of standard error who takes nothing holds up neither the command nor the next run.
  private func say(_ words: String) { Output.remark("dialtone: --exec: \(TerminalText.visible(program)): \(words)") }
}

/// A list of C strings with a null pointer at its end, as exec(3) takes it.
@safe private final class CStrings {
  let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private let count: Int

  init(_ texts: [String]) {
    count = texts.count
    // One more than there are texts, for the null pointer.
    unsafe pointers = .allocate(capacity: count + 1)
    for (position, text) in texts.enumerated() { unsafe (pointers + position).initialize(to: strdup(text)) }
    unsafe (pointers + count).initialize(to: nil)
  }

  deinit {
    // Each was allocated by strdup(3).
    for position in 0..<count { unsafe free(pointers[position]) }
    unsafe pointers.deallocate()
  }
}
