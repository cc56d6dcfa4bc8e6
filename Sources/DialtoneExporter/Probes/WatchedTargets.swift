// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
package import Dialtone
internal import DialtoneDiagnosis
package import DialtoneSites

/// The machine's own paths, and the targets that an exporter was started with: what `/metrics` tells.
///
/// Once an outage begins, a diagnosis looks for its cause, at most once a minute for each target. It asks nobody beyond
/// the router but the target.
package final class WatchedTargets: Sendable {
  package enum Target: Sendable {
    case network(ReachabilityTarget)
    case site(SiteURL)
  }

  private struct Interface {
    let kind: String
    var isUp = false
    var isOfPath = false
  }

  private struct State {
    var records: [TargetRecord] = []
    /// The last diagnosis of each target, and when it began.
    var diagnoses: [Int: (task: Task<Void, any Error>?, began: Int64)] = [:]
    /// Interfaces of which a path told once: one that leaves it is down, as long as the machine has it.
    var interfaces: [String: Interface] = [:]
  }

  private static let diagnosisPause: Int64 = 60_000_000_000

  private let targets: [(name: String, target: Target)]
  private let time: TimeSource
  private let hasInterface: @Sendable (String) -> Bool
  private let internet: ReachabilityMonitor
  private let observations = Lock<[ReachabilityObservation]>([])
  private let state: Lock<State>

  package init(
    _ targets: [(name: String, target: Target)], reachability: ReachabilityEnvironment = .system,
    sites: SiteEnvironment = .system, time: TimeSource = .system,
    hasInterface: @escaping @Sendable (String) -> Bool = WatchedTargets.machineHasInterface
  ) throws(SiteError) {
    self.targets = targets
    self.time = time
    self.hasInterface = hasInterface
    internet = ReachabilityMonitor(.internet, environment: reachability)
    let now = time.now()
    state = Lock(State(records: targets.map { _ in TargetRecord(at: now) }))
    var observations = [PathMonitor(environment: reachability).observe { [weak self] in self?.take($0) }]
    for (index, target) in targets.enumerated() {
      switch target.target {
      case .network(let target):
        observations.append(
          ReachabilityMonitor(target, environment: reachability).observe { [weak self] state in
            let isUp = state.isDetermined ? state.isReachable : nil
            self?.take(index, state.status.identifier, isUp: isUp, cause: state.reason?.identifier ?? "unknown")
          })
      case .site(let url):
        observations.append(
          try SiteMonitor(url, environment: sites).observe { [weak self] verdict in
            self?.take(
              index, verdict.kind.identifier, isUp: verdict.isDetermined ? verdict.isAvailable : nil,
              cause: verdict.error?.code.identifier ?? verdict.kind.identifier)
          })
      }
    }
    self.observations.withLock { [observations] in $0 = observations }
  }

  private func take(_ path: NetworkPath) {
    state.withLock { state in
      state.interfaces = state.interfaces.mapValues { Interface(kind: $0.kind) }
      for interface in path.interfaces {
        state.interfaces[interface.name] = Interface(
          kind: interface.kind.identifier, isUp: path.status == .satisfied && interface.leadsToInternet, isOfPath: true)
      }
    }
  }

  private func take(_ index: Int, _ status: String, isUp: Bool?, cause: String) {
    let now = time.now()
    let begins = state.withLock { state -> Bool in
      let begins = state.records[index].take(status, isUp: isUp, cause: cause, at: now, time.timestamp)
      if let last = state.diagnoses[index], now - last.began < Self.diagnosisPause { return false }
      if begins { state.diagnoses[index] = (nil, now) }
      return begins
    }
    if begins { diagnose(index) }
  }

  private func diagnose(_ index: Int) {
    let target = targets[index].target
    let task = Task { [weak self] in
      var configuration = DiagnosisConfiguration()
      configuration.asksBeyondRouter = false
      let diagnosis =
        switch target {
        case .network(let target): Diagnosis(of: target, configuration: configuration)
        case .site(let url): Diagnosis(of: url, configuration: configuration)
        }
      if let cause = try await diagnosis.verdict().cause {
        self?.state.withLock { $0.records[index].take(diagnosed: cause.identifier) }
      }
    }
    state.withLock { $0.diagnoses[index]?.task = task }
  }

  /// Whether the machine has an interface of that name, or cannot tell (if_nametoindex(3)).
  package static func machineHasInterface(_ name: String) -> Bool {
    // The name is read during the call.
    unsafe if_nametoindex(name) != 0 || ![ENODEV, ENXIO].contains(csystem_errno())
  }

  deinit {
    for diagnosis in state.withLock({ $0.diagnoses }).values { diagnosis.task?.cancel() }
  }

  /// Whether packets for the Internet can leave this machine; `nil` as long as that is not known.
  package var isLocalPathUp: Bool? {
    let state = internet.current
    return state.isDetermined ? state.isReachable : nil
  }

  package var families: [MetricFamily] {
    var path = MetricFamily("dialtone_path_up", "Whether packets for the Internet can leave over the interface")
    let now = time.now()
    let state = state.withLock { [hasInterface] state in
      // The series of one that was deleted ends.
      state.interfaces = state.interfaces.filter { $0.value.isOfPath || hasInterface($0.key) }
      return state
    }
    for (name, interface) in state.interfaces.sorted(by: { $0.key < $1.key }) {
      path.add(interface.isUp ? 1 : 0, ["interface": name, "kind": interface.kind])
    }
    let records = zip(targets, state.records).map { (name: $0.name, record: $1) }
    return TargetRecord.families(of: records, at: now) + [path]
      + (isLocalPathUp.map { [MetricFamily.localPath(isUp: $0)] } ?? [])
  }
}
