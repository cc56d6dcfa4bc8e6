// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CNetlink
internal import Dialtone

/// The command `dialtone`.
@main
struct DialtoneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dialtone",
    abstract:
      "Tell whether the network is there: over which interface, since when, and why not; and whether sites answer.",
    usage: """
      dialtone [watch] [<options>] [<target> ...]
      dialtone status [<options>] [<target> ...]
      dialtone wait [<options>] [<target> ...]
      dialtone check [<options>] <url> ...
      dialtone interfaces [--json]
      """,
    discussion: """
      The answer is the kernel's own: nothing is sent, but for name look-ups. That a target is reachable says that a \
      packet for it can leave this machine, not that it answers. Whether it does, check and --site ask, and they alone \
      send something to it. Without a command, it is watch.

      EXIT STATUS
        0        what was asked holds
        1        it does not
        2        it cannot be told
        64       wrong usage
        74       the output could not be written
        128 + n  ended by signal n

      EXAMPLES
        dialtone                          watch the Internet
        dialtone example.com 192.0.2.7    watch a host and an address
        dialtone status --json            ask once, for a program
        dialtone wait && git push         wait for the Internet, then go on
        dialtone check https://example.com/
        dialtone interfaces               what there is

      Completion for a shell: dialtone --generate-completion-script bash
      """,
    version: Dialtone.version,
    subcommands: [WatchCommand.self, StatusCommand.self, WaitCommand.self, CheckCommand.self, InterfacesCommand.self],
    defaultSubcommand: WatchCommand.self)

  static func main() {
    do {
      try StandardStream.prepare()
      var arguments: [String] = []
      do {
        arguments = try TypedArguments.all()
        var command = try parse(arguments)
        try command.run()
      } catch let error as ExitCode {
        CNetlink.exit(error.rawValue)
      } catch let error as SystemError {
        throw error
      } catch {
        try end(with: error, typed: arguments)
      }
    } catch {
      StandardStream.error.writeIgnoringErrors("dialtone: \(error)\n")
      CNetlink.exit(ExitStatus.inputOutput.rawValue)
    }
  }

  /// Reads and checks all arguments; nothing has been begun where it throws.
  static func parse(_ arguments: [String]) throws -> any ParsableCommand {
    let command = try parseAsRoot(arguments)
    guard let checked = command as? any CheckedCommand else { return command }
    let name = type(of: checked).configuration.commandName ?? ""
    do {
      if let watch = command as? WatchCommand, arguments.first != name {
        try CommandWord.check(implicitTargets: watch.options.targets)
      }
      // ArgumentParser would do this in `validate`, before it finds options that there are not.
      try checked.check()
    } catch let error as ValidationError {
      throw UsageError(message: error.message, command: name)
    }
    return command
  }

  /// Prints help that was asked for, or what is wrong with the arguments.
  private static func end(with error: any Error, typed arguments: [String]) throws {
    let usageError = error as? UsageError
    let status = usageError == nil ? exitCode(for: error) : ExitCode(ExitStatus.usage.rawValue)
    // It repeats what was typed.
    let message = TypedArguments.withoutSecrets(usageError?.description ?? fullMessage(for: error), arguments)
    let text = TerminalText.visible(message, keepingLineBreaks: true)
    if status.isSuccess {
      try Output.line(text)
    } else {
      StandardStream.error.writeIgnoringErrors(text + "\n")
    }
    CNetlink.exit(status.rawValue)
  }

  /// Ends a command with `status`.
  static func exit(_ status: ExitStatus) throws {
    if status != .holds { throw ExitCode(status.rawValue) }
  }
}
