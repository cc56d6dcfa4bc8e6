// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
@testable import DialtoneNIO
import Synchronization
import Testing

/// The values that connections are described by, and what a registry counts.
struct ConnectionFactsTests {
  private static let (local, remote) = (IPAddress(ipv4: 0xC000_0202), IPAddress(ipv4: 0xC633_6401))

  private static let conditions: [(ConnectionCondition, String)] = [
    (.unknown, "unknown"), (.fine, "fine"), (.waiting, "waiting"), (.doubtful, "doubtful"), (.stalled, "stalled"),
    (.dead, "dead"), (.unjudged, "unjudged"),
  ]

  @Test func eachConditionHasItsOwnWord() {
    for (condition, word) in Self.conditions { #expect(condition.identifier == word && "\(condition)" == word) }
    #expect(Set(Self.conditions.map(\.0)).count == 7)
  }

  /// As the documentation of each property says.
  @Test func theDefaultsOfAPolicyAreThoseOfItsDocumentation() {
    let policy = ConnectionPolicy()
    #expect(policy.activity == .busy && policy.probesDoubtful)
    #expect(policy.grace == .seconds(2) && policy.doubt == .seconds(1) && policy.stall == .milliseconds(100))
    #expect(policy.closes == [.dead, .doubtful, .stalled])
  }

  // MARK: Routes

  @Test func aStateOfAPairTellsOfBothItsAddresses() {
    let wired = NetworkInterface(name: "eth0", index: 1, kind: .wired)
    for free in [0, 1, 2, .max] as [UInt32] {
      var state = Reachability(.reachable, interface: wired)
      state.freeInterface = free
      let remote = free == 0 ? ConnectionRoutes.Answer.unreachable(.noRoute) : .reachable(interface: free)
      #expect(ConnectionRoutes(state) == ConnectionRoutes(pair: .reachable(interface: 1), remote: remote))
    }
  }

  @Test func whatAStateLeavesOutIsTheLeastThatItMeans() {
    #expect(ConnectionRoutes.Answer(Reachability(.reachable)) == .reachable(interface: .max))
    #expect(ConnectionRoutes.Answer(Reachability(.unreachable)) == .unreachable(.noRoute))
    #expect(ConnectionRoutes.Answer(Reachability(.requiresConnection)) == .unreachable(.dormant))
    #expect(ConnectionRoutes.Answer(Reachability(.undetermined)) == .unknown)
  }

  @Test func onlyWhatIsUnreachableHasAReason() {
    #expect(ConnectionRoutes.Answer.unreachable(.noCarrier).reason == .noCarrier)
    #expect(ConnectionRoutes.Answer.reachable(interface: 2).reason == nil)
    #expect(ConnectionRoutes.Answer.unknown.reason == nil)
  }

  @Test func routesAreAskedAboutAsTheSocketAsks() {
    var routing = SocketRouting()
    (routing.mark, routing.interface) = (7, "eth0")
    let configuration = routing.configuration
    #expect(configuration.mark == 7 && configuration.interface == "eth0")
    // An open connection has its address: nothing is translated, and it is compared with the source of a new one.
    #expect(!configuration.usesNAT64 && configuration.comparesSources)
    #expect(SocketRouting().configuration.mark == 0 && SocketRouting().configuration.interface == nil)
    #expect(!ReachabilityConfiguration().comparesSources)
  }

  /// An answer may take 50 ms once packets leave as before; nothing was unreachable meanwhile.
  @Test(arguments: [(49, false), (50, true)] as [(Int64, Bool)])
  func aConnectionThatMovedBackHasAShortTimeForAnAnswer(milliseconds: Int64, isClosed: Bool) {
    var machine = ConnectionStateMachine(ConnectionPolicy())
    func routes(_ interface: UInt32) -> ConnectionRoutes {
      ConnectionRoutes(pair: .reachable(interface: interface), remote: .reachable(interface: interface))
    }
    var far = SocketProgress()
    (far.unacknowledged, far.backoff, far.retransmissionTimeout, far.roundTrip) = (1, 8, 60_000_000, 10_000)
    #expect(machine.take(routes(2), activity: .idle, at: 0) == .wait)
    #expect(machine.take(routes(3), activity: .idle, at: 1) == .measure)
    _ = machine.measured(far, activity: .idle, at: 1)
    #expect(machine.take(routes(2), activity: .idle, at: 1_000_000_000) == .measure)
    let now = 1_000_000_000 + milliseconds * 1_000_000
    let action = machine.measured(far, activity: .idle, at: now)
    #expect(action == (isClosed ? .close(.stalled) : .lookAgain(now + 50_000_000)))
  }

  // MARK: The registry

  @Test func aRegistryCountsConnectionsByTheirCondition() {
    let registry = ConnectionRegistry()
    #expect(registry.counts.isEmpty && registry.closed.isEmpty && registry.watchCount == 0)
    registry.changed(from: nil, to: .fine)
    registry.changed(from: nil, to: .fine)
    #expect(registry.counts == [.fine: 2])
    registry.changed(from: .fine, to: .dead)
    #expect(registry.counts == [.fine: 1, .dead: 1])
    registry.changed(from: .dead, to: nil)
    #expect(registry.counts == [.fine: 1])
    registry.changed(from: .fine, to: nil)
    #expect(registry.counts.isEmpty)
  }

  private func change(_ condition: ConnectionCondition, isClosed: Bool) -> ConnectionChange {
    ConnectionChange(
      local: Self.local, remote: Self.remote, port: 443, condition: condition, reason: nil, isClosed: isClosed)
  }

  @Test func onlyWhatIsClosedCountsAsClosed() {
    let heard = Mutex<[ConnectionChange]>([])
    let registry = ConnectionRegistry { change in heard.withLock { $0.append(change) } }
    let changes = [
      change(.fine, isClosed: false), change(.dead, isClosed: true), change(.dead, isClosed: true),
      change(.stalled, isClosed: true), change(.doubtful, isClosed: false),
    ]
    for change in changes { registry.tell(change) }
    #expect(registry.closed == [.dead: 2, .stalled: 1])
    let told = heard.withLock { $0 }
    #expect(told == changes)
    // Nobody needs to listen.
    let silent = ConnectionRegistry()
    silent.tell(change(.dead, isClosed: true))
    #expect(silent.closed == [.dead: 1])
  }

  @Test func lossesAreCounted() {
    let registry = ConnectionRegistry()
    for expected in 0..<3 {
      #expect(registry.requests.withLock { $0.losses } == expected)
      registry.noteLoss()
    }
  }

  @Test func requestsAreCountedByTheirHost() {
    var notes = RequestNotes()
    #expect(notes.counts.isEmpty && notes.losses == 0 && !notes.areCounted && notes.sources.isEmpty)
    notes.begin("a")
    notes.begin("b")
    notes.begin("a")
    #expect(notes.counts == ["a": 2, "b": 1])
    notes.end("a")
    notes.end("b")
    #expect(notes.counts == ["a": 1])
    notes.end("a")
    #expect(notes.counts.isEmpty)
    // What never began does not end, either.
    notes.end("a")
    notes.end("c")
    #expect(notes.counts.isEmpty)
  }

  @Test func whatIsWrittenToAHostIsCountedForThoseWhoNameIt() {
    var notes = RequestNotes()
    for host in ["a", "b"] { notes.name(host) }
    notes.begin("b")
    #expect(notes.written(to: "a") == 0 && notes.written(to: "b") == 1)
    notes.begin("a")
    notes.end("a")
    #expect(notes.written(to: "a") == 1, "also once it is answered")
    notes.begin("c")
    #expect(notes.written(to: "a") == 2, "it may be another spelling")
    notes.unname("b")
    notes.name("b")
    #expect(notes.written(to: "b") == 1, "what was before is forgotten")
  }

  /// The Host field of a request is the redirect's, or another spelling of the host that its user has named.
  @Test func aHostThatNobodyNamesMayBeThatOfAnyRequest() {
    var notes = RequestNotes()
    #expect(!notes.mayBeUnderWay("a"))
    for host in ["a", "b", "b"] { notes.name(host) }
    for host in ["b", "b"] { notes.begin(host) }
    #expect(!notes.mayBeUnderWay("a") && notes.mayBeUnderWay("b"), "each has its own")
    notes.begin("b")
    #expect(notes.mayBeUnderWay("a"), "one more than were named")
    notes.end("b")
    notes.unname("b")
    #expect(notes.mayBeUnderWay("a"))
    notes.end("b")
    #expect(!notes.mayBeUnderWay("a"))
    notes.begin("c")
    #expect(notes.mayBeUnderWay("a"))
    notes.end("c")
    notes.begin("a")
    #expect(notes.mayBeUnderWay("a") && !notes.mayBeUnderWay("d"))
  }
}
#endif
