// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone

/// `dialtone interfaces`.
struct InterfacesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "interfaces",
    abstract: "List the network interfaces: kind, state and addresses.",
    discussion: """
      The state is "up" if the interface carries packets, and otherwise says why it does not.

      Exit status: 0, or 2 if the system refuses to say.

      EXAMPLES
        dialtone interfaces
        dialtone interfaces --json
      """)

  @Flag(help: "Print JSON, one object a line.")
  var json = false

  func run() throws {
    let interfaces: [InterfaceStatus]
    do {
      interfaces = try currentInterfaces()
    } catch {
      StandardStream.error.writeIgnoringErrors("dialtone: \(Shortage.now() ?? "\(error)")\n")
      throw ExitCode(ExitStatus.undetermined.rawValue)
    }
    let isTerminal = StandardStream.output.isTerminal
    let formatter = InterfaceFormatter(
      style: Environment.style(isTerminal: isTerminal), columns: isTerminal ? StandardStream.output.columns : nil)
    let lines = json ? interfaces.map(InterfaceFormatter.json) : formatter.lines(for: interfaces)
    if !lines.isEmpty { try Output.line(lines.joined(separator: "\n")) }
  }
}
