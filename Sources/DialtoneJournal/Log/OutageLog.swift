// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Reads events in their order, and finds what was up and down when. Pure, and as large as the targets are many.
package struct OutageLog {
  /// What is known once a span is over. Times are those of the wall clock, in microseconds.
  package enum Finding: Equatable, Sendable {
    /// A target was in a state, as far as somebody watched and the machine was awake.
    case watched(String, WatchedState, from: Int64, to: Int64)
    case path(NetworkSummary, from: Int64, to: Int64)
    case asleep(from: Int64, to: Int64)
    case outage(Outage)
  }

  package enum WatchedState: Sendable {
    case up
    case down
    /// Watched, and not known.
    case unknown
  }

  private struct Track {
    var status: JournalEvent.TargetStatus
    var since: Moment
  }

  private var tracks: [String: Track] = [:]
  /// Outages that were open when their recorder ended, and its end. Another one may go on with them.
  private var left: [String: (outage: OpenOutage, end: Moment)] = [:]
  /// When what is open was seen, by `Moment.clock`.
  private var seen: [String: [Range<Int64>]] = [:]
  private var path: (summary: NetworkSummary, since: Moment)?
  private var last: Moment?
  private var boot: String?
  private let emit: (Finding) -> Void

  /// - Parameter emit: Is called with each finding. Those of one target come in their order.
  package init(emit: @escaping (Finding) -> Void) { self.emit = emit }

  package var open: [String: OpenOutage] {
    tracks.compactMapValues { if case .down(let outage) = $0.status { outage } else { nil } }
      .merging(left.mapValues(unwatched)) { own, _ in own }
  }

  /// What was left open, and has been watched by nobody until the last event.
  private func unwatched(_ left: (outage: OpenOutage, end: Moment)) -> OpenOutage {
    var outage = left.outage
    outage.unwatched += last?.awake(since: left.end) ?? 0
    return outage
  }

  /// The boot of the last recorder, and its last event.
  package var end: (boot: String, at: Moment)? { boot.flatMap { boot in last.map { (boot, $0) } } }

  package mutating func take(_ event: JournalEvent) {
    let at = event.at
    switch event.kind {
    case .start(let recorder):
      closeRun()
      if recorder.boot != boot { cutLeft() }
      begin(recorder, recorder.targets.map { .unknown(target: $0) }, at)
    case .file(let recorder, let states, let summary):
      // It only matters to who has not read the file before.
      if recorder.boot != boot || tracks.isEmpty {
        closeRun()
        if recorder.boot != boot { cutLeft() }
        for case .down(let outage) in states {
          // All of it was watched, unless it says otherwise, or has slept.
          let isWhole = outage.unwatched == 0 && abs(at.slept - outage.began.slept) < WallTime.second
          if isWhole { setUnreadBegin(of: outage) } else { cutLeft(outage.target, unless: outage) }
        }
        begin(recorder, states, at)
        path = summary.map { ($0, at) }
      }
    case .stop:
      last = at
      closeRun()
    case .alive, .clock: break
    case .up(let target):
      leave(target)
      set(.up(target: target), at)
      cutLeft(target)
    case .unknown(let target, _):
      leave(target)
      set(.unknown(target: target), at)
    case .begin(let outage, let isContinued):
      leave(outage.target)
      cutLeft(outage.target, unless: outage)
      // It may have begun before that was known.
      set(.down(outage), isContinued ? at : outage.began)
    case .cause(let outage):
      if case .down(let known)? = tracks[outage.target]?.status, known.began.clock == outage.began.clock {
        tracks[outage.target]?.status = .down(outage)
      }
    case .end(let outage, let how, let isWaking): end(outage, how, isWaking, at)
    case .path(let summary):
      closePath(at)
      path = (summary, at)
    case .sleep(let span): sleep(span, at)
    }
    last = at
  }

  /// A line cannot be read: any outage may have ended there. Or a file is missing, or cannot be read.
  package mutating func skip(isFile: Bool) {
    if isFile { closeRun() } else { for target in tracks.keys.sorted() { leave(target) } }
  }

  /// Tells what is left. `now` is the present moment if a recorder is still there; without it, its last event is all
  /// that is known. So it is if the recorder, which writes every five minutes, has not written for ten.
  package mutating func finish(now: Moment?) {
    if let now, let last, (0...2 * RecorderStateMachine.heartbeat).contains(now.clock - last.clock), !tracks.isEmpty {
      closeSpans(now)
      for case .down(let outage) in tracks.values.map(\.status) { tell(outage, at: now, .open) }
      (tracks, path) = ([:], nil)
    }
    closeRun()
    cutLeft()
  }

  private mutating func begin(
    _ recorder: JournalEvent.Recorder, _ states: [JournalEvent.TargetStatus], _ at: Moment
  ) {
    boot = recorder.boot
    for state in states { tracks[state.target] = tracks[state.target] ?? Track(status: state, since: at) }
  }

  /// Ends a run at its last event.
  private mutating func closeRun() {
    guard let last else { return }
    closeSpans(last)
    for (target, track) in tracks {
      if case .down(let outage) = track.status { left[target] = (outage, last) }
    }
    tracks = [:]
    path = nil
  }

  private mutating func cutLeft() { for target in left.keys.sorted() { cutLeft(target) } }

  /// Cuts what was left of a target, unless it is this outage, which goes on.
  private mutating func cutLeft(_ target: String, unless outage: OpenOutage? = nil) {
    guard let (known, end) = left.removeValue(forKey: target), known.began.clock != outage?.began.clock else { return }
    tell(known, at: end, .cut)
  }

  private mutating func tell(_ outage: OpenOutage, at end: Moment, _ ending: Outage.Ending) {
    emit(.outage(Outage(outage, at: end, ending, seen: seen.removeValue(forKey: outage.target) ?? [])))
  }

  /// What has become of an outage since the last event is not known.
  private mutating func leave(_ target: String) {
    guard let last, let track = tracks[target], case .down(let outage) = track.status else { return }
    left[target] = (outage, last)
    set(.unknown(target: target), last)
  }

  private mutating func set(_ status: JournalEvent.TargetStatus, _ at: Moment) {
    if let track = tracks[status.target] { emitSpan(status.target, track, at) }
    tracks[status.target] = Track(status: status, since: at)
  }

  private mutating func end(_ outage: OpenOutage, _ how: String, _ isWaking: Bool, _ at: Moment) {
    var outage = outage
    if case .down(let known)? = tracks[outage.target]?.status, known.began.clock == outage.began.clock {
      // The line of the end leaves the steps to the one of the cause.
      if let steps = known.explanation?.steps { outage.explanation?.steps = steps }
    } else {
      setUnreadBegin(of: outage)
    }
    if isWaking { tracks[outage.target]?.status = .unknown(target: outage.target) }
    set(.up(target: outage.target), at)
    if isWaking { seen[outage.target] = nil } else { tell(outage, at: at, .over(how)) }
  }

  /// The line of its beginning could not be read: its time does not count as up, too, nor does it end twice.
  private mutating func setUnreadBegin(of outage: OpenOutage) {
    leave(outage.target)
    var since = outage.began
    // What was before has been told.
    if let known = tracks[outage.target]?.since ?? left[outage.target]?.end, known.clock > since.clock { since = known }
    cutLeft(outage.target, unless: outage)
    set(.down(outage), since)
  }

  private mutating func sleep(_ span: Int64, _ at: Moment) {
    let before = at.earlier(by: span)
    closeSpans(before)
    emit(.asleep(from: before.wall, to: at.wall))
    for target in tracks.keys { tracks[target]?.since = at }
    path?.since = at
  }

  private mutating func closeSpans(_ at: Moment) {
    for (target, track) in tracks.sorted(by: { $0.key < $1.key }) { emitSpan(target, track, at) }
    closePath(at)
  }

  private mutating func closePath(_ at: Moment) {
    guard let (summary, since) = path, since.clock < at.clock else { return }
    emit(.path(summary, from: at.wall(of: since), to: at.wall))
  }

  private mutating func emitSpan(_ target: String, _ track: Track, _ at: Moment) {
    if track.since.clock >= at.clock { return }
    let state: WatchedState =
      switch track.status {
      case .up: .up
      case .unknown: .unknown
      case .down: .down
      }
    if state == .down { seen[target, default: []].append(track.since.clock..<at.clock) }
    emit(.watched(target, state, from: at.wall(of: track.since), to: at.wall))
  }
}
