// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone
internal import DialtoneSites

/// `dialtone explain`.
struct ExplainCommand: CheckedCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Find out what is wrong between this machine and a target, and what to try.",
    usage: "dialtone explain [<options>] [<target> | <url>]",
    discussion: """
      It looks at what a packet meets, in that order: interface, addresses, rule, route, source, neighbour, name, \
      connection, large packets, TLS and the answer. The first fault is the cause, and not the last symptom.

      WHAT IT SENDS
        to the gateway        one datagram to port 9
        to the name servers   the target's name, and one that cannot exist
        to the target         connections on its port, else on 443 and 80; to a
                              URL a check, to others datagrams to port 33434
        to the proxy          of the environment: a connection
      Nothing goes to anybody else. It needs no privileges, and says what it could not see without them.

      Exit status: 0 nothing is wrong, 1 a cause was found, 2 something may be wrong, and no cause was found.

      EXAMPLES
        dialtone explain
        dialtone explain example.com:443
        dialtone explain https://example.com/ --timeout 5
        dialtone explain --json --interface wlan0 192.0.2.7
      """)

  @Argument(
    help: ArgumentHelp(
      "internet, a host, an address, each of the last two also with a port, or an http or https URL.",
      valueName: "target"))
  var targets: [String] = []

  @OptionGroup var families: FamilyOptions

  @Flag(help: "Print JSON, one object.")
  var json = false

  @Option(
    name: [.customShort("i", allowingJoined: true), .customLong("interface")], parsing: .unconditional,
    help: ArgumentHelp("Only this interface counts.", valueName: "name"),
    completion: .custom { _, _, _ in InterfaceName.completions() }, transform: InterfaceName.parse)
  var interface: String?

  @Option(
    name: [.customShort("t", allowingJoined: true), .customLong("timeout")], parsing: .unconditional,
    help: ArgumentHelp("Take this long at most, such as 5s (default: 10).", valueName: "duration"),
    transform: DurationArgument.positive)
  var timeout: Duration?

  @OptionGroup var quiet: QuietOptions

  var typed: [String] {
    get { targets }
    set { targets = newValue }
  }

  func prepare() throws -> Work {
    if targets.count > 1 {
      throw ValidationError("TARGET: \(targets.count) were given; one at a time can be explained")
    }
    var configuration = DiagnosisConfiguration(timeout: timeout ?? .seconds(10))
    configuration.interface = interface
    configuration.family = families.family
    let (name, diagnosis) = try diagnosis(configuration)
    let runner = ExplainRunner(target: name, diagnosis: diagnosis, json: json, isQuiet: quiet.isQuiet)
    return { try runner.run() }
  }

  private func diagnosis(_ configuration: DiagnosisConfiguration) throws -> (String, Diagnosis) {
    let text = targets.first ?? WatchedTarget.usual.typed
    let scheme = ASCII.folded(
      text.unicodeScalars.prefix { $0 != ":" }.reduce(into: "") { $0.unicodeScalars.append($1) })
    if text.unicodeScalars.firstRange(of: "://".unicodeScalars) != nil, ["http", "https"].contains(scheme) {
      let request = try SiteRequest([text], configuration: SiteMonitorConfiguration())
      return (text, Diagnosis(of: request.urls[0], configuration: configuration))
    }
    let target = try WatchedTarget(text, interface: interface)
    if case .localNetwork = target.target.storage {
      throw ValidationError("TARGET: the local network is no target to explain; give a host on it, or internet")
    }
    if let address = target.address {
      try TargetRequest.check(address, called: "the target", families.family, interface)
    }
    return (target.typed, Diagnosis(of: target.target, configuration: configuration))
  }
}
