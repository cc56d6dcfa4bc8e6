// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

@testable import Dialtone

/// A source that does as a test says, and notes what is asked of it, in order.
final class TurnSource: NetworkSource {
  typealias Mark = (inout NetworkChange) -> Void

  enum Call: Equatable {
    case drain, catchUp, poll, path
    case watch(NetworkInterest)
    case ask([IPAddress])
  }

  var calls: [Call] = []
  /// All others are reachable.
  var answers: [IPAddress: Reachability] = [:]
  var path = PathAnswer(NetworkPath(.satisfied))
  /// What each of the next reads finds.
  var events: [Mark] = []
  /// What every read finds besides.
  var standing: Mark = { _ in }
  var onPoll: Mark = { _ in }
  /// Called whenever something is asked.
  var onAnswer: () -> Void = {}
  var onPath: () -> Void = {}
  var nextPoll: Int64?
  var nameServers: [IPAddress]? = []

  var announcesAllAtFirst = false

  /// The addresses that were asked about.
  var asked: [IPAddress] {
    calls.flatMap { call -> [IPAddress] in if case .ask(let addresses) = call { addresses } else { [] } }
  }

  /// What it was told that the queries will be about.
  var interests: [NetworkInterest] {
    calls.compactMap { call in if case .watch(let interest) = call { interest } else { nil } }
  }

  func count(_ call: Call) -> Int { calls.count { $0 == call } }

  func drain(into change: inout NetworkChange) { read(.drain, &change) }
  func catchUp(into change: inout NetworkChange) { read(.catchUp, &change) }

  private func read(_ call: Call, _ change: inout NetworkChange) {
    calls.append(call)
    if !events.isEmpty { events.removeFirst()(&change) }
    standing(&change)
  }

  func poll(into change: inout NetworkChange) {
    calls.append(.poll)
    onPoll(&change)
  }

  func answer(_ queries: [RouteQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void) {
    calls.append(.ask(queries.compactMap(\.address)))
    for (position, query) in queries.enumerated() {
      receive(position, query.address.flatMap { answers[$0] } ?? Reachability(status: .reachable))
    }
    onAnswer()
  }

  func path(_ configuration: PathConfiguration) -> PathAnswer {
    calls.append(.path)
    onPath()
    return path
  }

  func watch(_ interest: NetworkInterest) { calls.append(.watch(interest)) }
}

/// An engine's state without threads: with a source and a clock that stand still until a test moves them, and lookups
/// that a test answers.
final class TurnLab {
  /// The lookups that have begun. Each holds an object until it is withdrawn.
  final class Lookups {
    private final class Holder: Sendable {}
    private struct Begun {
      let question: NameQuestion
      let serial: UInt64
      weak var holder: Holder?
    }

    // Without threads, nothing is looked up.
    private let pool = NameLookupPool(threads: 0)
    private var all: [Begun] = []

    var names: [String] { all.map(\.question.name) }
    /// Those that were not withdrawn.
    var held: [String] { all.filter { $0.holder != nil }.map(\.question.name) }

    fileprivate func begin(_ question: NameQuestion, _ serial: UInt64) -> NameLookupPool.Ticket {
      let holder = Holder()
      all.append(Begun(question: question, serial: serial, holder: holder))
      return pool.submit(question, by: { _, _ in nil }, answer: { _ in withExtendedLifetime(holder) {} })
    }

    /// The command by which the last lookup has this answer.
    func answer(_ result: NameLookupResult) -> EngineCommand {
      guard let last = all.last else { preconditionFailure("no name was asked for") }
      return .lookupEnded(last.question, serial: last.serial, result)
    }
  }

  static let second: Int64 = 1_000_000_000

  let source = TurnSource()
  let lookups = Lookups()
  var state: EngineState
  private let clock = Counter()

  init(passes: Bool = false) {
    let time = TimeSource(passes: passes, realtime: { [clock] in Int64(clock.value) + 1_000 }) { [clock] in
      Int64(clock.value)
    }
    state = EngineState(source, time) { [lookups] in lookups.begin($0, $1) }
  }

  deinit { state.removeAll() }

  var now: Int64 { Int64(clock.value) }

  func pass(_ nanoseconds: Int64) { clock.add(Int(nanoseconds)) }

  @discardableResult
  func turn(_ commands: EngineCommand...) -> EngineState.Outcome { turn(commands) }

  @discardableResult
  func turn(_ commands: [EngineCommand]) -> EngineState.Outcome { state.turn(Few(commands)) }

  /// Begins to watch a target, and returns where its states go.
  @discardableResult
  func watch(
    _ target: ReachabilityTarget, _ configure: (inout ReachabilityConfiguration) -> Void = { _ in }
  ) -> StateCell<Reachability> {
    var configuration = ReachabilityConfiguration()
    configure(&configuration)
    let cell = StateCell(unknown: Reachability.unknown)
    turn(.watch(.target(TargetQuestion(target, configuration), cell), cell.epoch))
    return cell
  }

  @discardableResult
  func watchPath(settling: Duration = .zero) -> StateCell<NetworkPath> {
    var configuration = PathConfiguration()
    configuration.settling = settling
    let cell = StateCell(unknown: NetworkPath.unknown)
    turn(.watch(.path(configuration, cell), cell.epoch))
    return cell
  }

  @discardableResult
  func unwatch(_ cells: [StateCell<Reachability>]) -> EngineState.Outcome {
    turn(cells.map { .unwatch(.target(TargetQuestion(.internet, .init()), $0)) })
  }

  /// A turn in which something about everything has changed.
  @discardableResult
  func change(_ address: IPAddress? = nil, _ answer: Reachability? = nil) -> EngineState.Outcome {
    if let address { source.answers[address] = answer }
    source.events.append { $0.markEverything() }
    return turn()
  }
}

extension Reachability {
  static func lost(_ reason: Reason = .noRoute) -> Reachability { Reachability(status: .unreachable, reason: reason) }
}
