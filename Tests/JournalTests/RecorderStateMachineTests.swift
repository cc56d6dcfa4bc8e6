// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneDiagnosis
import TestSupport
import Testing

@testable import Dialtone
@testable import DialtoneJournal

struct RecorderStateMachineTests {
  private static func recorder(_ targets: [String] = ["a"]) -> JournalEvent.Recorder {
    JournalEvent.Recorder(version: "1", boot: "b", targets: targets)
  }

  private var machine: RecorderStateMachine { RecorderStateMachine(Self.recorder(), at: moment(0)) }
  private let up = RecorderStateMachine.TargetState.up(words: "up")
  private let down = RecorderStateMachine.TargetState.down(reason: "no-carrier", words: "down")

  private func names(_ actions: [RecorderStateMachine.Action]) -> [String] {
    actions.map { action in
      switch action {
      case .write(let event): event.name
      case .explain: "explain"
      case .learn: "learn"
      case .glance: "glance"
      }
    }
  }

  private func explanation(_ layer: OutageLayer) -> Explanation {
    Explanation(cause: "no-carrier", confidence: "certain", layer: layer, summary: "s")
  }

  @Test func writesAndExplainsAnOutage() {
    var machine = machine
    #expect(names(machine.handle(.state(0, up, since: nil), at: moment(1))) == ["up", "learn"])
    #expect(names(machine.handle(.state(0, down, since: nil), at: moment(2))) == ["begin", "explain"])
    #expect(names(machine.handle(.explained(0, explanation(.link)), at: moment(3))) == ["cause"])
    #expect(names(machine.handle(.state(0, up, since: nil), at: moment(4))) == ["end", "learn"])
  }

  @Test func eachReasonHasALayer() {
    for reason in Reachability.Reason.all {
      let layer = OutageLayer(reason: reason.identifier)
      #expect((layer == .unknown) == reason.isDenial, "\(reason)")
      // Everything that is wrong with a link is a cause, by the same identifier.
      let cause = DiagnosisCause(identifier: reason.identifier)
      if reason.isOfLink { #expect(cause.map(OutageLayer.init) == layer, "\(reason)") }
    }
  }

  @Test func eachCauseHasALayer() {
    for cause in DiagnosisCause.all { #expect((OutageLayer(cause) == .unknown) == (cause == .denied), "\(cause)") }
  }

  /// The cable was pulled, or the site refuses: the layer is known before anything was explained.
  @Test(
    arguments: [
      ("unsatisfied", "no-carrier", "offline", OutageLayer.link), ("unsatisfied", "no-route", "offline", .machine),
      ("satisfied", nil, "connection-refused", .site), ("satisfied", nil, "certificate-expired", .site),
    ] as [(String, String?, String, OutageLayer)])
  func theOutageOfASiteHasTheLayerOfItsReason(
    _ status: String, _ reason: String?, _ verdict: String, _ layer: OutageLayer
  ) {
    var machine = machine
    let inputs: [RecorderStateMachine.Input] = [
      .state(0, up, since: nil), .path(NetworkSummary(status: status, reason: reason)),
      .state(0, .down(reason: verdict, words: verdict), since: nil), .state(0, up, since: nil),
    ]
    var events: [JournalEvent] = []
    for (second, input) in inputs.enumerated() {
      for case .write(let event) in machine.handle(input, at: moment(Double(second + 1))) { events.append(event) }
    }
    #expect(OutageLog.outages(events).map(\.layer) == [layer])
  }

  /// The second outage within a minute is not explained. The kernel still knows whether the gateway answers.
  @Test func whatIsNotExplainedIsGlancedAt() throws {
    let lost = RecorderStateMachine.TargetState.down(reason: "name-not-resolved", words: "w", layer: .nameServer)
    var machine = machine
    _ = machine.handle(.state(0, up, since: nil), at: moment(1))
    #expect(names(machine.handle(.state(0, lost, since: nil), at: moment(2))) == ["begin", "explain"])
    _ = machine.handle(.explained(0, nil), at: moment(3))
    _ = machine.handle(.state(0, up, since: nil), at: moment(4))
    #expect(names(machine.handle(.state(0, lost, since: nil), at: moment(12))) == ["begin", "glance"])
    // A glance that finds nothing says nothing.
    let nothing = Explanation(cause: nil, confidence: "unknown", layer: .unknown, summary: "s")
    #expect(machine.handle(.glanced(0, nothing), at: moment(13)) == [])
    #expect(names(machine.handle(.glanced(0, explanation(.router)), at: moment(14))) == ["cause"])
    let end = machine.handle(.state(0, up, since: nil), at: moment(15))
    guard case .write(let event)? = end.first, case .end(let outage, _, _) = event.kind else {
      throw DidNotHappen("an end")
    }
    #expect(outage.layer == .router)
    // The kernel's own reason says where it lies, and a glance says why.
    #expect(names(machine.handle(.state(0, down, since: nil), at: moment(20))) == ["begin", "glance"])
  }

  /// One site cannot be looked up, and packets to another do not come back: the name server is behind the same fault.
  @Test(arguments: [false, true]) func aNameServerThatNobodyReachesIsNoFaultOfItsOwn(_ nameIsFirst: Bool) {
    var machine = RecorderStateMachine(Self.recorder(["name", "address"]), at: moment(0))
    let states: [RecorderStateMachine.TargetState] = [
      .down(reason: "name-not-resolved", words: "w", layer: .nameServer),
      .down(reason: "host-unreachable", words: "w", layer: .provider),
    ]
    var events = [machine.start]
    let order = nameIsFirst ? [0, 1] : [1, 0]
    let inputs: [(Int, RecorderStateMachine.TargetState, Double)] =
      order.map { ($0, up, 1) } + order.enumerated().map { ($1, states[$1], Double(60 + $0)) }
      + order.map { ($0, up, 90) }
    for (target, state, second) in inputs {
      for case .write(let event) in machine.handle(.state(target, state, since: nil), at: moment(second)) {
        events.append(event)
      }
    }
    #expect(OutageLog.outages(events).map(\.layer) == [.provider, .provider])
  }

  @Test func timesAreThoseOfTheKernelsEvents() throws {
    var machine = machine
    _ = machine.handle(.state(0, up, since: moment(0.5).wall), at: moment(1))
    let actions = machine.handle(.state(0, down, since: moment(2.25).wall), at: moment(4))
    guard case .write(let event)? = actions.first else { throw DidNotHappen("an event") }
    #expect(event.at == moment(2.25))
    // A time of the future, and one from long before, are not believed.
    for wrong in [moment(100).wall, moment(-5_000).wall] {
      var other = machine
      let actions = other.handle(.state(0, up, since: wrong), at: moment(5))
      guard case .write(let event)? = actions.first else { throw DidNotHappen("an event") }
      #expect(event.at == moment(5))
    }
  }

  /// A site is lost after two checks, and something else has happened meanwhile: the outage is as old as it is.
  @Test func anOutageBeginsWhenItBeganWhateverWasWrittenSince() throws {
    var machine = machine
    var events = [machine.start]
    let inputs: [(RecorderStateMachine.Input, Double)] = [
      (.state(0, up, since: nil), 1), (.path(NetworkSummary(status: "satisfied")), 70),
      (.state(0, down, since: moment(60).wall), 75), (.state(0, up, since: nil), 90),
    ]
    for (input, second) in inputs {
      for case .write(let event) in machine.handle(input, at: moment(second)) { events.append(event) }
    }
    #expect(zip(events, events.dropFirst()).allSatisfy { $0.at.clock <= $1.at.clock })
    let read = try events.map { try #require(JournalEvent(line: $0.line.dropLast())) }
    let outage = try #require(OutageLog.outages(read).first)
    #expect(outage.began == moment(60).wall && outage.ended == moment(90).wall && outage.lasted == 30_000_000)
    var sums = OutageSums(since: moment(0).wall, until: moment(90).wall)
    for finding in OutageLog.findings(read) { sums.take(finding) }
    #expect(sums.targets["a"]?.up == 59_000_000, "what was down was not up, too")
  }

  /// What a site's checks say of the time before the target was last up, or before the machine slept, is not believed.
  @Test func noOutageBeginsBeforeTheTargetWasUpOrAsleep() throws {
    for (slept, first) in [(false, 20.0), (true, 30)] {
      var machine = machine
      _ = machine.handle(.state(0, up, since: nil), at: moment(20))
      let sleep: Double = slept ? 5 : 0
      if slept { _ = machine.handle(.time, at: moment(30, slept: 5)) }
      let actions = machine.handle(.state(0, down, since: moment(10).wall), at: moment(40, slept: sleep))
      guard case .write(let event)? = actions.first, case .begin(let outage, false) = event.kind else {
        throw DidNotHappen("an outage")
      }
      #expect(outage.began.clock == moment(first).clock)
    }
  }

  /// The clock is set while a site's checks fail, forward and back: begin and end are right, and nothing is invented.
  @Test(arguments: [3_600.0, -3_600, -50_000_000]) func aStepOfTheClockMovesNoOutage(_ step: Double) throws {
    var machine = machine
    var events = [machine.start]
    let set = { (second: Double) in moment(second, step: step) }
    let inputs: [(RecorderStateMachine.Input, Moment)] = [
      (.state(0, up, since: nil), moment(1)), (.time, set(65)), (.state(0, down, since: set(60).wall), set(75)),
      (.state(0, up, since: set(90).wall), set(90.1)), (.time, moment(100)),
    ]
    for (input, at) in inputs {
      for case .write(let event) in machine.handle(input, at: at) { events.append(event) }
    }
    let outages = OutageLog.outages(events)
    #expect(outages.map(\.began) == [set(60).wall] && outages.map(\.ended) == [set(90).wall])
    #expect(outages.map(\.lasted) == [30_000_000])
  }

  @Test func noEventLiesBeforeTheOneBeforeIt() throws {
    var machine = machine
    _ = machine.handle(.path(NetworkSummary(status: "satisfied")), at: moment(3))
    let actions = machine.handle(.state(0, down, since: moment(2).wall), at: moment(4))
    guard case .write(let event)? = actions.first else { throw DidNotHappen("an event") }
    #expect(event.at == moment(3))
  }

  @Test func explainsOnceAMinuteAndTwentyTimesAnHour() {
    var machine = machine
    var starts: [Double] = []
    // A link that flaps each second, for three hours.
    for second in 1...10_800 {
      let state = second.isMultiple(of: 2) ? up : down
      let actions = names(machine.handle(.state(0, state, since: nil), at: moment(Double(second))))
      if actions.contains("explain") {
        starts.append(Double(second))
        _ = machine.handle(.explained(0, nil), at: moment(Double(second)))
      }
    }
    #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 >= 60 })
    for start in starts { #expect(starts.count { (start..<start + 3_600).contains($0) } <= 20) }
    #expect(starts.count >= 58, "the budget is used: \(starts.count)")
  }

  @Test func explainsOneOutageEverMoreSeldom() {
    var machine = machine
    var starts: [Int] = []
    _ = machine.handle(.state(0, down, since: nil), at: moment(0))
    _ = machine.handle(.explained(0, nil), at: moment(0))
    for second in 1...7_200 {
      // Something changes all the time.
      let path = NetworkSummary(status: "unsatisfied", reason: "\(second)")
      if names(machine.handle(.path(path), at: moment(Double(second)))).contains("explain") {
        starts.append(second)
        _ = machine.handle(.explained(0, nil), at: moment(Double(second)))
      }
    }
    #expect(starts == [60, 180, 420, 900, 1_860, 3_780, 7_380].filter { $0 <= 7_200 })
  }

  @Test func withoutAChangeNothingIsExplainedAgain() {
    var machine = machine
    _ = machine.handle(.state(0, down, since: nil), at: moment(0))
    _ = machine.handle(.explained(0, explanation(.link)), at: moment(1))
    for minute in 1...600 {
      #expect(!names(machine.handle(.time, at: moment(Double(minute) * 60))).contains("explain"))
    }
  }

  @Test func oneExplanationServesTheTargetsThatWentDownTogether() {
    let targets = (0..<50).map { "t\($0)" }
    var machine = RecorderStateMachine(Self.recorder(targets), at: moment(0))
    var explained = 0
    for target in targets.indices {
      let actions = names(machine.handle(.state(target, down, since: nil), at: moment(Double(target) / 100)))
      explained += actions.count { $0 == "explain" }
    }
    #expect(explained == 1)
    let causes = machine.handle(.explained(0, explanation(.link)), at: moment(2))
    #expect(names(causes) == Array(repeating: "cause", count: 50))
    for case .write(let event) in causes.dropFirst() {
      guard case .cause(let outage) = event.kind else { continue }
      #expect(outage.explanation?.sharedFrom == "t0" && outage.explanation?.confidence == "likely")
    }
    // A fault of a site is nobody else's.
    var other = RecorderStateMachine(Self.recorder(["s", "t"]), at: moment(0))
    for target in 0...1 { _ = other.handle(.state(target, down, since: nil), at: moment(1)) }
    #expect(names(other.handle(.explained(0, explanation(.site)), at: moment(2))) == ["cause"])
  }

  /// One that begins later, while the first is still down, has its cause at once.
  @Test func anOutageThatBeginsAfterAnExplanationSharesIt() {
    var machine = RecorderStateMachine(Self.recorder(["a", "b", "c", "d"]), at: moment(0))
    for target in 0...3 { _ = machine.handle(.state(target, up, since: nil), at: moment(1)) }
    _ = machine.handle(.state(0, down, since: nil), at: moment(10))
    _ = machine.handle(.explained(0, explanation(.link)), at: moment(12))
    let late = machine.handle(.state(1, .down(reason: "no-route", words: "w"), since: nil), at: moment(14))
    #expect(names(late) == ["begin", "cause"])
    // A site that has refused is reached: the link is not to blame.
    let refused = RecorderStateMachine.TargetState.down(reason: "connection-refused", words: "w")
    #expect(names(machine.handle(.state(2, refused, since: nil), at: moment(15))) == ["begin", "glance"])
    // Nor is it for what goes down long after.
    #expect(names(machine.handle(.state(3, down, since: nil), at: moment(30))) == ["begin", "glance"])
  }

  /// A cable that is pulled again and again: no explanation is allowed but the first, and each has its cause.
  @Test func theKernelIsLookedAtForEachOutage() {
    var machine = machine
    var events: [JournalEvent] = [machine.start]
    func handle(_ input: RecorderStateMachine.Input, _ second: Double) -> [String] {
      let actions = machine.handle(input, at: moment(second))
      for case .write(let event) in actions { events.append(event) }
      return names(actions)
    }
    _ = handle(.state(0, up, since: nil), 0)
    for second in stride(from: 10.0, through: 50, by: 10) {
      let begins = handle(.state(0, down, since: nil), second)
      #expect(begins == ["begin", second == 10 ? "explain" : "glance"])
      if second == 10 {
        _ = handle(.explained(0, explanation(.link)), second + 1)
      } else if second < 50 {
        #expect(handle(.glanced(0, explanation(.link)), second + 0.1) == ["cause"])
      }
      _ = handle(.state(0, up, since: nil), second + 5)
    }
    // What was written, and read again.
    let outages = OutageLog.outages(events.compactMap { JournalEvent(line: $0.line.dropLast()) })
    #expect(outages.map(\.explanation?.cause) == ["no-carrier", "no-carrier", "no-carrier", "no-carrier", nil])
    #expect(outages.last?.unexplained == .limit && outages.first?.unexplained == nil)
  }

  @Test func glancesOneAfterTheOther() {
    let targets = ["a", "b", "c"]
    var machine = RecorderStateMachine(Self.recorder(targets), at: moment(0))
    for target in targets.indices { _ = machine.handle(.state(target, up, since: nil), at: moment(1)) }
    var glanced: [Double] = []
    for target in targets.indices { _ = machine.handle(.state(target, down, since: nil), at: moment(10)) }
    // The first is explained.
    for _ in 0..<10 {
      let next = machine.nextTime
      let second = Double(next - moment(0).clock) / 1_000_000
      if names(machine.handle(.time, at: moment(second))).contains("glance") { glanced.append(second) }
    }
    #expect(glanced == [11])
  }

  @Test func sleepIsNoOutage() {
    var machine = machine
    _ = machine.handle(.state(0, up, since: nil), at: moment(1))
    #expect(names(machine.handle(.time, at: moment(30_000, slept: 29_900))) == ["sleep"])
    // The link goes while the machine falls asleep, which is learnt once it is awake, and is back soon after.
    let asleep = machine.handle(.state(0, down, since: moment(30_195).wall), at: moment(60_000, slept: 59_700))
    #expect(names(asleep) == ["begin", "sleep", "explain"])
    let awake = machine.handle(.state(0, up, since: nil), at: moment(60_005, slept: 59_700))
    guard case .write(let event)? = awake.first, case .end(_, _, let isWaking) = event.kind else {
      Issue.record("no end: \(awake)")
      return
    }
    #expect(isWaking)
    // An outage that goes on is one, and its sleep is subtracted.
    _ = machine.handle(.state(0, down, since: nil), at: moment(60_100, slept: 59_700))
    _ = machine.handle(.time, at: moment(70_000, slept: 69_500))
    let late = machine.handle(.state(0, up, since: nil), at: moment(70_100, slept: 69_500))
    guard case .write(let event)? = late.first, case .end(let outage, _, false) = event.kind else {
      Issue.record("no end: \(late)")
      return
    }
    #expect(event.at.awake(since: outage.began) == 200_000_000)
  }

  @Test func aClockThatIsSetIsNoOutage() {
    var machine = machine
    _ = machine.handle(.state(0, up, since: nil), at: moment(1))
    for (second, step) in [(10, 1_000_000.0), (20, -3_000_000), (30, 0)] {
      #expect(names(machine.handle(.time, at: moment(Double(second), step: step))) == ["clock"])
    }
  }

  @Test func aRestartInOneBootGoesOn() throws {
    let outage = OpenOutage(target: "a", began: moment(10), reason: "no-carrier", words: "w")
    var machine = RecorderStateMachine(
      Self.recorder(), previous: ["a": outage], previousEnd: moment(20), at: moment(25))
    let actions = machine.handle(.state(0, down, since: nil), at: moment(26))
    guard case .write(let event)? = actions.first, case .begin(let continued, true) = event.kind else {
      throw DidNotHappen("the outage goes on: \(actions)")
    }
    #expect(continued.began == moment(10) && continued.unwatched == 6_000_000)
    var other = RecorderStateMachine(Self.recorder(), previous: ["a": outage], previousEnd: moment(20), at: moment(25))
    #expect(names(other.handle(.state(0, up, since: nil), at: moment(26))) == ["up", "learn"])
  }

  /// Whatever comes in whatever order, the log makes outages that do not overlap, and none is longer than the time.
  @Test(arguments: 0..<12)
  func randomInputsMakeASoundJournal(seed: Int) {
    var numbers = SeededNumbers(seed: UInt64(seed))
    var machine = RecorderStateMachine(Self.recorder(["a", "b"]), at: moment(0))
    var events = [machine.start]
    var (now, slept, step) = (0.0, 0.0, 0.0)
    for _ in 0..<400 {
      now += Double.random(in: 0...100, using: &numbers)
      if Int.random(in: 0..<20, using: &numbers) == 0 {
        let span = Double.random(in: 1...10_000, using: &numbers)
        (now, slept) = (now + span, slept + span)
      }
      if Int.random(in: 0..<20, using: &numbers) == 0 { step = Double.random(in: -100_000...100_000, using: &numbers) }
      let at = moment(now, slept: slept, step: step)
      let target = Int.random(in: 0...1, using: &numbers)
      let input: RecorderStateMachine.Input =
        switch Int.random(in: 0..<6, using: &numbers) {
        case 0: .state(target, up, since: at.wall - Int64.random(in: -1_000_000...20_000_000, using: &numbers))
        case 1: .state(target, down, since: nil)
        case 2: .state(target, .unknown(reason: nil), since: nil)
        case 3: .path(NetworkSummary(status: "satisfied", interface: "i\(Int.random(in: 0...3, using: &numbers))"))
        case 4: .explained(target, explanation(.router))
        default: .time
        }
      for case .write(let event) in machine.handle(input, at: at) { events.append(event) }
    }
    #expect(zip(events, events.dropFirst()).allSatisfy { $0.at.clock <= $1.at.clock })
    let read = events.compactMap { JournalEvent(line: $0.line.dropLast()) }
    #expect(read.count == events.count)
    let outages = OutageLog.outages(read)
    #expect(outages.allSatisfy { $0.lasted >= 0 && $0.lasted <= Int64((now - slept) * 1_000_000) + 1 })
    for target in ["a", "b"] {
      let sum = outages.filter { $0.target == target }.reduce(0) { $0 + $1.lasted }
      #expect(sum <= Int64((now - slept) * 1_000_000) + 1)
    }
  }
}
