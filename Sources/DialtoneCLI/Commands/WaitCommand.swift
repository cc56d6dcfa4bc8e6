// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone
internal import DialtoneSites

/// `dialtone wait`.
struct WaitCommand: TargetCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait",
    abstract: "Wait until all targets are reachable, and print their states.",
    usage: "dialtone wait [<options>] [<target> ...]",
    discussion: """
      Without --timeout it waits for ever, unless the system refuses to say anything. Standard error says why it \
      waits: on a terminal in a line that follows the state, elsewhere each reason once. A target given twice counts \
      once.

      Exit status: 0 what was waited for holds, 1 the time is over and it does not, or it was given up, 2 it cannot \
      be told: a target is still undetermined. It is never 0 if interrupted.

      EXAMPLES
        dialtone wait && git push
        dialtone wait -t 30s example.com:443 || echo "no way to example.com"
        dialtone wait --any 192.0.2.7 2001:db8::7
        dialtone wait --not-cellular && upload
        dialtone wait --accept-on-demand && git push
        dialtone wait --unreachable --interface tun0
        dialtone wait --any --routable local-network --give-up-early
        dialtone wait --dns example.com
        dialtone wait --site --every 10s https://example.com/health && deploy
        list-hosts | dialtone wait -q --from-file -
      """)

  @OptionGroup var options: TargetOptions

  @OptionGroup var site: WatchedSiteOptions

  @Flag(help: "One target is enough.")
  var any = false

  @Flag(help: "Wait until the targets are not reachable, or the sites not available.")
  var unreachable = false

  @Flag(help: "What is reachable over a cellular link does not count.")
  var notCellular = false

  @Flag(help: "A target also counts if sending to it makes the connection, and nobody has to act.")
  var acceptOnDemand = false

  @Flag(help: "A target does not count if it is reachable only from a link-local address, such as 169.254.0.7.")
  var routable = false

  @Option(
    name: .customLong("dns"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Wait also until a name server of resolv.conf answers a question about this name, asked once a second.",
      valueName: "name"))
  var questions: [String] = []

  @Flag(
    help: """
      End with status 1 once nothing is under way that could bring the network: no wired link has a carrier and no \
      radio is on, for the time of --grace. Standard error says what each link lacks.
      """)
  var giveUpEarly = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long --give-up-early waits for a carrier, such as 10s (default: 5).", valueName: "duration"),
    transform: DurationArgument.any)
  var grace: Duration?

  @Option(
    name: [.customShort("t", allowingJoined: true), .customLong("timeout")], parsing: .unconditional,
    help: ArgumentHelp("Wait this long at most, such as 30s or 5m (default: for ever).", valueName: "duration"),
    transform: DurationArgument.positive)
  var timeout: Duration?

  @OptionGroup var quiet: QuietOptions

  func prepare() throws -> Work {
    if notCellular, site.isWanted {
      throw ValidationError("--not-cellular and --site exclude each other; for one interface there is --interface")
    }
    if unreachable, acceptOnDemand {
      throw ValidationError(
        "--accept-on-demand and --unreachable exclude each other: one says which ways count, the other asks for none")
    }
    if grace != nil, !giveUpEarly {
      throw ValidationError("--grace is about --give-up-early; add that, or leave it out")
    }
    if unreachable, giveUpEarly || routable || !questions.isEmpty {
      let option = giveUpEarly ? "--give-up-early" : routable ? "--routable" : "--dns"
      throw ValidationError("\(option) and --unreachable exclude each other; leave one of them out")
    }
    if site.isWanted, routable || !questions.isEmpty {
      throw ValidationError("\(routable ? "--routable" : "--dns") and --site exclude each other; leave one of them out")
    }
    let names = try questions.map(Self.question)
    if let request = try options.siteRequest(site, acceptsConnectionOnDemand: acceptOnDemand) {
      return {
        InterfaceHint.write(interface: options.interface, targets: [], isQuiet: quiet.isQuiet)
        return try wait(for: request)
      }
    }
    if unreachable, notCellular {
      throw ValidationError(
        "--not-cellular and --unreachable exclude each other: one asks for a way, the other for none; leave one out")
    }
    let request = try options.request()
    return {
      InterfaceHint.write(interface: options.interface, targets: request.targets, isQuiet: quiet.isQuiet)
      return try wait(for: request, questions: names)
    }
  }

  private var prospects: Prospects? { giveUpEarly ? Prospects(grace: grace ?? .seconds(5)) : nil }

  private static func question(_ text: String) throws -> HostName {
    do throws(ReachabilityError) {
      return try HostName(text)
    } catch {
      throw ValidationError("--dns: \(error)")
    }
  }

  private func wait(for request: TargetRequest, questions: [HostName]) throws -> ExitStatus {
    let goal: WaitSession.Goal =
      unreachable
      ? .unreachable
      : .reachable(notOverCellular: notCellular, acceptingOnDemand: acceptOnDemand, routable: routable)
    var runner = Runner(
      request: request,
      session: WaitSession(
        targetCount: request.targets.count, questionCount: questions.count, goal: goal, anySuffices: any),
      formatter: request.formatter(json: options.json, showsTime: false), timeout: timeout, endsWithReader: false,
      isQuiet: quiet.isQuiet, namesExplain: true, questions: questions, followsAddresses: routable)
    runner.prospects = prospects
    return try runner.run()
  }

  private func wait(for request: SiteRequest) throws -> ExitStatus {
    var runner = Runner(
      request: request,
      session: SiteWaitSession(
        siteCount: request.urls.count, goal: unreachable ? .unavailable : .available, anySuffices: any),
      formatter: SiteFormatter.make(for: request, json: options.json, showsTime: false), timeout: timeout,
      endsWithReader: false, isQuiet: quiet.isQuiet, namesExplain: true, watch: SiteWatcher(request: request).start)
    runner.prospects = prospects
    return try runner.run()
  }
}
