// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

/// When work is run again, and when its error is thrown.
@Suite(.timeLimit(.minutes(5)))
struct RetryOnPathChangeTests {
  @Test func runsOnceIfItSucceeds() async throws {
    let (_, monitor) = try await ScriptedNetwork.onWiFi()
    var runs = 0
    let result = await monitor.retryOnPathChange(policy: .init()) {
      runs += 1
      return "done"
    }
    #expect(result == "done")
    #expect(runs == 1)
  }

  @Test(arguments: [
    ScriptedPath.wifi, .unreachable(), .denied, .requiresConnection(.dormant, over: interface("wlan0")),
  ])
  func runsAtOnceWhateverTheState(path: ScriptedPath) async throws {
    let network = scriptedNetwork()
    network.set(path)
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    #expect(await monitor.retryOnPathChange { 1 } == 1)
  }

  @Test func throwsAtOnceIfNothingChanged() async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    var runs = 0
    await #expect(throws: WorkFailed(run: 1)) {
      try await monitor.retryOnPathChange(policy: .init()) {
        runs += 1
        // Equal in everything that counts.
        network.set(.wifi)
        throw WorkFailed(run: runs)
      }
    }
    #expect(runs == 1)
  }

  @Test func waitsForThePathIfItWasLost() async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    let runs = Counter()
    let working = Task {
      try await monitor.retryOnPathChange(policy: .init()) {
        if runs.add() == 1 {
          network.set(.unreachable(.noCarrier))
          throw WorkFailed()
        }
        return monitor.current.interface?.name
      }
    }
    try await eventually("lost") { runs.value == 1 && !monitor.current.isReachable }
    for path in [ScriptedPath.unreachable(), .requiresConnection(.noSession, over: interface("wwan0", 4, .cellular))] {
      network.set(path)
      try await network.settle()
    }
    #expect(runs.value == 1)
    network.set(.wired)
    #expect(try await working.value == "eth0")
    #expect(runs.value == 2)
  }

  @Test func waitsForThePathIfThereWasNoneFromTheBeginning() async throws {
    let network = scriptedNetwork()
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    let runs = Counter()
    let working = Task {
      try await monitor.retryOnPathChange {
        if runs.add() == 1 { throw WorkFailed() }
      }
    }
    try await eventually("it has failed") { runs.value == 1 }
    network.set(.wifi)
    try await working.value
    #expect(runs.value == 2)
  }

  /// What happens during the first run. Afterwards the target is reachable, as before.
  enum Change: String, CaseIterable {
    case toCellular, otherSource, flapping, retargeting, pausing
  }

  @Test(arguments: Change.allCases)
  func runsAgainAtOnceIfThePathIsThereButHasChanged(change: Change) async throws {
    let network = scriptedNetwork()
    func path(_ source: String) -> ScriptedPath { .reachable(over: interface("wlan0"), source: ip(source)) }
    network.set(path("192.0.2.2"))
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    var policy = RetryPolicy()
    policy.maximumWait = .zero
    var runs = 0
    try await monitor.retryOnPathChange(policy: policy) {
      runs += 1
      if runs > 1 { return }
      switch change {
      case .toCellular: network.set(.cellular)
      case .otherSource: network.set(path("192.0.2.3"))
      case .flapping:
        network.set(.unreachable())
        try await eventually("gone") { !monitor.current.isReachable }
        network.set(path("192.0.2.2"))
        try await eventually("back") { monitor.current.isReachable }
      case .retargeting:
        monitor.target = .address(ip("192.0.2.9"))
        _ = try await monitor.waitUntilKnown()
      case .pausing:
        monitor.pause()
        monitor.resume()
        _ = try await monitor.waitUntilKnown()
      }
      throw WorkFailed()
    }
    #expect(runs == 2)
  }

  @Test func aChangeThatIsNotAnnouncedYetCounts() async throws {
    let network = HesitantNetwork()
    network.set(.wifi)
    let monitor = ReachabilityMonitor(environment: network.environment)
    try await monitor.waitUntilReachable()
    var runs = 0
    try await monitor.retryOnPathChange {
      runs += 1
      if runs > 1 { return }
      network.set(.cellular)
      throw WorkFailed()
    }
    #expect(runs == 2)
    #expect(monitor.current.isVia("wwan0"))
  }

  @Test func eachRunIsJudgedByItsOwnBeginning() async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    var runs = 0
    await #expect(throws: WorkFailed(run: 2)) {
      try await monitor.retryOnPathChange {
        runs += 1
        if runs == 1 { network.set(.cellular) }
        throw WorkFailed(run: runs)
      }
    }
    #expect(runs == 2)
  }

  @Test(arguments: [(Int.min, 1), (-1, 1), (0, 1), (1, 1), (2, 2), (5, 5)])
  func runsAsOftenAsThereAreAttempts(attempts: Int, expected: Int) async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    var policy = RetryPolicy()
    policy.maximumAttempts = attempts
    var runs = 0
    await #expect(throws: WorkFailed(run: expected)) {
      try await monitor.retryOnPathChange(policy: policy) {
        runs += 1
        network.set(.numbered(100 + runs))
        throw WorkFailed(run: runs)
      }
    }
    #expect(runs == expected)
  }

  @Test func theDefaultIsThreeAttemptsAndFiveMinutes() {
    #expect(RetryPolicy().maximumAttempts == 3)
    #expect(RetryPolicy().maximumWait == .seconds(300))
    #expect(RetryPolicy().shouldRetry(WorkFailed()))
  }

  // MARK: What is asked first

  @Test func asksWhetherTheErrorCounts() async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    let asked = Log<WorkFailed?>()
    var policy = RetryPolicy()
    policy.shouldRetry = { error in
      asked.append(error as? WorkFailed)
      return (error as? WorkFailed)?.run == 1
    }
    var runs = 0
    await #expect(throws: WorkFailed(run: 2)) {
      try await monitor.retryOnPathChange(policy: policy) {
        runs += 1
        network.set(.numbered(100 + runs))
        throw WorkFailed(run: runs)
      }
    }
    #expect(asked.all == [WorkFailed(run: 1), WorkFailed(run: 2)])
  }

  @Test func neverRunsAgainAfterACancellationError() async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    let asked = Counter()
    var policy = RetryPolicy()
    policy.shouldRetry = { _ in asked.add() > 0 }
    var runs = 0
    await #expect(throws: CancellationError.self) {
      try await monitor.retryOnPathChange(policy: policy) {
        runs += 1
        network.set(.cellular)
        throw CancellationError()
      }
    }
    #expect(runs == 1)
    #expect(asked.value == 0)
  }

  // MARK: Which states count

  @Test func theFirstRunDoesNotWaitForAnInterfaceThatCountsAndTheNextOneDoes() async throws {
    let network = scriptedNetwork()
    network.set(.cellular)
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    let runs = Log<String?>()
    let working = Task {
      try await monitor.retryOnPathChange(over: .nonCellular) {
        runs.append(monitor.current.interface?.name)
        if runs.count == 1 { throw WorkFailed() }
      }
    }
    try await eventually("the first run") { runs.count == 1 }
    network.set(.reachable(over: interface("wwan1", 5, .cellular)))
    try await network.settle()
    #expect(runs.count == 1)
    network.set(.wifi)
    try await working.value
    #expect(runs.all == ["wwan0", "wlan0"])
  }

  @Test(arguments: [ScriptedPath.wifi, .denied])
  func throwsAtOnceIfTheSystemDoesNotSay(before: ScriptedPath) async throws {
    let network = scriptedNetwork()
    network.set(before)
    let monitor = network.monitor()
    _ = try await monitor.waitUntilKnown()
    var policy = RetryPolicy()
    policy.maximumWait = nil
    await #expect(throws: WorkFailed()) {
      try await monitor.retryOnPathChange(policy: policy) {
        network.set(.denied)
        throw WorkFailed()
      }
    }
  }

  /// The wait has no limit, so only the refusal can end it. If the refusal came before the wait, which the test cannot
  /// see, the work's own error is thrown. Then the test tries once more.
  @Test func saysThatThePathWasLostIfTheSystemRefusesWhileItIsWaitedFor() async throws {
    var policy = RetryPolicy()
    policy.maximumWait = nil
    try await eventually("it waited when the system refused") { [policy] in
      let (network, monitor) = try await ScriptedNetwork.onWiFi()
      let runs = Counter()
      let working = Task {
        try await monitor.retryOnPathChange(policy: policy) {
          network.set(.unreachable())
          throw WorkFailed(run: runs.add())
        }
      }
      try await eventually("it has failed") { runs.value == 1 && monitor.current.status == .unreachable }
      try await network.settle()
      network.set(.denied)
      let outcome = await working.result
      #expect(runs.value == 1)
      if case .failure(let error as WorkFailed) = outcome, error == WorkFailed(run: 1) { return false }
      let error = #expect(throws: ReachabilityError(.pathLost, "")) { try outcome.get() }
      #expect(error?.underlyingError as? WorkFailed == WorkFailed(run: 1))
      return true
    }
  }

  @Test func aPausedMonitorIsWaitedFor() async throws {
    let (network, monitor) = try await ScriptedNetwork.onWiFi()
    let runs = Counter()
    let working = Task {
      try await monitor.retryOnPathChange {
        if runs.add() == 1 {
          monitor.pause()
          throw WorkFailed()
        }
      }
    }
    try await eventually("it has failed") { runs.value == 1 && monitor.isPaused }
    network.set(.wired)
    #expect(runs.value == 1)
    monitor.resume()
    try await working.value
    #expect(runs.value == 2)
  }

  // MARK: Nothing known at the beginning

  @Test func theWorkDoesNotWaitUntilSomethingIsKnown() async throws {
    let slow = SlowNetwork()
    let monitor = slow.monitor()
    #expect(await monitor.retryOnPathChange { monitor.current.status } == .undetermined)
    slow.open()
  }

  /// The first known state decides whether the failure before it is thrown.
  @Test(arguments: [true, false])
  func aFailureBeforeAnythingIsKnownWaitsForTheFirstState(isReachable: Bool) async throws {
    let slow = SlowNetwork()
    slow.set(isReachable ? .wifi : .unreachable())
    let monitor = slow.monitor()
    let runs = Counter()
    let working = Task {
      try await monitor.retryOnPathChange {
        let run = runs.add()
        if run == 1 { throw WorkFailed(run: run) }
        return run
      }
    }
    try await eventually("it has failed") { runs.value == 1 }
    slow.open()
    if isReachable {
      // As far as is known, the state was the same all the time.
      await #expect(throws: WorkFailed(run: 1)) { try await working.value }
    } else {
      try await eventually("unreachable") { monitor.current.status == .unreachable }
      slow.set(.wifi)
      #expect(try await working.value == 2)
    }
  }

  @Test(arguments: [true, false])
  func theStateKnownFirstStandsForThatAtTheBeginning(isChanged: Bool) async throws {
    let slow = SlowNetwork()
    slow.set(.wifi)
    let monitor = slow.monitor()
    var runs = 0
    let outcome = await Result {
      try await monitor.retryOnPathChange {
        runs += 1
        if runs == 2 { return }
        slow.open()
        _ = try await monitor.waitUntilKnown()
        if isChanged { slow.set(.cellular) }
        throw WorkFailed()
      }
    }
    if isChanged {
      try outcome.get()
    } else {
      #expect(throws: WorkFailed.self) { try outcome.get() }
    }
    #expect(runs == (isChanged ? 2 : 1))
  }

  @Test func aHostWhoseNameCannotBeLookedUpIsWaitedFor() async throws {
    let network = scriptedNetwork()
    network.set(.wifi)
    network.set(.failing, forName: "name.example")
    let monitor = network.monitor(try .host("name.example"))
    let runs = Counter()
    let working = Task {
      try await monitor.retryOnPathChange {
        if runs.add() == 1 { throw WorkFailed() }
      }
    }
    try await eventually("it has failed") { runs.value == 1 }
    #expect(try await monitor.waitUntilKnown().isUndetermined(.nameNotResolved))
    #expect(runs.value == 1)
    network.set(.addresses([ip("192.0.2.7")]), forName: "name.example")
    // Names are looked up at most once a second.
    network.clock.advance(by: .seconds(2))
    try await working.value
    #expect(runs.value == 2)
  }
}

extension Result where Failure == any Error {
  /// The result of `body`: what it returns or throws.
  fileprivate nonisolated(nonsending) init(_ body: nonisolated(nonsending) () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
