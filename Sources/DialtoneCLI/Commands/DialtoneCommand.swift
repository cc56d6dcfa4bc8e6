// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CDialtoneCommand
internal import CDialtoneSystem
internal import Dialtone

@main
struct DialtoneCommand: ParsableCommand {
  static let commands: [any ParsableCommand.Type] = [
    WatchCommand.self, StatusCommand.self, WaitCommand.self, CheckCommand.self, ExplainCommand.self,
    RecordCommand.self, OutagesCommand.self, ReportCommand.self, InterfacesCommand.self, ExportCommand.self,
  ]

  static let configuration = CommandConfiguration(
    commandName: "dialtone",
    abstract:
      "Tell whether the network is reachable, over which interface, and if not, why; and whether sites answer.",
    usage: commands.compactMap { $0.configuration.usage }.joined(separator: "\n"),
    discussion: """
      The answer is the kernel's own: nothing is sent except name lookups. A target is reachable if a packet for it \
      can leave this machine; that does not say whether it answers. To learn that, use check or --site; to learn why \
      not, use explain. These, record and export send something: see their help. Without a command, dialtone means \
      dialtone watch.

      EXIT STATUS
        0        what was asked holds
        1        it does not
        2        it cannot be told
        64       wrong usage
        66       the file of --from-file or the journal cannot be read
        71       the system had nothing left, such as descriptors
        74       the output could not be written
        128 + n  ended by signal n

      EXAMPLES
        dialtone                          watch the Internet
        dialtone example.com 192.0.2.7    watch a host and an address
        dialtone status --json            ask once, for a program
        dialtone wait && git push         wait for the Internet, then go on
        dialtone check https://example.com/
        dialtone explain https://example.com/
        dialtone interfaces               list the interfaces

      Completion for a shell: dialtone --generate-completion-script bash
      """,
    version: DialtoneLibraryVersion.current.description,
    subcommands: commands)

  static func main() {
    command_prepare()
    BuiltInNameSources.choose()
    do throws(SystemError) {
      StandardStream.prepare()
      var arguments: [String] = []
      do {
        arguments = try TypedArguments.all()
        let work = try StatusRequest(simple: arguments)?.run ?? prepare(arguments).work
        let status = try work()
        CDialtoneSystem.exit(status.rawValue)
      } catch let error as ExitCode {
        CDialtoneSystem.exit(error.rawValue)
      } catch let error as SystemError {
        throw error
      } catch {
        try end(with: error, typed: arguments)
      }
    } catch {
      ExitStatus.end(for: error)
    }
  }

  /// Reads and checks all arguments. If it throws, nothing has been begun.
  static func prepare(_ arguments: [String]) throws -> (command: any ParsableCommand, work: Work) {
    try CommandWord.check(help: arguments)
    let named = CommandWord.named(arguments)
    let folded = FoldedArguments(named)
    var parsed: any ParsableCommand
    do {
      parsed = try parseAsRoot(folded.arguments)
    } catch {
      if folded.arguments == named { throw error }
      let (message, status) = parserMessage(for: error)
      throw WholeMessage(description: folded.unfolded(message: message), status: status)
    }
    guard var checked = parsed as? any CheckedCommand else {
      let work: Work = {
        try parsed.run()
        return .holds
      }
      return (parsed, work)
    }
    if var list = checked as? any ListCommand {
      list.typed = folded.unfolded(list.typed)
      checked = list
    }
    if var watch = checked as? WatchCommand {
      watch.hookOptions.command = folded.unfolded(watch.hookOptions.command)
      // The parser does not tell a program that is not there from an option that is not there.
      if watch.hookOptions.command.isEmpty, arguments.last == "--exec" {
        throw UsageError(
          message: "--exec: no program was given; give one, and its arguments behind it", command: "watch")
      }
      checked = watch
    }
    let name = type(of: checked).configuration.commandName ?? ""
    do {
      if let watch = checked as? WatchCommand, arguments.first != name {
        try CommandWord.check(implicitTargets: watch.typed)
      } else if let command = checked as? any WordCommand {
        try CommandWord.check(targets: command.typed)
      }
      // ArgumentParser would do this in `validate`, before it finds unknown options.
      return (checked, try checked.prepare())
    } catch let error as ValidationError {
      throw UsageError(message: error.message, command: name)
    }
  }

  /// Prints help that was asked for, or what is wrong with the arguments.
  private static func end(with error: any Error, typed arguments: [String]) throws(SystemError) {
    var screen = Screen.output
    let isScript = arguments.contains { $0.hasPrefix(CompletionScript.option) }
    if !isScript, let columns = Environment.columns { screen.columns = columns }
    var (description, status) = DialtoneCommand.described(error)
    if status.isSuccess, isScript { description = CompletionScript.completed(description) }
    // The description repeats what was typed.
    let message = TypedArguments.withoutSecrets(description, arguments)
    let text = TerminalText.visible(message, keepingLineBreaks: true)
    if status.isSuccess {
      try Output.line(screen.help(text))
    } else {
      Output.note(text)
    }
    CDialtoneSystem.exit(status.rawValue)
  }

  /// The parser's text and exit status. It lays its text out for a terminal, and cannot for a narrow one: there it
  /// leaves the lines whole, and `Screen` breaks them.
  private static func parserMessage(for error: any Error) -> (text: String, status: ExitCode) {
    let least = Screen.leastHelpColumns
    let columns = Environment.columns ?? Screen.output.columns ?? least
    // The process ends with this text. Both texts are copied (setenv(3)).
    if columns < least { unsafe setenv("COLUMNS", "10000", 1) }
    return (fullMessage(for: error), exitCode(for: error))
  }

  /// What is told of an error, and the status to end with.
  static func described(_ error: any Error) -> (text: String, status: ExitCode) {
    switch error {
    case let error as UsageError: (error.description, ExitCode(ExitStatus.usage.rawValue))
    case let error as InputError: ("Error: \(error)", ExitCode(ExitStatus.noInput.rawValue))
    case let error as WholeMessage: (error.description, error.status)
    default: parserMessage(for: error)
    }
  }
}

/// A command whose arguments have to be right together before anything is begun.
protocol CheckedCommand: ParsableCommand {
  /// Checks the arguments, and reads the files that they name. Returns what is to be done.
  ///
  /// Call it once: standard input can be read only once.
  func prepare() throws -> Work
}

/// What a command does once its arguments have been found right.
typealias Work = () throws -> ExitStatus

/// A command whose arguments are targets or URLs.
protocol ListCommand: CheckedCommand {
  var typed: [String] { get set }
}

/// A command whose arguments are targets, words for networks among them.
protocol WordCommand: ListCommand {}
