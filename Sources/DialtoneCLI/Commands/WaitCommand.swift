// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone
internal import DialtoneSites

struct WaitCommand: SiteTargetCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait",
    abstract: "Wait until all targets are reachable.",
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

  @OptionGroup var lists: ListOptions

  @OptionGroup var families: FamilyOptions

  @OptionGroup var options: TargetOptions

  @OptionGroup var site: WatchedSiteOptions

  @OptionGroup var siteOptions: SiteOptions

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
    "How long --give-up-early waits for a carrier, such as 10s (default: 5s).", value: "duration",
    transform: DurationArgument.any)
  var grace: Duration?

  @Option(timeout: "Wait this long at most, such as 30s or 5m (default: for ever).")
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
    if let request = try siteRequest(acceptsConnectionOnDemand: acceptOnDemand) { return { try wait(for: request) } }
    if unreachable, notCellular {
      throw ValidationError(
        "--not-cellular and --unreachable exclude each other: one asks for a way, the other for none; leave one out")
    }
    var request = try targetRequest()
    request.questions = names
    return { [request] in try wait(for: request) }
  }

  private static func question(_ text: String) throws -> HostName {
    if IPAddress(text) != nil {
      throw ValidationError("--dns: \"\(text)\" is an address; give a name to look up, such as example.com")
    }
    do throws(ReachabilityError) {
      return try HostName(text)
    } catch {
      throw ValidationError("--dns: \(error)")
    }
  }

  private func wait(for request: TargetRequest) throws -> ExitStatus {
    let goal: WaitSession<Reachability>.Goal =
      unreachable
      ? .unreachable
      : .reachable(notOverCellular: notCellular, acceptingOnDemand: acceptOnDemand, routable: routable)
    let session = WaitSession(
      targetCount: request.targets.count, questionCount: request.questions.count, goal: goal, anySuffices: any)
    return try wait(for: request, request.targets, session, explaining: request.targets.count) {
      [routable] run, monitors, children in
      for (position, name) in request.questions.enumerated() {
        children.addTask { try await run.ask(name, as: monitors.count + position) }
      }
      // Another source is no change of a state, but one of a path.
      if routable { children.addTask { try await run.followAddresses(monitors) } }
    }
  }

  private func wait(for request: SiteRequest) throws -> ExitStatus {
    let session = WaitSession<SiteVerdict>(
      targetCount: request.urls.count, goal: unreachable ? .unavailable : .available, anySuffices: any)
    return try wait(for: request, [], session, explaining: request.urls.count) { _, _, _ in }
  }

  private func wait<Request: WatchRequest>(
    for request: Request, _ targets: [WatchedTarget], _ session: some Session<Request.State>, explaining count: Int,
    alsoBy addChildren:
      @escaping @Sendable (SessionRun<Request>, [Request.Monitor], inout SessionRun<Request>.Children) -> Void
  ) throws -> ExitStatus {
    InterfaceHint.write(interface: self.options.interface, targets: targets, isQuiet: quiet.isQuiet)
    let options = RunOptions(timeout: timeout, isQuiet: quiet.isQuiet, explainableCount: count)
    let earlyEnd = giveUpEarly ? EarlyEnd(grace: grace ?? .seconds(5)) : nil
    return try MainThread.run { [json = self.options.json] thread in
      let run = SessionRun(session, of: request, json: json, options: options, on: thread)
      let monitors = request.monitors()
      return try await run.untilEnd { children in
        run.follow(monitors, by: &children)
        addChildren(run, monitors, &children)
        if let earlyEnd { children.addTask { try await run.giveUp(at: earlyEnd) } }
      }
    }
  }
}

extension SessionRun where Request == TargetRequest {
  /// Has the name servers asked until one answers. The question has the position of a target.
  fileprivate nonisolated func ask(_ name: HostName, as position: Int) async throws -> ExitStatus? {
    try await withThrowingTaskGroup(of: Reachability?.self) { [thread] group in
      defer { group.cancelAll() }
      group.addTask {
        await NameServerWatch(name: name).waitForAnswer(on: thread) ? Reachability(status: .reachable) : nil
      }
      // Mostly the answer comes at once. Until it is missed, nothing is known.
      group.addTask {
        let isMissed = await thread.sleep(until: .now.advanced(by: NameServerWatch.usual))
        return isMissed ? Reachability(status: .unreachable, reason: .nameNotResolved) : nil
      }
      while let state = try await group.next() {
        if let state, let ending = try await receive(state, of: position) { return ending }
        if state?.isReachable != false { return nil }
      }
      return nil
    }
  }

  fileprivate nonisolated func followAddresses(_ monitors: [ReachabilityMonitor]) async throws -> ExitStatus? {
    for await _ in PathMonitor().updates {
      for (position, monitor) in monitors.enumerated() {
        if let ending = try await receive(monitor.current, of: position) { return ending }
      }
    }
    return nil
  }
}

extension SessionRun {
  /// Looks at the links whenever one has changed, and gives up at the early end.
  fileprivate nonisolated func giveUp(at earlyEnd: EarlyEnd) async throws -> ExitStatus? {
    var earlyEnd = earlyEnd
    // If netlink is refused, the states say so.
    let announcements = InterfaceAnnouncements()
    repeat {
      announcements?.drain()
      let now = start.duration(to: .now)
      if let links = InterfaceHint.interfaces(), earlyEnd.isReached(links, at: now) {
        return try await giveUp(EarlyEnd.words(for: links))
      }
      await thread.wait(for: announcements?.descriptors ?? [], until: earlyEnd.time.map { start.advanced(by: $0) })
    } while !Task.isCancelled
    return nil
  }
}
