// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if Services
public import Dialtone
public import Logging
internal import Metrics
public import ServiceLifecycle

/// A service that runs another one as soon as there is a path.
///
/// ~~~swift
/// let uploads = PathDependentService(UploadService(), on: try .host("storage.example.com"))
/// let group = ServiceGroup(services: [uploads], gracefulShutdownSignals: [.sigterm], logger: logger)
/// ~~~
///
/// On graceful shutdown a wait ends, and the service returns without running the other one.
public struct PathDependentService<Wrapped: Service>: Service {
  private let wrapped: Wrapped
  private let target: ReachabilityTarget
  private let gate: PathGate
  private let timeout: Duration?
  private let logger: Logger?

  /// Creates a service.
  ///
  /// - Parameters:
  ///   - service: What runs once there is a path.
  ///   - target: What it needs.
  ///   - timeout: How long to wait at most; `nil` for as long as it takes.
  ///   - gate: Where it waits.
  ///   - logger: Is told of a wait and of its end; `nil` for nobody.
  public init(
    _ service: Wrapped, on target: ReachabilityTarget = .internet, timeout: Duration? = nil, gate: PathGate = .shared,
    logger: Logger? = nil
  ) {
    wrapped = service
    self.target = target
    self.timeout = timeout
    self.gate = gate
    self.logger = logger
  }

  /// Waits for the path, then runs the other service.
  ///
  /// - Throws: `PathGate.Unavailable` if there was no path in time; what the other service throws.
  public func run() async throws {
    logger?.debug("waiting for the path", metadata: ["target": "\(target)"])
    do {
      let state = try await cancelWhenGracefulShutdown { try await gate.waitForPath(to: target, timeout: timeout) }
      logger?.info("there is a path", metadata: state.metadata(of: target))
    } catch is CancellationError where !Task.isCancelled {
      return
    }
    try await wrapped.run()
  }
}

/// A service that logs each change of targets' states and keeps metrics of them.
///
/// The log goes to the logger you give, and the metrics to the system that the program has bootstrapped:
///
/// | metric | kind | what it is |
/// |---|---|---|
/// | `dialtone_reachable` | gauge | 1 if the target is reachable, 0 if not |
/// | `dialtone_changes_total` | counter | changes of the target's state |
/// | `dialtone_outages_total` | counter | how often it became unreachable |
/// | `dialtone_outage_duration` | timer | how long each outage lasted |
///
/// Each has the dimension `target`. While a state is not determined, the gauge keeps its value.
///
/// At the level `trace` it also logs what each decision follows from: the whole state, and what the kernel knows of the
/// way, in the order in which a packet meets it. To find that takes some milliseconds for each change.
public struct ReachabilityReporter: Service {
  private let monitors: [ReachabilityMonitor]
  private let logger: Logger

  /// Creates a service.
  ///
  /// - Parameters:
  ///   - monitors: Whose states are reported.
  ///   - logger: Gets a line with fields for each change: `info` if the target is reachable, `warning` if not.
  public init(_ monitors: [ReachabilityMonitor] = [.shared], logger: Logger) {
    self.monitors = monitors
    self.logger = logger
  }

  /// Reports until graceful shutdown.
  public func run() async throws {
    // A service that returns ends its group.
    if monitors.isEmpty { return try await gracefulShutdown() }
    try await withThrowingDiscardingTaskGroup { group in
      for monitor in monitors { group.addTask { try await report(monitor) } }
    }
  }

  private func report(_ monitor: ReachabilityMonitor) async throws {
    let target = monitor.target
    let dimensions = [("target", "\(target)")]
    let reachable = Gauge(label: "dialtone_reachable", dimensions: dimensions)
    let changes = Counter(label: "dialtone_changes_total", dimensions: dimensions)
    let outages = Counter(label: "dialtone_outages_total", dimensions: dimensions)
    let durations = Timer(label: "dialtone_outage_duration", dimensions: dimensions)
    var lostAt: ContinuousClock.Instant?
    var isFirst = true
    for try await state in monitor.updates.cancelOnGracefulShutdown() {
      if !isFirst { changes.increment() }
      isFirst = false
      logger.log(
        level: state.isReachable ? .info : .warning, "\(target) is \(state)", metadata: state.metadata(of: target))
      trace(state, of: monitor)
      guard state.isDetermined else { continue }
      reachable.record(state.isReachable ? 1 : 0)
      if state.isReachable {
        if let lostAt { durations.record(duration: ContinuousClock.now - lostAt) }
        lostAt = nil
      } else if lostAt == nil {
        lostAt = .now
        outages.increment()
      }
    }
  }
}

extension ReachabilityReporter {
  /// Logs what the decision follows from.
  private func trace(_ state: Reachability, of monitor: ReachabilityMonitor) {
    guard logger.logLevel <= .trace else { return }
    var fields = state.metadata(of: monitor.target)
    fields["flags"] = "\(state.flags)"
    fields["destination"] = state.destination.map { "\($0)" }
    logger.trace("decided", metadata: fields)
    #if os(Linux)
    // A name has no findings; the address that it led to has.
    let target = state.destination.map { ReachabilityTarget.address($0, port: monitor.target.port) } ?? monitor.target
    do throws(ReachabilityError) {
      for finding in try Reachability.kernelFindings(for: target, configuration: monitor.configuration) {
        logger.trace(
          "\(finding.result)",
          metadata: [
            "target": "\(monitor.target)", "address": "\(finding.target)", "fault": "\(finding.isFault)",
          ])
      }
    } catch {
      logger.trace("the kernel does not say", metadata: ["target": "\(monitor.target)", "error": "\(error)"])
    }
    #endif
  }
}

extension Reachability {
  /// The state's fields, by the names that the command's JSON has.
  fileprivate func metadata(of target: ReachabilityTarget) -> Logger.Metadata {
    var metadata: Logger.Metadata = ["target": "\(target)", "status": "\(status.identifier)"]
    metadata["interface"] = interface.map { "\($0.name)" }
    metadata["kind"] = interface.map { "\($0.kind.identifier)" }
    metadata["source"] = source.map { "\($0)" }
    metadata["gateway"] = gateway.map { "\($0)" }
    metadata["reason"] = reason.map { "\($0.identifier)" }
    return metadata
  }
}
#endif
