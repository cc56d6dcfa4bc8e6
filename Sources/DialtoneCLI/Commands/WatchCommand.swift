// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone
internal import DialtoneSites

/// `dialtone watch`.
struct WatchCommand: TargetCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Print the state of each target once it is known, and then each change.",
    usage: "dialtone [watch] [<options>] [<target> ...]",
    discussion: """
      It goes on until it is stopped, the lines of --count are printed, or the time of --timeout is over. A target \
      given twice counts once. A host with the name of a command can be given here.

      --exec runs a program, as any user: one run at a time, for the newest state, once it has been quiet for a \
      second (or --settling). DIALTONE_TARGET, DIALTONE_STATUS, DIALTONE_REASON, DIALTONE_INTERFACE, \
      DIALTONE_INTERFACE_KIND, DIALTONE_SOURCE, DIALTONE_GATEWAY, DIALTONE_DESTINATION and DIALTONE_TIME say what is \
      known, and standard input has the line of --json. What it prints goes to standard error.

      Exit status: 0, or 2 if a target is undetermined at the end, or has no state when the time of --timeout is \
      over. It is never 0 if interrupted.

      EXAMPLES
        dialtone                             the Internet, as long as you look
        dialtone watch example.com 192.0.2.7
        dialtone watch --json --count 1      the first state alone, for a program
        dialtone -6 --interface wlan0        IPv6 over Wi-Fi
        dialtone watch fe80::1%eth0 --settling 500ms
        dialtone watch --site --every 30s https://example.com/health
        dialtone watch --from-file hosts
        dialtone watch --exec-on reachable --exec fetchmail --silent
      """)

  @OptionGroup var options: TargetOptions

  @OptionGroup var site: WatchedSiteOptions

  @Option(
    parsing: .unconditional, help: ArgumentHelp("End after this number of lines in all.", valueName: "lines"),
    transform: LineCount.parse)
  var count: Int?

  @Option(
    name: [.customShort("t", allowingJoined: true), .customLong("timeout")], parsing: .unconditional,
    help: ArgumentHelp("End after this time, such as 30s or 5m.", valueName: "duration"),
    transform: DurationArgument.positive)
  var timeout: Duration?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Print a change once it has been quiet for this long (default: 0).", valueName: "duration"),
    transform: DurationArgument.any)
  var settling: Duration?

  @Flag(help: "Tell systemd, as Type=notify has it: readiness once each target is known, and a status in words.")
  var notify = false

  @OptionGroup var hookOptions: HookOptions

  func prepare() throws -> Work {
    let hook = try hookOptions.hook()
    let settling = self.settling ?? (hook == nil ? nil : HookOptions.settling)
    if let request = try options.siteRequest(site, settling: settling) {
      return {
        InterfaceHint.write(interface: options.interface, targets: [], isQuiet: false)
        return try watch(request, hook)
      }
    }
    let request = try options.request(settling: settling ?? .zero)
    return {
      InterfaceHint.write(interface: options.interface, targets: request.targets, isQuiet: false)
      return try watch(request, hook)
    }
  }

  private func notice(_ names: [String]) -> (ServiceManager, ServiceNotice)? {
    notify ? ServiceManager().map { ($0, ServiceNotice(names: names)) } : nil
  }

  private func watch(_ request: TargetRequest, _ hook: Hook?) throws -> ExitStatus {
    var runner = Runner(
      request: request,
      session: WatchSession(
        targetCount: request.targets.count, countLimit: count, goal: "to become known", isKnown: \.isDetermined),
      formatter: request.formatter(json: options.json, showsTime: true), timeout: timeout, endsWithReader: true,
      namesExplain: true)
    runner.summary = WatchSummary(names: request.targets.map(\.typed), word: "reachable")
    runner.notice = notice(request.targets.map(\.typed))
    runner.hook = hook.map { hook in
      HookRunner(hook, trigger: hookOptions.trigger ?? .change) { [targets = request.targets] report in
        HookFacts(report, targets: targets)
      }
    }
    return try runner.run()
  }

  private func watch(_ request: SiteRequest, _ hook: Hook?) throws -> ExitStatus {
    var runner = Runner(
      request: request,
      session: WatchSession(
        targetCount: request.urls.count, countLimit: count, goal: "to answer", isKnown: { _ in true }),
      formatter: SiteFormatter.make(for: request, json: options.json, showsTime: true), timeout: timeout,
      endsWithReader: true, namesExplain: true, watch: SiteWatcher(request: request).start)
    runner.summary = WatchSummary(names: request.urls.map(\.text), word: "available")
    runner.notice = notice(request.urls.map(\.text))
    runner.hook = hook.map { HookRunner($0, trigger: hookOptions.trigger ?? .change) { HookFacts($0) } }
    return try runner.run()
  }
}
