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
      Without --timeout it waits for ever, but for where the system refuses to say anything. On a terminal, standard \
      error shows what it waits for. A target given twice counts once.

      Exit status: 0 what was waited for holds, 1 the time is over and it does not, 2 it cannot be told: a target is \
      still undetermined. Interrupted, it is never 0.

      EXAMPLES
        dialtone wait && git push
        dialtone wait --timeout 30 example.com || echo "no way to example.com"
        dialtone wait --any 192.0.2.7 2001:db8::7
        dialtone wait --not-cellular && upload
        dialtone wait --unreachable --interface tun0
        dialtone wait --site https://example.com/health && deploy
      """)

  @OptionGroup var options: TargetOptions

  @OptionGroup var site: WatchedSiteOptions

  @Flag(help: "One target is enough.")
  var any = false

  @Flag(help: "Wait until the targets are not reachable, or the sites not available.")
  var unreachable = false

  @Flag(help: "What is reachable over a cellular link does not count.")
  var notCellular = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Wait this long at most, such as 30s or 5m (default: for ever).", valueName: "duration"),
    transform: DurationArgument.positive)
  var timeout: Duration?

  func request() throws -> TargetRequest {
    if unreachable, notCellular {
      throw ValidationError(
        "--not-cellular and --unreachable exclude each other: one asks for a way, the other for none; leave one out")
    }
    return try options.request()
  }

  func siteRequest() throws -> SiteRequest? {
    let request = try options.siteRequest(site)
    if request != nil, notCellular {
      throw ValidationError("--not-cellular and --site exclude each other; for one interface there is --interface")
    }
    return request
  }

  func check() throws {
    if try siteRequest() == nil { _ = try request() }
  }

  func run() throws {
    if let request = try siteRequest() { return try DialtoneCommand.exit(wait(for: request)) }
    let request = try request()
    let goal: WaitSession.Goal = unreachable ? .unreachable : notCellular ? .reachableNotOverCellular : .reachable
    var runner = Runner(
      request: request, session: WaitSession(targetCount: request.targets.count, goal: goal, anySuffices: any),
      formatter: options.formatter(for: request, showsTime: false), timeout: timeout, endsWithReader: false)
    try DialtoneCommand.exit(runner.run())
  }

  private func wait(for request: SiteRequest) throws -> ExitStatus {
    var runner = Runner(
      names: request.urls.map(\.text),
      session: SiteWaitSession(
        siteCount: request.urls.count, goal: unreachable ? .unavailable : .available, anySuffices: any),
      formatter: SiteFormatter.make(for: request, json: options.json, showsTime: false), timeout: timeout,
      endsWithReader: false, watch: SiteWatcher(request: request).start)
    return try runner.run()
  }
}
