// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone
internal import DialtoneSites

struct WatchCommand: SiteTargetCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Print the state of each target, then each change.",
    usage: "dialtone [watch] [<options>] [<target> ...]",
    discussion: """
      It goes on until it is stopped, the lines of --count are printed, or the time of --timeout is over. A target \
      given twice counts once. A host that has the name of a command can be given after watch.

      --exec runs a program, and needs no privilege: one run at a time, for the newest state, once it has been quiet \
      for a second (or --settling). DIALTONE_TARGET, DIALTONE_STATUS, DIALTONE_REASON, DIALTONE_INTERFACE, \
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

  @OptionGroup var lists: ListOptions

  @OptionGroup var families: FamilyOptions

  @OptionGroup var options: TargetOptions

  @OptionGroup var site: WatchedSiteOptions

  @OptionGroup var siteOptions: SiteOptions

  @Option("End after this number of lines in all.", value: "lines", transform: LineCount.parse)
  var count: Int?

  @Option(timeout: "End after this time, such as 30s or 5m.")
  var timeout: Duration?

  @Option(
    "Print a change once it has been quiet for this long (default: 0).", value: "duration",
    transform: DurationArgument.any)
  var settling: Duration?

  @Flag(help: "Tell systemd, as Type=notify has it: readiness once each target is known, and a status in words.")
  var notify = false

  @OptionGroup var hookOptions: HookOptions

  func prepare() throws -> Work {
    let hook = try hookOptions.hook()
    let settling = self.settling ?? (hook == nil ? nil : HookOptions.settling)
    if let request = try siteRequest(settling: settling) { return { try watch(request, [], hook) } }
    let request = try targetRequest(settling: settling ?? .zero)
    return { try watch(request, request.targets, hook) }
  }

  private func watch(_ request: some WatchRequest, _ targets: [WatchedTarget], _ hook: Hook?) throws -> ExitStatus {
    InterfaceHint.write(interface: self.options.interface, targets: targets, isQuiet: false)
    let names = request.names
    let options = RunOptions(timeout: timeout, endsWithReader: true, explainableCount: names.count)
    let hooks = hook.map { HookRunner($0, trigger: hookOptions.trigger ?? .change, facts: request.facts) }
    return try MainThread.run { [count, notify, json = self.options.json] thread in
      let session = WatchSession(
        targetCount: names.count, countLimit: count, goal: request.firstGoal,
        isKnown: { request.holds($0) != .unknown })
      let run = SessionRun(
        session, of: request, json: json, showsTime: true, options: options, hooks: hooks,
        manager: notify ? ServiceManager() : nil, summary: WatchSummary(names: names, word: request.goodWord),
        on: thread)
      let monitors = request.monitors()
      return try await run.untilEnd { children in run.follow(monitors, by: &children) }
    }
  }
}

extension SessionRun {
  /// Follows each monitor by a task, as any program that uses Dialtone may: the known state first, then each change.
  nonisolated func follow(_ monitors: [Request.Monitor], by children: inout Children) {
    for (position, monitor) in monitors.enumerated() {
      children.addTask {
        for await state in monitor.updates {
          if let ending = try await self.receive(state, of: position) { return ending }
        }
        return nil
      }
    }
  }
}
