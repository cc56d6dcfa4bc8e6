// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import TestSupport
import Testing

@testable import DialtoneSites

/// A check ends once, in any state.
struct CheckEndTests {
  /// A check in each of its states, and the stage in which a deadline ends it.
  static let states: [(name: String, check: ScriptedCheck, stage: SiteVerdict.Stage)] = {
    func started(_ url: SiteURL) -> ScriptedCheck {
      var check = ScriptedCheck(url)
      _ = check.start()
      return check
    }
    var closing = ScriptedCheck("http://192.0.2.1/").exchanging()
    _ = closing.take(.firstByte)
    _ = closing.take(.head(.status(405), isHTTP: true))
    return [
      ("trust", started("https://192.0.2.1/"), .tls), ("name, waiting", started("http://site.example/"), .name),
      ("name", ScriptedCheck("http://site.example/").lookingUp(), .name),
      ("paths", started("http://192.0.2.1/"), .connect),
      ("connecting", ScriptedCheck("http://192.0.2.1/").connecting(), .connect),
      ("TLS", ScriptedCheck("https://192.0.2.1/").exchanging(), .tls),
      ("exchanging", ScriptedCheck("http://192.0.2.1/").exchanging(), .request), ("closing", closing, .response),
    ]
  }()

  /// Every event.
  static let events: [CheckStateMachine.Event] = [
    .trustFound(nil), .lookupBegan(at: 0, servers: [.server]), .lookupEnded(.ipv4, .addresses([.four])),
    .lookupEnded(nil, .failed), .resolutionDelayPassed, .namesTookLong, .namePathsKnown, .pathsKnown([.four], [.wifi]),
    .pathsKnown([.four], [.gone]), .connected(.four), .notConnected(SiteError(.cannotConnect, ""), last: .four),
    .tunnelOpened, .tlsAgreed(.good), .tlsFailed(SiteError(.tlsFailed, ""), certificateExpires: nil), .requestSent,
    .requestNotSent(SiteError(.connectionLost, "")), .firstByte, .head(.status(200), isHTTP: true),
    .body(VerdictRules.Body(isComplete: true)), .lost(SiteError(.connectionLost, "")), .connectionClosed,
    .deadlinePassed, .cancelled,
  ]

  @Test(arguments: states.indices)
  func theDeadlineEndsEveryState(_ position: Int) throws {
    var (name, check, stage) = Self.states[position]
    check.pass(3)
    let verdict = try check.verdict(of: .deadlinePassed)
    #expect(verdict.kind == .failed && verdict.stage == stage && verdict.error?.code == .timedOut, "\(name)")
    #expect(verdict.timings.total.map { $0 >= .seconds(3) } == true, "\(name)")
  }

  @Test(arguments: states.indices)
  func aCancellationEndsEveryState(_ position: Int) {
    var (name, check, _) = Self.states[position]
    #expect(check.take(.cancelled) == [.end(nil)], "\(name)")
  }

  @Test(arguments: states.indices)
  func afterTheEndNothingChangesAnything(_ position: Int) {
    for ending in [CheckStateMachine.Event.deadlinePassed, .cancelled] {
      var (name, check, _) = Self.states[position]
      _ = check.take(ending)
      for event in Self.events { #expect(check.take(event) == [], "\(name): \(event)") }
    }
  }

  /// An event of another state is late or wrong: it ends no check, and begins nothing twice.
  @Test(arguments: states.indices)
  func whatIsOfAnotherConnectionIsIgnored(_ position: Int) {
    var (name, check, _) = Self.states[position]
    let isExchanging = if case .exchanging = check.machine.state { true } else { false }
    if isExchanging { return }
    let events: [CheckStateMachine.Event] = [
      .tunnelOpened, .tlsAgreed(.good), .tlsFailed(SiteError(.tlsFailed, ""), certificateExpires: nil), .requestSent,
      .firstByte, .head(.status(200), isHTTP: true), .body(VerdictRules.Body()), .connectionClosed,
      .lost(SiteError(.connectionLost, "")),
    ]
    for event in events { #expect(check.take(event) == [], "\(name): \(event)") }
  }

  /// Any events in any order: there is one end, and nothing after it.
  @Test(arguments: UInt64(0)..<200)
  func endsOnceWhateverHappens(_ seed: UInt64) {
    var numbers = SeededNumbers(seed: seed)
    for (name, check, _) in Self.states {
      var check = check
      var hasEnded = false
      for _ in 0..<40 {
        guard let event = Self.events.randomElement(using: &numbers) else { continue }
        let actions = check.take(event)
        if hasEnded { #expect(actions == [], "\(name): \(event)") }
        let ends = actions.indices.filter { if case .end = actions[$0] { true } else { false } }
        if ends.isEmpty { continue }
        #expect(ends == [actions.count - 1], "\(name): \(event): the last action, once")
        hasEnded = true
      }
    }
  }

  @Test func theDeadlineNamesWhatIsBeingTried() throws {
    var check = ScriptedCheck("http://192.0.2.1/").connecting()
    check.attempt = .six
    #expect(try check.verdict(of: .deadlinePassed).address == .six)
  }

  @Test func theDeadlineInTheQueueSaysSo() throws {
    var check = ScriptedCheck("http://site.example/")
    _ = check.start()
    let verdict = try check.verdict(of: .deadlinePassed)
    #expect(verdict.error?.message.contains("was not looked up") == true)
  }

  @Test func theDeadlineOfANameWithoutAPathIsOffline() throws {
    var check = ScriptedCheck("http://site.example/").lookingUp()
    check.namePaths = [.gone]
    #expect(try check.verdict(of: .deadlinePassed).kind == .offline)
    check = ScriptedCheck("http://site.example/").lookingUp()
    check.namePaths = [nil]
    #expect(try check.verdict(of: .deadlinePassed).kind == .failed, "nobody knows yet")
  }
}
