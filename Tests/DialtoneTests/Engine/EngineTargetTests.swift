// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Testing

@testable import Dialtone

/// What becomes of targets, names and translated addresses, turn by turn.
struct EngineTargetTests {
  private static let name = "name.example"
  private static let discovery = "ipv4only.arpa"
  private let lab = TurnLab()
  private let first = ip("2001:db8::1")
  private let second = ip("2001:db8::2")
  private let roots = [IPAddress.rootServer(.ipv4), .rootServer(.ipv6)]
  private var source: TurnSource { lab.source }
  private var host: ReachabilityTarget { get throws { try .host(Self.name) } }

  /// What is asked about after everything may have changed.
  private func asked() -> [IPAddress] {
    source.calls = []
    lab.change()
    return source.asked
  }

  // MARK: Targets

  @Test func whoAsksTheSameLaterIsToldAtOnceWithoutAnotherQuestion() {
    lab.watch(.address(first))
    source.calls = []
    let later = lab.watch(.address(first))
    #expect(source.asked.isEmpty && later.current.isReachable)
  }

  @Test func aTargetThatIsNotWatchedAnyMoreIsNotAskedAbout() {
    let (left, kept) = (lab.watch(.address(first)), lab.watch(.address(second)))
    lab.unwatch([left])
    #expect(asked() == [second])
    lab.change(first, .lost())
    #expect(left.current.isReachable)
    lab.unwatch([kept])
    #expect(asked().isEmpty && source.interests.isEmpty, "its last interest was told when it left")
  }

  @Test func anotherTargetInTheSameCellReplacesTheFirst() {
    let cell = lab.watch(.address(first))
    lab.turn(.watch(.target(TargetQuestion(.address(second), .init()), cell), cell.epoch))
    lab.change(first, .lost())
    #expect(cell.current.isReachable)
    lab.change(second, .lost(.prohibited))
    #expect(cell.current.isUnreachable(.prohibited))
  }

  @Test func nothingIsKeptOfATargetThatIsNotWatchedAnyMore() {
    weak var released: StateCell<Reachability>?
    do {
      let cell = lab.watch(.address(first))
      released = cell
      lab.change(first, .lost())
      lab.unwatch([cell])
    }
    #expect(released == nil)
  }

  /// They are asked in batches, and each answer goes to its own query.
  @Test func hundredsOfTargetsHaveTheirOwnAnswers() {
    let addresses = (0..<600).map { IPAddress(ipv4: 0x0A00_0000 + $0) }
    for address in addresses {
      source.answers[address] = Reachability(status: .reachable, destination: address)
    }
    let cells = addresses.map { _ in StateCell(unknown: Reachability.unknown) }
    let outcome = lab.turn(
      zip(addresses, cells).map { .watch(.target(TargetQuestion(.address($0), .init()), $1), $1.epoch) })
    #expect(cells.map(\.current.destination) == addresses && outcome.targets.count == 600)
    #expect(asked().filter { $0.family == .ipv4 } == addresses, "each once, in their order")
  }

  @Test func whoAsksSomethingElseOfAnAddressHasAQueryOfItsOwn() {
    lab.watch(.address(first))
    let marked = (0..<2).map { _ in lab.watch(.address(first)) { $0.mark = 7 } }
    let local = lab.watch(.localNetwork(.wifi))
    lab.watch(.localNetwork(.wired))
    source.calls = []
    lab.watch(.localNetwork(.wired))
    #expect(source.count(.ask([])) == 0, "it is known")
    #expect(asked() == [first, first])
    lab.unwatch([marked[0], local])
    #expect(asked() == [first, first])
    lab.unwatch([marked[1]])
    #expect(asked() == [first])
  }

  @Test func itsCommandsMakeAnotherEngineDoTheSame() {
    let (cell, path) = (lab.watch(.address(first)), lab.watchPath())
    let timer = DeliveryTimer(at: 0, {})
    lab.pass(-1)
    lab.turn(.schedule(timer))
    let heir = TurnLab()
    heir.source.answers[first] = .lost(.noAddress)
    heir.source.path.path = NetworkPath(.unsatisfied, reason: .noCarrier)
    let commands = lab.state.commands
    #expect(commands.count == 3)
    let timers = heir.turn(commands).timers
    #expect(cell.current.isUnreachable(.noAddress) && path.current.reason == .noCarrier)
    #expect(timers.count == 1 && timers.first === timer)
  }

  // MARK: Names

  @Test func aHostIsKnownOnceItsNameAndItsAddressAre() throws {
    let cell = lab.watch(try host)
    #expect(lab.lookups.names == [Self.name] && source.asked == roots && !cell.current.isKnown)
    source.calls = []
    lab.turn(lab.lookups.answer(.addresses([first])))
    #expect(source.asked == [first] && cell.current.isReachable)
    #expect(asked() == [roots[0], first, roots[1]].sorted { $0.bits < $1.bits })
  }

  @Test func anAnswerToAnotherQuestionDoesNotCount() throws {
    let cell = lab.watch(try host)
    lab.turn(.lookupEnded(NameQuestion(name: Self.name, family: nil), serial: 99, .noAddress))
    lab.turn(.lookupEnded(NameQuestion(name: Self.name, family: .ipv4), serial: 1, .noAddress))
    #expect(!cell.current.isKnown)
  }

  @Test(arguments: [
    (NameLookupResult.noAddress, Reachability.Status.unreachable, Reachability.Reason.nameNotResolved),
    (.addresses([]), .unreachable, .nameNotResolved), (.failed, .undetermined, .nameNotResolved),
    (.exhausted(errno: EMFILE), .undetermined, .outOfDescriptors),
    (.addresses([ip("192.0.2.1")]), .unreachable, .nameNotResolved),  // of the other family
  ])
  func aHostWithoutAnAddress(
    result: NameLookupResult, status: Reachability.Status, reason: Reachability.Reason
  ) throws {
    let cell = lab.watch(try host) { $0.family = .ipv6 }
    #expect(lab.turn(lab.lookups.answer(result)).targets.count == 1)
    #expect(cell.current.status == status && cell.current.reason == reason)
  }

  /// Without a path, no lookup could have helped. The state is about no address.
  @Test func aHostThatCannotBeLookedUpHasTheReasonOfThePath() throws {
    for root in roots {
      source.answers[root] = Reachability(status: .unreachable, destination: root, reason: .noCarrier)
    }
    let cell = lab.watch(try host)
    lab.turn(lab.lookups.answer(.failed))
    #expect(cell.current.isUnreachable(.noCarrier) && cell.current.destination == nil)
    lab.change(roots[1], Reachability(status: .reachable))
    #expect(cell.current.isUndetermined(.nameNotResolved))
  }

  /// A name server on the link may find a host that is on the link, too.
  @Test func aHostIsNotUnreachableIfANameServerCanBeAsked() throws {
    for root in roots { source.answers[root] = .lost(.noRoute) }
    source.nameServers = nil
    let cell = lab.watch(try host)
    lab.turn(lab.lookups.answer(.failed))
    #expect(!cell.current.isKnown)
    // The first is this machine's: nobody knows which ones it asks.
    source.nameServers = [ip("127.0.0.53"), first]
    source.events = [{ $0.touchesNameServers = true }]
    lab.turn()
    #expect(cell.current.isUndetermined(.nameNotResolved))
    lab.change(first, .lost(.noCarrier))
    #expect(cell.current.isUnreachable(.noRoute))
    source.nameServers = [second]
    source.events = [{ $0.touchesNames = true }]
    lab.turn()
    #expect(cell.current.isUndetermined(.nameNotResolved) && asked() == (roots + [second]).sorted { $0.bits < $1.bits })
    lab.change(roots[0], Reachability(status: .reachable))
    #expect(cell.current.isUndetermined(.nameNotResolved) && asked() == roots)
  }

  @Test func aNameThatTakesASecondIsToldOf() throws {
    let cell = lab.watch(try host)
    lab.pass(TurnLab.second - 1)
    #expect(lab.turn().targets.isEmpty)
    lab.pass(1)
    #expect(lab.turn().targets.count == 1 && cell.current.isUndetermined(.nameNotResolved))
  }

  @Test func aKnownNameIsNotLookedUpForTheNextWhoAsks() throws {
    lab.watch(try host)
    lab.turn(lab.lookups.answer(.addresses([first])))
    source.calls = []
    let later = lab.watch(try host)
    #expect(later.current.isReachable && source.asked.isEmpty && lab.lookups.names.count == 1)
  }

  @Test func formerAddressesAreNotAskedAbout() throws {
    let cell = lab.watch(try host)
    lab.turn(lab.lookups.answer(.addresses([first])))
    lab.pass(2 * TurnLab.second)
    source.events = [{ $0.touchesNames = true }]
    lab.turn()
    #expect(lab.lookups.names.count == 2)
    source.answers[second] = .lost(.prohibited)
    lab.turn(lab.lookups.answer(.addresses([second])))
    #expect(cell.current.isUnreachable(.prohibited))
    #expect(Set(asked()) == Set(roots + [second]))
  }

  @Test func aNameIsLookedUpAgainIfThePathChangesButNotIfItsAddressDoes() throws {
    lab.watch(try host)
    lab.turn(lab.lookups.answer(.addresses([first])))
    lab.pass(2 * TurnLab.second)
    lab.change()
    lab.change(first, .lost())
    #expect(lab.lookups.names.count == 1)
    lab.change(roots[0], .lost())
    #expect(lab.lookups.names.count == 2)
  }

  @Test func aNameIsLookedUpEvenInDoubt() throws {
    source.nextPoll = 100
    source.standing = { $0.isInDoubt = true }
    lab.watch(try host)
    #expect(lab.lookups.names == [Self.name] && source.asked.isEmpty)
  }

  @Test func theLastWhoAsksTakesTheLookupAlong() throws {
    let cells = [lab.watch(try host), lab.watch(try host)]
    #expect(lab.lookups.held == [Self.name])
    lab.unwatch([cells[0]])
    #expect(lab.lookups.held == [Self.name])
    let answer = lab.lookups.answer(.noAddress)
    lab.unwatch([cells[1]])
    #expect(lab.lookups.held.isEmpty && source.interests.last?.includesNames == false)
    lab.turn(answer)
    #expect(!cells[1].current.isKnown && asked().isEmpty)
  }

  @Test func theEndWithdrawsAllLookups() throws {
    lab.watch(try host)
    lab.state.removeAll()
    #expect(lab.lookups.held.isEmpty)
  }

  // MARK: NAT64

  private static let literal = ip("192.0.2.33")
  /// RFC 6052, 2.4: the well-known prefix, and one of the network's own.
  private static let wellKnown = ip("64:ff9b::192.0.2.33")
  private static let own = ip("2001:db8:64::192.0.2.33")

  private func watchTranslated() -> StateCell<Reachability> {
    source.answers[Self.literal] = .lost()
    let cell = lab.watch(.address(Self.literal))
    #expect(lab.lookups.names == [Self.discovery] && !cell.current.isKnown)
    lab.turn(lab.lookups.answer(.addresses([ip("64:ff9b::192.0.0.170")])))
    return cell
  }

  @Test func anAddressIsAskedAboutBehindTheTranslatorOfToday() {
    source.answers[Self.wellKnown] = .lost(.blackhole)
    let cell = watchTranslated()
    #expect(cell.current.isUnreachable(.blackhole))
    #expect(Set(asked()) == [Self.literal, Self.wellKnown, roots[1]])
    lab.pass(2 * TurnLab.second)
    source.events = [{ $0.touchesNames = true }]
    lab.turn()
    lab.turn(lab.lookups.answer(.addresses([ip("2001:db8:64::192.0.0.170")])))
    #expect(cell.current.isReachable)
    #expect(Set(asked()) == [Self.literal, Self.own, roots[1]])
  }

  @Test func anAddressThatIsReachableAgainNeedsNoTranslator() {
    let cell = watchTranslated()
    #expect(cell.current.isReachable && source.interests.last?.includesNames == true)
    lab.change(Self.literal, Reachability(status: .reachable))
    #expect(cell.current.isReachable && source.interests.last?.includesNames == false)
    #expect(asked() == [Self.literal, roots[1]])
    // The prefix is asked for anew.
    lab.change(Self.literal, .lost())
    #expect(lab.lookups.names == [Self.discovery, Self.discovery] && cell.current.status == .undetermined)
  }

  @Test func withoutATranslatorItStaysAsItIs() {
    source.answers[Self.literal] = .lost(.noAddress)
    let cell = lab.watch(.address(Self.literal))
    lab.turn(lab.lookups.answer(.noAddress))
    #expect(cell.current.isUnreachable(.noAddress))
    let prohibited = ip("192.0.2.34")
    source.answers[prohibited] = .lost(.prohibited)
    #expect(lab.watch(.address(prohibited)).current.isUnreachable(.prohibited))
    #expect(lab.lookups.names == [Self.discovery])
  }
}
