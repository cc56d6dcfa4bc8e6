// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone
internal import DialtoneDiagnosis
internal import DialtoneSites

struct ExplainCommand: WordCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Find out what is wrong on the way to a target.",
    usage: "dialtone explain [<options>] [<target> | <url>]",
    discussion: """
      It looks at what a packet meets: interface, addresses, rule, route, source, neighbour, portals, what lies \
      beyond the router, name, connection, large packets, TLS, the answer and the proxy. The nearest cause counts. \
      It is "certain" only if it is proven, and "nothing is wrong" is said only if the target has just answered.

      WHAT IT SENDS
        to the gateway        a datagram to port 9; a connection to port 53, if
                              nobody beyond it answers
        to the name servers   the target's name, and one that cannot exist
        to the target         connections on its port, else on 443 and 80; to a
                              URL a check, to others datagrams to port 33434
        to the proxy          of the environment: what curl would send
        to root servers       a question for the root, to two of each family;
                              connections to some, if the target is the
                              Internet or the two are silent
        to nobody's address   requests to two of 198.51.100.254, 203.0.113.254
                              and 192.0.2.254, and to 3fff::fffe, which only a
                              portal answers
      The last two are asked if the target is the Internet, fails or is slow, the last one also for an http URL; \
      --no-probe leaves both out.
      Nothing goes to anybody else. It needs no privileges, and says what it could not see without them.

      Exit status: 0 nothing is wrong, 1 a cause was found, 2 no cause was found, and it is not known to work.

      EXAMPLES
        dialtone explain
        dialtone explain example.com:443
        dialtone explain https://example.com/ --timeout 5
        dialtone explain --json --interface wlan0 192.0.2.7
      """)

  @Argument(
    help: ArgumentHelp(
      "internet; a host or an address, with or without a port; or an http or https URL.",
      valueName: "target"))
  var typed: [String] = []

  @OptionGroup var families: FamilyOptions

  @Flag(help: "Print JSON, one object.")
  var json = false

  @Flag(name: .shortAndLong, help: "Also print each step.")
  var verbose = false

  @Flag(name: .customLong("no-probe"), help: "Ask no root server, and no address that only a portal answers for.")
  var noProbe = false

  @Option(interface: "Only this interface counts.")
  var interface: String?

  @Option(timeout: "Take this long at most, such as 5s (default: 10s).")
  var timeout: Duration?

  @OptionGroup var quiet: QuietOptions

  func prepare() throws -> Work {
    if typed.count > 1 {
      throw ValidationError("TARGET: \(typed.count) were given; one at a time can be explained")
    }
    var configuration = DiagnosisConfiguration()
    if let timeout { configuration.timeout = timeout }
    configuration.interface = interface
    configuration.family = families.family
    configuration.asksBeyondRouter = !noProbe
    let (name, target, diagnosis) = try diagnosis(configuration)
    let runner = ExplainRunner(
      target: name, diagnosis: diagnosis, json: json, isVerbose: verbose, isQuiet: quiet.isQuiet)
    return {
      InterfaceHint.write(interface: interface, targets: target.map { [$0] } ?? [], isQuiet: quiet.isQuiet)
      return try runner.run()
    }
  }

  /// The diagnosis, and its target as it was typed; `nil` in place of a target that is a URL.
  private func diagnosis(_ configuration: DiagnosisConfiguration) throws -> (String, WatchedTarget?, Diagnosis) {
    let text = typed.first ?? WatchedTarget.usual.typed
    if try WatchedTarget.isSite(text) {
      let request = try SiteRequest([text], configuration: SiteMonitorConfiguration())
      return (text, nil, Diagnosis(of: request.urls[0], configuration: configuration))
    }
    let target = try WatchedTarget(text, interface: interface)
    if case .localNetwork = target.target.storage {
      throw ValidationError("TARGET: the local network is no target to explain; give a host on it, or internet")
    }
    if let address = target.address {
      try TargetRequest.check(address, called: "the target", families.family, interface)
    }
    return (target.typed, target, Diagnosis(of: target.target, configuration: configuration))
  }
}
