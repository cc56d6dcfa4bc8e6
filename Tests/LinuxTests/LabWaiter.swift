// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone

/// What the threads of an engine in a lab sleep on.
enum LabWaiter: String, CaseIterable, Sendable {
  /// epoll(7): the kernel's announcements wake the engine.
  case epoll
  /// A semaphore: no announcement wakes the engine, so the network is polled.
  case semaphore

  /// That of all monitors for which a test does not say otherwise. `DIALTONE_TESTING_WAITER=semaphore` has the tests
  /// run on the other one.
  static let chosen = EnvironmentVariable["DIALTONE_TESTING_WAITER"].flatMap { LabWaiter(rawValue: $0) } ?? .epoll

  var make: EngineProvider.MakeWaiter {
    switch self {
    case .epoll: return systemWaiter
    case .semaphore: return { time throws(SystemError) in SemaphoreWaiter(time) }
    }
  }

  /// The least time between two readings of the tables: of LinuxNetwork, or of polls, each of which reads them, too.
  var readingSpacing: Duration { self == .epoll ? .milliseconds(100) : .nanoseconds(HastyNetwork.interval) }

  /// Returns the source as it is, or polled so often that no test waits for long. A clock that a test moves decides by
  /// itself when to poll.
  func hasten(_ makeSource: @escaping EngineProvider.MakeSource) -> EngineProvider.MakeSource {
    if self == .epoll { return makeSource }
    return { waiter, time in
      let source = makeSource(waiter, time)
      return time.passes ? HastyNetwork(source, time) : source
    }
  }
}

/// A network that is polled every 50 ms instead of every 5 s.
private final class HastyNetwork: NetworkSource {
  static let interval: Int64 = 50_000_000

  private let network: any NetworkSource
  private let time: TimeSource
  private var lastPoll: Int64

  init(_ network: any NetworkSource, _ time: TimeSource) {
    self.network = network
    self.time = time
    lastPoll = time.now()
  }

  /// What need not be polled is not polled more often either.
  var nextPoll: Int64? { network.nextPoll.map { min($0, lastPoll + Self.interval) } }

  func poll(into change: inout NetworkChange) {
    lastPoll = time.now()
    network.poll(into: &change)
  }

  var nameServers: [IPAddress]? { network.nameServers }
  func watch(_ interest: NetworkInterest) { network.watch(interest) }
  func drain(into change: inout NetworkChange) { network.drain(into: &change) }
  func catchUp(into change: inout NetworkChange) { network.catchUp(into: &change) }
  func path(_ configuration: PathConfiguration) -> PathAnswer { network.path(configuration) }

  func answer(_ queries: [RouteQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void) {
    network.answer(queries, receive)
  }
}
#endif
