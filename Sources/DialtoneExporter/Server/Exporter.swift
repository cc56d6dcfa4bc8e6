// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone
package import DialtoneSites
internal import Dispatch
internal import NIOCore
internal import NIOPosix

/// What an exporter answers to any client: `/probe`, `/metrics` and a page for people.
///
/// Invariant: as many probes run at a time as a machine can have checks. Up to 512 others wait, in their order, for at
/// most half of their time; what comes beyond is refused at once. No request has a file read. A request, its answer and
/// its probe stay on one event loop, so that no thread waits for another.
package final class Exporter: Sendable {
  struct Request: Sendable {
    var method = "GET"
    var target = "/"
    var format = Exposition.text
    var scrapeTimeout: String?
  }

  struct Response: Sendable {
    var status = 200
    var type = "text/plain; charset=utf-8"
    var fields: [(name: String, value: String)] = []
    var body: String
  }

  private struct State {
    var running = 0
    var waiting = 0
    var refused = 0
    var unknownModules = 0
    var probes: [String: Int] = [:]
    var recent: [[String]] = []
    var failed: [[String]] = []
  }

  /// The modules, and requests as they were read: Prometheus sends the same ones again and again, and to read one takes
  /// as long as to write an answer.
  private struct Modules {
    var configuration: ExporterConfiguration
    var requests: [RequestText: ProbeRequest] = [:]
    /// When the configuration was read, and whether a newer one could not be.
    var since: UTCTimestamp
    var isOutdated = false
  }

  private struct RequestText: Hashable {
    let query: String
    let scrapeTimeout: String?
  }

  /// As many as there are checks at a time.
  static let probeLimit = 256
  /// How many may wait: fewer than there are connections, so that others are answered, too.
  static let waitingLimit = 512
  private static let recentLimit = 100
  /// How many requests are kept, and of how many bytes: a stranger decides what is sent.
  private static let requestLimit = 4_096
  private static let requestLength = 512

  /// What connections and probes are served by. It ends with the last of them.
  let loops = MultiThreadedEventLoopGroup(numberOfThreads: SiteResources.loopCount)
  let turns = RequestTurns()
  private let modules: Lock<Modules>
  private let prober: Prober
  private let watched: WatchedTargets
  private let process: ProcessMetrics
  private let more: @Sendable () -> [MetricFamily]
  private let time: TimeSource
  private let permits = ConnectionPermits(probeLimit)
  private let state = Lock(State())
  private let lastDate = Lock((second: Int64.min, text: ""))

  /// Probes are made in `environment`, by default the system's network; `more` is what else `/metrics` tells.
  package init(
    configuration: ExporterConfiguration, policy: ProbePolicy, watched: WatchedTargets, process: ProcessMetrics,
    environment: SiteEnvironment? = nil, more: @escaping @Sendable () -> [MetricFamily] = { [] },
    time: TimeSource = .system
  ) {
    modules = Lock(Modules(configuration: configuration, since: time.timestamp))
    prober = Prober(policy: policy, environment: environment ?? SiteEnvironment(group: loops))
    self.watched = watched
    self.process = process
    self.more = more
    self.time = time
  }

  deinit { loops.shutdownGracefully(queue: DispatchQueue.global()) { _ in } }

  /// The present time, for the field Date. It is written once a second.
  var date: String {
    let now = time.timestamp
    let second = now.durationSince1970.components.seconds
    return lastDate.withLock { last in
      if last.second != second { last = (second, HTTPDate.text(of: now)) }
      return last.text
    }
  }

  func answer(_ request: Request) async -> Response {
    guard ["GET", "HEAD"].contains(request.method) else {
      return Response(status: 405, fields: [("Allow", "GET, HEAD")], body: Self.methods)
    }
    let parts = request.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    switch parts[0] {
    case "/": return page()
    case "/probe": return await probe(String(parts.count > 1 ? parts[1] : ""), request)
    case "/metrics": return metrics(request)
    case "/-/healthy": return Response(body: "Healthy\n")
    default: return Response(status: 404, body: "There are /, /probe, /metrics and /-/healthy.\n")
    }
  }

  static let methods = "Only GET and HEAD are answered.\n"

  // MARK: Probes

  private func probe(_ query: String, _ request: Request) async -> Response {
    var probe: ProbeRequest
    do throws(ProbeRequest.Refusal) {
      probe = try read(RequestText(query: query, scrapeTimeout: request.scrapeTimeout))
    } catch {
      if error.kind == .unknownModule { state.withLock { $0.unknownModules += 1 } }
      return Response(status: error.status, body: error.message + "\n")
    }
    guard prober.admits(probe) else {
      return Response(status: 403, body: "target: this exporter may not probe it; see --allow of dialtone export\n")
    }
    let asked = time.now()
    guard await takeTurn(within: probe.timeout / 2) else {
      state.withLock { $0.refused += 1 }
      return Response(
        status: 503, fields: [("Retry-After", "1")], body: "\(Self.probeLimit) probes are under way; ask again later.\n"
      )
    }
    defer { permits.release() }
    probe.timeout -= .nanoseconds(time.now() - asked)
    state.withLock { $0.running += 1 }
    // Expressions take time that other connections of the loop would wait for.
    let result =
      probe.module.readsBody
      ? await withTaskExecutorPreference(globalConcurrentExecutor) { [prober, probe] in await prober.run(probe) }
      : await prober.run(probe)
    state.withLock { [probe] state in
      state.running -= 1
      state.probes[result.verdict.kind.identifier, default: 0] += 1
      let cells = ExporterPage.cells(of: probe, result, at: time.timestamp)
      Self.append(cells, to: &state.recent)
      if !result.succeeded { Self.append(cells, to: &state.failed) }
    }
    let families = result.families(isLocalPathUp: watched.isLocalPathUp)
    if probe.isDebug { return Response(body: Self.debugText(probe, result, families)) }
    return Response(type: request.format.contentType, body: request.format.text(of: families))
  }

  private static func append(_ cells: [String], to list: inout [[String]]) {
    list.append(cells)
    // Many at a time: what is taken from the front moves all others.
    if list.count == 2 * recentLimit { list.removeFirst(recentLimit) }
  }

  private func read(_ text: RequestText) throws(ProbeRequest.Refusal) -> ProbeRequest {
    let (known, configuration, since) = modules.withLock { ($0.requests[text], $0.configuration, $0.since) }
    // What its file has the module trust may be new.
    if var known, let module = configuration.modules[known.module.name] {
      known.module = module
      return known
    }
    let request = try ProbeRequest(query: text.query, scrapeTimeout: text.scrapeTimeout, configuration: configuration)
    if text.query.utf8.count + (text.scrapeTimeout?.utf8.count ?? 0) > Self.requestLength { return request }
    modules.withLock { modules in
      if modules.since != since { return }
      if modules.requests.count == Self.requestLimit { modules.requests = [:] }
      modules.requests[text] = request
    }
    return request
  }

  /// Has the next probes trust what the modules' files have in them by now; no request has them read. If a file cannot
  /// be read, what was read before stays in use, and the reason is returned.
  package func readTrust(file: (String) throws -> String) -> String? {
    var new = modules.withLock { $0.configuration }
    let failure = new.readTrust(file: file)
    modules.withLock { [new] in $0.configuration = new }
    return failure
  }

  /// Has the next requests find the modules that `configuration` reads. If it cannot, the present ones stay in use, and
  /// the reason is returned.
  package func reload(_ configuration: () throws -> ExporterConfiguration) -> String? {
    do {
      let new = Modules(configuration: try configuration(), since: time.timestamp)
      modules.withLock { $0 = new }
      return nil
    } catch {
      modules.withLock { $0.isOutdated = true }
      return "\(error)"
    }
  }

  /// Waits until a probe may begin, for so long at most: with less time, it would fail for want of it, and an alert
  /// would name the wrong culprit. Returns whether it may.
  private func takeTurn(within limit: Duration) async -> Bool {
    if permits.take() { return true }
    let mayWait = state.withLock { state -> Bool in
      if state.waiting == Self.waitingLimit { return false }
      state.waiting += 1
      return true
    }
    if !mayWait { return false }
    defer { state.withLock { $0.waiting -= 1 } }
    let wait = Task { [permits] in try await permits.acquire() }
    let timer = loops.next().scheduleTask(in: .nanoseconds(limit.nanosecondsClamped)) { wait.cancel() }
    defer { timer.cancel() }
    return await withTaskCancellationHandler {
      do { try await wait.value } catch { return false }
      return true
    } onCancel: {
      wait.cancel()
    }
  }

  private static func debugText(_ probe: ProbeRequest, _ result: ProbeResult, _ families: [MetricFamily]) -> String {
    let log = (["Beginning probe: timeout_seconds=\(probe.timeout.inSeconds)"] + result.log)
      .map { line in "module=\(probe.module.name) \(line)" }.joined(separator: "\n")
    return """
      Logs for the probe:
      \(log)



      Metrics that would have been returned:
      \(Exposition.text.text(of: families))


      Module configuration:
      \(probe.module.written)

      """
  }

  // MARK: Metrics

  private func metrics(_ request: Request) -> Response {
    let families = watched.families + own + more() + process.families
    return Response(type: request.format.contentType, body: request.format.text(of: families))
  }

  private var own: [MetricFamily] {
    let state = state.withLock { $0 }
    let (since, isOutdated) = modules.withLock { ($0.since, $0.isOutdated) }
    var total = MetricFamily("dialtone_probes_total", "How many probes have ended, by their verdict", .counter)
    for (verdict, count) in state.probes.sorted(by: { $0.key < $1.key }) {
      total.add(Double(count), ["verdict": verdict])
    }
    return [
      total, .gauge("dialtone_probes_running", "How many probes are under way", Double(state.running)),
      .gauge("dialtone_probes_waiting", "How many probes wait for their turn", Double(state.waiting)),
      .counter(
        "dialtone_probes_refused_total", "How many probes were refused, since too many were under way",
        Double(state.refused)),
      // As they are there.
      .gauge(
        "blackbox_exporter_config_last_reload_successful", "Blackbox exporter config loaded successfully.",
        isOutdated ? 0 : 1),
      .gauge(
        "blackbox_exporter_config_last_reload_success_timestamp_seconds",
        "Timestamp of the last successful configuration reload.", since.durationSince1970.inSeconds),
      .counter(
        "blackbox_module_unknown_total", "Count of unknown modules requested by probes", Double(state.unknownModules)),
    ]
  }

  /// What node_exporter's collector reads. It has metrics of a process of its own.
  package var textfile: String { Exposition.text.text(of: watched.families) }

  // MARK: The page

  private func page() -> Response {
    let (recent, failed) = state.withLock { ($0.recent, $0.failed) }
    let page = ExporterPage(
      recent: recent.suffix(Self.recentLimit).reversed(), failed: failed.suffix(Self.recentLimit).reversed(),
      modules: modules.withLock { $0.configuration.modules.keys.sorted() },
      isLocalPathUp: watched.isLocalPathUp)
    return Response(
      type: "text/html; charset=utf-8",
      fields: [("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'")],
      body: page.html)
  }
}
