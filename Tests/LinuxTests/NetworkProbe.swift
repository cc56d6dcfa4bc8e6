// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import Synchronization

/// Stands between an engine and the lab's network. It holds up the reading of events, as a busy machine does, and
/// counts.
final class NetworkProbe: Sendable {
  struct Counts: Sendable {
    /// How often the tables were read anew because announcements were lost.
    var resynchronisations = 0
    /// Datagrams of other processes that were dropped.
    var foreign: UInt64 = 0
    /// Announcements that were read.
    var messages = 0
    /// Turns in which events were read.
    var drains = 0
    /// How often it looked for what was not announced, or at what it had meant to ask once more.
    var polls = 0
    /// Of these, those that had everything asked again.
    var wholePolls = 0
    /// Queries answered.
    var answers = 0
    /// Paths answered.
    var paths = 0
    /// The descriptors of the network, that of announcements first.
    var descriptors: [CInt] = []
  }

  private let state = Mutex(Counts())
  private let isStalled = Atomic(false)
  private let rereads = Atomic(0)
  private let gate = eventfd(0, CInt(EFD_CLOEXEC))

  deinit { _ = close(gate) }

  var counts: Counts { state.withLock { $0 } }

  /// From now on no event is read until `resume`.
  func stall() { isStalled.store(true, ordering: .sequentiallyConsistent) }

  func resume() {
    isStalled.store(false, ordering: .sequentiallyConsistent)
    _ = eventfd_write(gate, 1)
  }

  /// In each of the next `count` turns the tables are read anew before the events.
  func rereadTables(_ count: Int) { rereads.store(count, ordering: .sequentiallyConsistent) }

  fileprivate func takeReread() -> Bool {
    let (isNone, _) = rereads.compareExchange(expected: 0, desired: 0, ordering: .sequentiallyConsistent)
    if isNone { return false }
    return rereads.wrappingSubtract(1, ordering: .sequentiallyConsistent).oldValue > 0
  }

  /// For ``LabMonitors``.
  @Sendable func makeSource(_ waiter: any EventWaiter, _ time: TimeSource) -> any NetworkSource {
    ProbedNetwork(self, LinuxNetwork(waiter, time: time))
  }

  fileprivate func waitWhileStalled() {
    var count: eventfd_t = 0
    while isStalled.load(ordering: .sequentiallyConsistent) {
      // Blocks until `resume` has written. A count left over makes one more turn.
      _ = unsafe eventfd_read(gate, &count)
    }
  }

  fileprivate func note(_ network: LinuxNetwork, _ body: (inout Counts) -> Void) {
    state.withLock { counts in
      counts.resynchronisations = network.schedule.rereadCount
      counts.foreign = network.foreignCount
      counts.messages = network.messageCount
      counts.descriptors = network.descriptors
      body(&counts)
    }
  }
}

private final class ProbedNetwork: NetworkSource {
  private let network: LinuxNetwork
  private let probe: NetworkProbe

  init(_ probe: NetworkProbe, _ network: LinuxNetwork) {
    self.network = network
    self.probe = probe
    probe.note(network) { _ in }
  }

  var nextPoll: Int64? { network.nextPoll }
  var nameServers: [IPAddress]? { network.nameServers }
  func watch(_ interest: NetworkInterest) { network.watch(interest) }

  func drain(into change: inout NetworkChange) {
    probe.waitWhileStalled()
    if probe.takeReread() { network.poll(into: &change) }
    network.drain(into: &change)
    probe.note(network) { $0.drains += 1 }
  }

  func poll(into change: inout NetworkChange) {
    // A poll reads events, too.
    probe.waitWhileStalled()
    network.poll(into: &change)
    probe.note(network) {
      $0.polls += 1
      if change.touchesEverything { $0.wholePolls += 1 }
    }
  }

  func answer(_ queries: [RouteQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void) {
    network.answer(queries, receive)
    probe.note(network) { $0.answers += queries.count }
  }

  func path(_ configuration: PathConfiguration) -> PathAnswer {
    let answer = network.path(configuration)
    probe.note(network) {
      $0.paths += 1
      $0.answers += answer.queryCount
    }
    return answer
  }
}
#endif
