// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// Questions from outside, which an engine answers between its turns.
struct EngineAnswerTests {
  private let lab = TurnLab()
  private let address = ip("2001:db8::1")
  private let other = ip("2001:db8::2")
  private let literal = ip("192.0.2.33")
  private let roots = [IPAddress.rootServer(.ipv4), .rootServer(.ipv6)]
  private var source: TurnSource { lab.source }
  private var host: ReachabilityTarget { get throws { try .host("name.example") } }

  private func answer(
    _ target: ReachabilityTarget, _ configure: (inout ReachabilityConfiguration) -> Void = { _ in }
  ) -> (state: Reachability, isTurnDue: Bool) {
    var configuration = ReachabilityConfiguration()
    configure(&configuration)
    source.calls = []
    return lab.state.answer(target, configuration)
  }

  // MARK: What is read on the way

  @Test func anAddressIsAskedAboutOnceIfNothingHappens() {
    lab.pass(5)
    let (state, isTurnDue) = answer(.address(address))
    #expect(source.calls == [.ask([address]), .catchUp])
    #expect(state.isReachable && state.realtime == 1_005 && !isTurnDue)
  }

  @Test func anEventMeanwhileHasItAskedAgain() {
    source.events = [{ $0.markEverything() }]
    source.onAnswer = { [source, address] in source.answers[address] = .lost(.noCarrier) }
    let (state, isTurnDue) = answer(.address(address))
    #expect(source.calls == [.ask([address]), .catchUp, .ask([address]), .catchUp])
    #expect(state.isUnreachable(.noCarrier) && isTurnDue)
  }

  @Test func theInternetIsAskedAgainLikewise() {
    source.events = [{ $0.markEverything() }]
    source.onAnswer = { [source, roots] in for root in roots { source.answers[root] = .lost(.noCarrier) } }
    let (state, isTurnDue) = answer(.internet)
    #expect(source.calls == [.ask(roots), .catchUp, .ask(roots), .catchUp])
    #expect(state.isUnreachable(.noCarrier) && isTurnDue)
  }

  /// Eight times at most: then the answer is given although more is to be read.
  @Test func eventsWithoutEndDoNotHoldAnAnswerUp() {
    source.standing = { $0.markEverything() }
    #expect(answer(.address(address)).isTurnDue)
    #expect(source.asked.count == 8 && source.count(.catchUp) == 7)
    #expect(answer(.internet).isTurnDue)
    #expect(source.asked.count == 16 && source.count(.catchUp) == 7)
  }

  @Test func doubtIsEndedAtOnce() {
    source.events = [{ $0.isInDoubt = true }]
    #expect(answer(.address(address)).isTurnDue)
    #expect(source.calls == [.ask([address]), .catchUp, .poll, .ask([address]), .catchUp])
  }

  @Test func whatWasReadConcernsWhatIsWatched() {
    let cell = lab.watch(.address(address))
    source.answers[address] = .lost(.prohibited)
    source.events = [{ $0.markEverything() }]
    #expect(answer(.address(other)).state.isReachable)
    #expect(cell.current.isReachable)
    lab.turn()
    #expect(cell.current.isUnreachable(.prohibited))
  }

  @Test func nothingIsWatchedAfterwards() throws {
    for target in [.internet, .address(literal), .localNetwork, try host] { _ = answer(target) }
    source.calls = []
    lab.change()
    #expect(source.asked.isEmpty && lab.state.commands.isEmpty && lab.lookups.names.isEmpty)
  }

  // MARK: Targets

  @Test func anAddressOfTheOtherFamilyIsNotAskedAbout() {
    #expect(answer(.address(address)) { $0.family = .ipv4 }.state.isUnreachable(.noRoute))
    #expect(source.asked.isEmpty)
    #expect(answer(.address(literal)) { $0.family = .ipv6 }.state.isUnreachable(.noRoute))
    #expect(source.asked.isEmpty)
    _ = answer(.address(address)) { $0.family = .ipv6 }
    #expect(source.asked == [address])
  }

  @Test func theUnspecifiedAddressIsTheRootOfItsFamily() {
    for (text, root) in zip(["0.0.0.0", "::"], roots) {
      #expect(answer(.address(ip(text))).state.isReachable && source.asked == [root])
    }
  }

  // MARK: Names

  @Test func aNameThatNobodyHasLookedUpIsNotResolved() throws {
    #expect(answer(try host).state.isUndetermined(.nameNotResolved))
    #expect(source.asked == roots)
    // Nor is one that is being looked up.
    lab.watch(try host)
    #expect(answer(try host).state.isUndetermined(.nameNotResolved))
    lab.turn(lab.lookups.answer(.noAddress))
    #expect(answer(try host).state.isUnreachable(.nameNotResolved))
  }

  @Test func theAddressesThatMonitorsKnowAreAskedAbout() throws {
    lab.watch(try host)
    lab.turn(lab.lookups.answer(.addresses([address])))
    source.answers[address] = .lost(.blackhole)
    #expect(answer(try host).state.isUnreachable(.blackhole))
    #expect(source.asked == [address] + roots)
    // Nobody has asked for this family alone.
    #expect(answer(try host) { $0.family = .ipv6 }.state.isUndetermined(.nameNotResolved))
  }

  @Test func addressesAreRecentForASecond() throws {
    let question = NameQuestion(name: "name.example", family: nil)
    func recent() -> [IPAddress]? { lab.state.recentAddresses(of: question) }
    #expect(recent() == nil)
    let cell = lab.watch(try host)
    #expect(recent() == nil)
    lab.pass(5)
    lab.turn(lab.lookups.answer(.addresses([address])))
    lab.pass(TurnLab.second - 1)
    #expect(recent() == [address])
    #expect(lab.state.recentAddresses(of: NameQuestion(name: "name.example", family: .ipv6)) == nil)
    lab.pass(1)
    #expect(recent() == nil)
    // While they are looked up once more, and once that has found nothing.
    source.events = [{ $0.touchesNames = true }]
    lab.turn()
    #expect(recent() == nil)
    lab.turn(lab.lookups.answer(.addresses([other])))
    #expect(recent() == [other])
    lab.unwatch([cell])
    #expect(recent() == nil)
  }

  @Test func addressesAreNotRecentIfSomethingHasChanged() throws {
    lab.watch(try host)
    lab.turn(lab.lookups.answer(.addresses([address])))
    source.events = [{ $0.touchesNames = true }]
    lab.turn()
    // It is put off: a name is looked up at most once a second.
    #expect(lab.lookups.names.count == 1)
    #expect(lab.state.recentAddresses(of: NameQuestion(name: "name.example", family: nil)) == nil)
  }

  // MARK: NAT64

  @Test func withoutAKnownPrefixALiteralIsNotResolved() {
    source.answers[literal] = .lost()
    #expect(answer(.address(literal)).state.isUndetermined(.nameNotResolved))
    #expect(Set(source.asked) == [literal, roots[1]] && lab.lookups.names.isEmpty)
    // Without IPv6 there is nothing to translate.
    source.answers[roots[1]] = .lost(.noCarrier)
    #expect(answer(.address(literal)).state.isUnreachable(.noRoute))
    #expect(answer(.address(literal)) { $0.usesNAT64 = false }.state.isUnreachable(.noRoute))
    #expect(source.asked == [literal])
  }

  @Test func aPrefixThatMonitorsKnowIsUsed() {
    let (another, translated) = (ip("192.0.2.34"), ip("64:ff9b::192.0.2.34"))
    source.answers[literal] = .lost()
    lab.watch(.address(literal))
    lab.turn(lab.lookups.answer(.addresses([ip("64:ff9b::192.0.0.170")])))
    source.answers[another] = .lost()
    source.answers[translated] = Reachability(status: .reachable, destination: translated)
    let state = answer(.address(another)).state
    #expect(state.isReachable && state.destination == translated)
    source.answers[translated] = .lost(.prohibited)
    #expect(answer(.address(another)).state.isUnreachable(.prohibited))
    // One with a path of its own is asked about alone.
    #expect(answer(.address(ip("192.0.2.35"))).state.isReachable)
    #expect(source.asked == [ip("192.0.2.35")])
  }
}
