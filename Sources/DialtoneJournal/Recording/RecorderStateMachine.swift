// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a recorder writes, and when it explains. Pure: event in, actions out.
///
/// - Each event lies at or after the one before it. Sleep and steps of the wall clock are noticed first.
/// - A target has at most one open outage. If the recorder is started anew in the same boot, it goes on with it.
package struct RecorderStateMachine: Sendable {
  package enum TargetState: Equatable, Sendable {
    case up(words: String)
    /// The layer is what is known before anything is explained, if it does not follow from the reason.
    case down(reason: String?, words: String, layer: OutageLayer? = nil)
    case unknown(reason: String?)
  }

  package enum Input: Equatable, Sendable {
    /// A target is in a state since then by the wall clock, if that is known.
    case state(Int, TargetState, since: Int64?)
    case path(NetworkSummary)
    /// What an explanation has come to; `nil` if to nothing.
    case explained(Int, Explanation?)
    /// What a glance has come to.
    case glanced(Int, Explanation)
    case time
    case stop(reason: String)
  }

  package enum Action: Equatable, Sendable {
    case write(JournalEvent)
    /// Explain the outage of this target, and hand in what it came to.
    case explain(Int)
    /// See what the kernel knows of the outage of this target, without sending anything, and hand in what it came to.
    case glance(Int)
    /// Nothing is wrong with this target now: look at the steps, to compare with later.
    case learn(Int)
  }

  private struct Track: Sendable {
    /// `nil` until something is known of it.
    var status: JournalEvent.TargetStatus?
    /// Since when it has this status.
    var since: Moment?
    var wantsExplanation = false
    /// Whether nobody has looked yet at what the kernel knows of the outage.
    var wantsGlance = false
    var explanations = 0
    /// When it may be explained again, by `Moment.clock`.
    var notBefore: Int64 = 0
    /// The last outage that has ended.
    var ended: OpenOutage?
    var open: OpenOutage? {
      get { if case .down(let outage)? = status { outage } else { nil } }
      set { if let newValue { status = .down(newValue) } }
    }
    /// When that began, by `Moment.clock`.
    var began: Int64 { open?.began.clock ?? .max }
    var rank: (Int, Int64) { (explanations, began) }
  }

  /// How long nothing is written at most, and in an outage at first.
  package static let heartbeat = 300 * WallTime.second
  private static let firstHeartbeat = 5 * WallTime.second
  /// A smaller difference is only the time between two readings of clocks.
  private static let sleepTolerance: Int64 = 100_000
  private static let stepTolerance: Int64 = 500_000
  /// A state is delivered within this time, or its own time is not believed. A site is told to be lost only after two
  /// checks.
  private static let longestDelivery = 60 * WallTime.second
  /// An outage that is over so soon after the machine has slept is its waking up.
  private static let waking = 30 * WallTime.second
  private static let wakingBegins = 10 * WallTime.second
  /// Reasons of a site to which packets do not come.
  private static let beyond = ["timed-out", "host-unreachable", "network-unreachable"]
  /// The reason of a site without a path.
  private static let offline = "offline"
  private static let glancePause = WallTime.second
  /// How much later than the outages that it makes a lost path may be told.
  private static let longestRace = WallTime.second
  /// How much later than a check over it a path that has come may be told.
  private static let pathDelivery = WallTime.second / 10

  private let recorder: JournalEvent.Recorder
  private var previous: [String: OpenOutage]
  private let previousEnd: Moment?
  private var tracks: [Track]
  private var path: NetworkSummary?
  /// Since when this machine has no path, if it had one.
  private var pathLost: Moment?
  /// When it last got one after it had none.
  private var pathCame: Moment?
  private var budget = ExplainBudget()
  private var explaining: Int?
  private var lastGlance = Int64.min
  private let begun: Moment
  private var seen: Moment
  private var lastWritten: Moment
  private var woke: Moment?
  /// What has come out of the present input so far.
  private var actions: [Action] = []

  /// `previous` are the outages that the recorder before has left open in the same boot, `previousEnd` its last event.
  package init(
    _ recorder: JournalEvent.Recorder, previous: [String: OpenOutage] = [:], previousEnd: Moment? = nil, at now: Moment
  ) {
    self.recorder = recorder
    self.previous = previous
    self.previousEnd = previousEnd
    tracks = recorder.targets.map { _ in Track() }
    (begun, seen, lastWritten) = (now, now, now)
  }

  /// The first event.
  package var start: JournalEvent { JournalEvent(.start(recorder), at: seen) }

  /// The first event of a file that begins meanwhile.
  package var header: JournalEvent {
    let states = zip(recorder.targets, tracks).map { target, track in track.status ?? .unknown(target: target) }
    return JournalEvent(.file(recorder, states, path), at: lastWritten)
  }

  /// How many targets are up; `nil` until each has been seen.
  package var status: String? {
    let up = tracks.count { if case .up? = $0.status { true } else { false } }
    return tracks.allSatisfy { $0.status != nil } ? "\(up) of \(tracks.count) reachable" : nil
  }

  /// When to hand in the time, by `Moment.clock`.
  package var nextTime: Int64 {
    let nextGlance = tracks.contains(where: \.wantsGlance) ? lastGlance + Self.glancePause : .max
    return min(nextLine, nextExplanation ?? .max, nextGlance)
  }

  /// When a line is due. Lines lie as far apart as the last outage is old: if the recorder is killed, half of that is
  /// known.
  private var nextLine: Int64 {
    let ages = tracks.compactMap { track in track.open.map { lastWritten.clock - $0.began.clock } }
    return lastWritten.clock + min(Self.heartbeat, max(Self.firstHeartbeat, ages.min() ?? .max))
  }

  package mutating func handle(_ input: Input, at now: Moment) -> [Action] {
    defer { actions = [] }
    let since = if case .state(_, _, let since) = input { since } else { Int64?.none }
    let (began, isBeforeSleep) = moment(of: since, now)
    if !isBeforeSleep { notice(now) }
    switch input {
    case .state(let target, let state, _): take(state, of: target, began, now)
    case .path(let summary): take(summary, now)
    case .explained(let target, let explanation):
      if explaining == target { explaining = nil }
      take(explanation, of: target, now)
    case .glanced(let target, let explanation):
      // An explanation says more. And a site that has answered was reached, whatever the kernel knows of the router.
      guard explanation.cause != nil, let outage = tracks[target].open, outage.explanation == nil,
        outage.layer != .site || explanation.layer == .site
      else { break }
      take(explanation, of: target, now)
    case .time: if nextLine <= now.clock { write(.alive, now) }
    case .stop(let reason): write(.stop(reason: reason), now)
    }
    if isBeforeSleep { notice(now) }
    scheduleExplanation(now)
    scheduleGlance(now)
    return actions
  }

  // MARK: Clocks

  /// When a state came about, by all clocks, and whether the machine has slept since.
  private func moment(of wall: Int64?, _ now: Moment) -> (Moment, isBeforeSleep: Bool) {
    let slept = now.slept - seen.slept
    guard let wall, abs(step(to: now)) <= Self.stepTolerance else { return (now, false) }
    let age = now.wall - wall
    let isBeforeSleep = slept > Self.sleepTolerance && age >= slept
    let delivery = isBeforeSleep ? age - slept : age
    guard (0...Self.longestDelivery).contains(delivery) else { return (now, false) }
    var moment = now.earlier(by: age)
    if isBeforeSleep { moment.slept = seen.slept }
    return (moment, isBeforeSleep)
  }

  private func step(to now: Moment) -> Int64 { now.wall - seen.wall - (now.clock - seen.clock) }

  private mutating func notice(_ now: Moment) {
    let slept = now.slept - seen.slept
    let step = step(to: now)
    seen = now
    if slept > Self.sleepTolerance {
      write(.sleep(slept), now)
      woke = now
    }
    if abs(step) > Self.stepTolerance { write(.clock(step), now) }
  }

  private mutating func write(_ kind: JournalEvent.Kind, _ at: Moment) {
    lastWritten = at
    actions.append(.write(JournalEvent(kind, at: at)))
  }

  // MARK: States

  private mutating func take(_ state: TargetState, of target: Int, _ began: Moment, _ now: Moment) {
    let name = recorder.targets[target]
    // Not before what was written.
    var at = began
    if at.clock < lastWritten.clock {
      at = now.earlier(by: now.clock - lastWritten.clock)
      at.slept = began.slept
    }
    switch (tracks[target].status, state) {
    case (.up, .up), (.unknown, .unknown): break
    case (.down(var outage), .down(let reason, let words, let layer)):
      // What it began with counts, unless that was nothing, or its path was about to be told to be lost.
      let isRace = reason == Self.offline && at.clock - outage.began.clock <= Self.longestRace
      if outage.reason == nil || isRace {
        (outage.reason, outage.words, outage.statedLayer) = (known(reason), words, layer)
        tracks[target].open = outage
      }
      tracks[target].wantsExplanation = true
    case (_, .down(let reason, let words, let layer)):
      var outage = OpenOutage(target: name, began: at, reason: known(reason), words: words)
      outage.statedLayer = layer
      open(target, outage, since: began, at)
    case (let before, .up(let words)):
      // The machine had no path, so an outage that was left open lasted until the path came.
      if before == nil, pathCame != nil, let left = previous[name] { open(target, left, since: at, at) }
      if let outage = tracks[target].open {
        close(outage, of: target, how: words, at)
      } else {
        write(.up(target: name), at)
      }
      previous[name] = nil
      (tracks[target].status, tracks[target].since) = (.up(target: name), at)
      actions.append(.learn(target))
    case (let before, .unknown(let reason)):
      if let outage = tracks[target].open { close(outage, of: target, how: "it is no longer known", at) }
      (tracks[target].status, tracks[target].since) = (.unknown(target: name), at)
      if before != nil { write(.unknown(target: name, reason: reason), at) }
    }
  }

  /// A site that is offline is so for the reason of the machine's path.
  private func known(_ reason: String?) -> String? {
    reason == Self.offline && path?.status == "unsatisfied" ? path?.reason ?? reason : reason
  }

  private mutating func open(_ target: Int, _ outage: OpenOutage, since began: Moment, _ at: Moment) {
    var outage = outage
    outage.wasFirst = tracks[target].status == nil
    let left = outage.wasFirst ? previous.removeValue(forKey: outage.target) : nil
    if let left, let previousEnd {
      outage = left
      outage.unwatched += at.awake(since: previousEnd)
    } else {
      // It may have begun before what was written last, though not before the target's last state, or asleep.
      outage.began = [began, begun, tracks[target].since, woke].compactMap(\.self).max { $0.clock < $1.clock } ?? at
    }
    let isExplained = outage.explanation != nil
    tracks[target] = Track(
      status: .down(outage), since: at, wantsExplanation: !isExplained, wantsGlance: !isExplained)
    write(.begin(outage, isContinued: left != nil), at)
    relate(target)
    // What explains another one of the same time explains this one, too.
    for other in tracks.compactMap(\.open) where other.explanation?.sharedFrom == nil {
      share(other, with: target, at)
    }
  }

  /// A name server that nobody reaches is not at fault if another target, whose name is known, is down, too, or was.
  private mutating func relate(_ target: Int) {
    for index in tracks.indices {
      guard let new = tracks[target].open, let old = tracks[index].open ?? tracks[index].ended,
        abs(old.began.clock - new.began.clock) <= Outage.together
      else { continue }
      for (name, other, position) in [(new, old, target), (old, new, index)]
      where name.isNameUnheard && other.layer != .nameServer && Self.beyond.contains(other.reason ?? "") {
        let layer = other.layer == .router ? OutageLayer.router : .provider
        tracks[position].open?.statedLayer = layer
        tracks[position].open?.explanation?.layer = layer
      }
    }
  }

  private mutating func close(_ outage: OpenOutage, of target: Int, how: String, _ at: Moment) {
    var outage = outage
    // One that is told with its end has had no turn either.
    let isOver = tracks[target].explanations > 0 || isOvertaken(outage) || tracks[target].since == at
    if outage.explanation == nil { outage.unexplained = isOver ? .over : .limit }
    let isShort = at.awake(since: outage.began) - outage.unwatched < Self.waking
    let hasSlept = at.slept - outage.began.slept > Self.sleepTolerance
    let hasWoken = woke.map { (0..<Self.wakingBegins).contains(outage.began.clock - $0.clock) } ?? false
    write(.end(outage, how: how, isWaking: isShort && (hasSlept || hasWoken)), at)
    tracks[target].ended = outage
    (tracks[target].wantsExplanation, tracks[target].wantsGlance) = (false, false)
  }

  private mutating func take(_ summary: NetworkSummary, _ at: Moment) {
    if path == summary { return }
    if summary.status == "satisfied" {
      pathLost = nil
      if path?.status == "unsatisfied" { pathCame = at }
    } else if path?.status == "satisfied" {
      pathLost = at
    }
    path = summary
    write(.path(summary), at)
    for target in tracks.indices {
      switch tracks[target].status {
      case .down: tracks[target].wantsExplanation = true
      case .up: actions.append(.learn(target))
      case nil, .unknown: break
      }
    }
  }

  // MARK: Explanations

  /// Whether this machine's path has come since the outage began: what kept it away stops no target that is asked now.
  private func hadNoPath(_ outage: OpenOutage) -> Bool {
    pathCame.map { outage.began.clock < $0.clock - Self.pathDelivery } ?? false
  }

  /// Whether this machine has lost its path since the outage began: then what is found now is not its cause.
  private func isOvertaken(_ outage: OpenOutage) -> Bool {
    pathLost.map { $0.clock - outage.began.clock > Self.longestRace } ?? false
  }

  private mutating func take(_ explanation: Explanation?, of target: Int, _ at: Moment) {
    guard let explanation, let outage = tracks[target].open,
      explanation.cause != nil || outage.explanation?.cause == nil,
      !(isOvertaken(outage) && [.machine, .link].contains(explanation.layer))
    else { return }
    tracks[target].open?.explanation = explanation
    relate(target)
    guard let related = tracks[target].open else { return }
    write(.cause(related), at)
    for other in tracks.indices where explaining != other { share(related, with: other, at) }
  }

  /// What stops one target likely stops the others that went down with it, except a site that has answered.
  private mutating func share(_ outage: OpenOutage, with target: Int, _ at: Moment) {
    guard var shared = outage.explanation, shared.cause != nil,
      [.machine, .link, .router, .provider].contains(shared.layer), var other = tracks[target].open,
      other.explanation == nil, other.layer != .site, abs(other.began.clock - outage.began.clock) <= Outage.together,
      !isOvertaken(other), hadNoPath(outage) == hadNoPath(other)
    else { return }
    shared.sharedFrom = outage.target
    shared.confidence = "likely"
    other.explanation = shared
    tracks[target].open = other
    tracks[target].wantsExplanation = false
    write(.cause(other), at)
  }

  /// What the kernel knows costs nobody anything: it is looked at for each outage that nothing else explains, one after
  /// the other.
  private mutating func scheduleGlance(_ now: Moment) {
    if lastGlance > now.clock - Self.glancePause { return }
    for (target, track) in tracks.enumerated() where explaining == target || track.open?.explanation != nil {
      tracks[target].wantsGlance = false
    }
    let waiting = tracks.indices.filter { tracks[$0].wantsGlance }
    guard let target = waiting.min(by: { tracks[$0].began < tracks[$1].began }) else { return }
    tracks[target].wantsGlance = false
    lastGlance = now.clock
    actions.append(.glance(target))
  }

  /// When the next explanation is due; `nil` if none is wanted, or one is under way.
  private var nextExplanation: Int64? {
    guard explaining == nil else { return nil }
    return tracks.filter(isExplainable).map(\.notBefore).min().map { max($0, budget.next(after: $0)) }
  }

  private func isExplainable(_ track: Track) -> Bool {
    track.wantsExplanation && track.open.map { !isOvertaken($0) } ?? false
  }

  /// Begins with the outage that was explained least, and of those the oldest.
  private mutating func scheduleExplanation(_ now: Moment) {
    guard explaining == nil, budget.next(after: now.clock) <= now.clock else { return }
    let due = tracks.indices.filter { tracks[$0].notBefore <= now.clock && isExplainable(tracks[$0]) }
    guard let target = due.min(by: { tracks[$0].rank < tracks[$1].rank }) else { return }
    explaining = target
    budget.begin(at: now.clock)
    tracks[target].wantsExplanation = false
    tracks[target].explanations += 1
    tracks[target].notBefore = now.clock + ExplainBudget.pause(after: tracks[target].explanations)
    actions.append(.explain(target))
  }
}
