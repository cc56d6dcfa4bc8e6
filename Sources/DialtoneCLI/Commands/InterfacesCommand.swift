// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CDialtoneCommand
internal import Dialtone

struct InterfacesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "interfaces",
    abstract: "List the network interfaces and their states.",
    usage: "dialtone interfaces [<options>] [<name> ...]",
    discussion: """
      An asterisk marks the interface by which packets for the Internet leave, or would if it had a carrier. The \
      state is "up" if the interface carries packets, "idle" if it is a bridge without a port that does, and \
      otherwise says why not. IPv6's link-local addresses, which every interface has, are listed with --all.

      Exit status: 0; 1 if a name was given that no interface has; 2 if the system refuses to say.

      EXAMPLES
        dialtone interfaces
        dialtone interfaces --all eth0
        dialtone interfaces --json
      """)

  @Argument(
    help: ArgumentHelp("Only these interfaces, by name, alternative name or index.", valueName: "name"),
    completion: .custom { _, _, _ in InterfaceName.completions() }, transform: InterfaceName.parse)
  var names: [String] = []

  @Flag(name: .shortAndLong, help: "List IPv6's link-local addresses, too. JSON has them always.")
  var all = false

  @Flag(help: "Print JSON, one object a line.")
  var json = false

  func run() throws {
    let (interfaces, facts) = try told()
    let formatter = InterfaceFormatter(screen: .output, showsAll: all)
    let lines = json ? facts.map(InterfaceFormatter.json) : formatter.lines(for: facts)
    if !lines.isEmpty { try Output.line(lines.joined(separator: "\n")) }
    let missing = names.filter { name in !interfaces.contains { $0.isCalled(name) } }
    let known = interfaces.flatMap { [$0.interface.name] + $0.alternativeNames }
    for name in missing { Output.note("dialtone: \(InterfaceHint.missing(name, among: known))") }
    if !missing.isEmpty { throw ExitCode(ExitStatus.fails.rawValue) }
  }

  /// All interfaces, and the facts of those that are wanted.
  private func told() throws -> ([InterfaceStatus], [InterfaceFacts]) {
    do {
      let interfaces = try currentInterfaces()
      let wanted = names.isEmpty ? interfaces : interfaces.filter { status in names.contains { status.isCalled($0) } }
      return (interfaces, try facts(wanted))
    } catch {
      Output.note("dialtone: \(Shortage.now() ?? "\(error)")")
      throw ExitCode(ExitStatus.undetermined.rawValue)
    }
  }

  /// Asks the kernel by which interface packets for the Internet leave, and what leads there over each.
  private func facts(_ interfaces: [InterfaceStatus]) throws -> [InterfaceFacts] {
    // While somebody watches, each question is one message.
    let observation = ReachabilityMonitor(.internet).observe { _ in }
    defer { withExtendedLifetime(observation) {} }
    func state(_ family: IPAddress.Family, over interface: String? = nil) throws -> Reachability {
      var configuration = ReachabilityConfiguration()
      configuration.family = family
      configuration.interface = interface
      let state = Reachability.now(configuration: configuration)
      if state.isDenied { throw ReachabilityError(.denied, state.reason?.description ?? "the system does not say") }
      return state
    }
    let families: [IPAddress.Family] = [.ipv4, .ipv6]
    let defaults = try families.compactMap { try state($0).interface?.index }
    return try interfaces.map { status in
      let name = status.interface.name
      // The name becomes a C string for each of the calls.
      let speed = status.isOperating ? unsafe command_link_speed(name) : 0
      return InterfaceFacts(
        status: status, isDefault: defaults.contains(status.interface.index),
        gateways: try families.compactMap { try state($0, over: name).gateway },
        speed: speed == 0 ? nil : speed,
        isBridge: unsafe command_is_bridge(name) != 0)
    }
  }
}

extension InterfaceStatus {
  fileprivate func isCalled(_ name: String) -> Bool {
    interface.name == name || alternativeNames.contains(name) || UInt32(name) == interface.index
  }
}
