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

      Exit status: 0 what was waited for holds, 1 the time is over and it does not, 2 it cannot be told: a target is \
      still undetermined. It is never 0 if interrupted.

      EXAMPLES
        dialtone wait && git push
        dialtone wait -t 30s example.com:443 || echo "no way to example.com"
        dialtone wait --any 192.0.2.7 2001:db8::7
        dialtone wait --not-cellular && upload
        dialtone wait --accept-on-demand && git push
        dialtone wait --unreachable --interface tun0
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
      return try wait(for: request)
    }
  }

  private func wait(for request: TargetRequest) throws -> ExitStatus {
    let goal: WaitSession.Goal =
      unreachable ? .unreachable : .reachable(notOverCellular: notCellular, acceptingOnDemand: acceptOnDemand)
    var runner = Runner(
      request: request, session: WaitSession(targetCount: request.targets.count, goal: goal, anySuffices: any),
      formatter: options.formatter(for: request, showsTime: false), timeout: timeout, endsWithReader: false,
      isQuiet: quiet.isQuiet, namesExplain: true)
    return try runner.run()
  }

  private func wait(for request: SiteRequest) throws -> ExitStatus {
    var runner = Runner(
      request: request,
      session: SiteWaitSession(
        siteCount: request.urls.count, goal: unreachable ? .unavailable : .available, anySuffices: any),
      formatter: SiteFormatter.make(for: request, json: options.json, showsTime: false), timeout: timeout,
      endsWithReader: false, isQuiet: quiet.isQuiet, namesExplain: true, watch: SiteWatcher(request: request).start)
    return try runner.run()
  }
}
