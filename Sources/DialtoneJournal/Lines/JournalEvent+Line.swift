// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// An event as a line of JSON, its keys in a fixed order. What is not known is left out. Times are RFC 3339 in UTC,
/// spans and the clocks are microseconds.
extension JournalEvent {
  /// The line, with its end.
  package var line: [UInt8] {
    JSONText.object { text in
      text.field("time", WallTime.text(at.wall))
      text.field("event", name)
      writeBody(&text)
      text.field("clock", at.clock)
      text.field("slept", at.slept)
    } + [0x0A]
  }

  /// The word by which the kind is told from the others.
  package var name: String {
    switch kind {
    case .start: "start"
    case .file: "file"
    case .stop: "stop"
    case .alive: "alive"
    case .up: "up"
    case .unknown: "unknown"
    case .begin: "begin"
    case .cause: "cause"
    case .end: "end"
    case .path: "path"
    case .sleep: "sleep"
    case .clock: "clock"
    }
  }

  private func writeBody(_ text: inout JSONText) {
    switch kind {
    case .start(let recorder): write(recorder, &text)
    case .file(let recorder, let targets, let path):
      write(recorder, &text)
      text.key("states")
      text.array { text in for target in targets { text.object { write(target, &$0) } } }
      if let path {
        text.key("path")
        text.object { write(path, &$0) }
      }
    case .stop(let reason): text.field("reason", reason)
    case .alive: break
    case .up(let target): text.field("target", target)
    case .unknown(let target, let reason):
      text.field("target", target)
      text.fieldIfAny("reason", reason)
    case .begin(let outage, let isContinued):
      if isContinued { text.field("continued", true) }
      write(outage, withSteps: false, &text)
    case .cause(let outage): write(outage, withSteps: true, &text)
    case .end(let outage, let how, let isWaking):
      write(outage, withSteps: false, &text)
      text.field("how", how)
      text.field("lasted", max(0, at.awake(since: outage.began) - outage.unwatched))
      if isWaking { text.field("waking", true) }
    case .path(let path): write(path, &text)
    case .sleep(let span): text.field("lasted", span)
    case .clock(let step): text.field("step", step)
    }
  }

  private func write(_ recorder: Recorder, _ text: inout JSONText) {
    text.field("version", recorder.version)
    text.field("boot", recorder.boot)
    text.field("targets", recorder.targets)
  }

  private func write(_ status: TargetStatus, _ text: inout JSONText) {
    switch status {
    case .up(let target):
      text.field("state", "up")
      text.field("target", target)
    case .unknown(let target):
      text.field("state", "unknown")
      text.field("target", target)
    case .down(let outage):
      text.field("state", "down")
      write(outage, withSteps: false, &text)
    }
  }

  private func write(_ outage: OpenOutage, withSteps: Bool, _ text: inout JSONText) {
    text.field("target", outage.target)
    // Where the wall clock of now puts it.
    text.field("began", WallTime.text(at.wall(of: outage.began)))
    text.field("beganClock", outage.began.clock)
    text.field("beganSlept", outage.began.slept)
    if outage.unwatched > 0 { text.field("unwatched", outage.unwatched) }
    text.fieldIfAny("reason", outage.reason)
    text.field("words", outage.words)
    if outage.wasFirst { text.field("first", true) }
    text.field("layer", outage.layer.rawValue)
    text.fieldIfAny("unexplained", outage.unexplained?.rawValue)
    guard let explanation = outage.explanation else { return }
    text.fieldIfAny("cause", explanation.cause)
    text.field("confidence", explanation.confidence)
    text.field("summary", explanation.summary)
    text.fieldIfAny("advice", explanation.advice)
    text.fieldIfAny("sharedFrom", explanation.sharedFrom)
    if withSteps { text.steps(explanation.steps, leavesOut: true) }
  }

  private func write(_ path: NetworkSummary, _ text: inout JSONText) {
    text.field("status", path.status)
    text.fieldIfAny("interface", path.interface)
    text.fieldIfAny("kind", path.kind)
    text.fieldIfAny("reason", path.reason)
  }
}

extension JSONText {
  /// The steps of an explanation. A family that is not known is left out, or `null`.
  mutating func steps(_ steps: [Explanation.Step], leavesOut: Bool) {
    key("steps")
    array { text in
      for step in steps {
        text.object { text in
          text.field("step", step.step)
          if !leavesOut || step.family != nil { text.field("family", step.family) }
          text.field("outcome", step.outcome)
          text.field("text", step.text)
        }
      }
    }
  }
}

extension JournalEvent {
  /// Reads a line without its end; `nil` if it is torn, or no event of ours.
  package init?(line: ArraySlice<UInt8>) {
    guard let value = JSONValue(line: line), let wall = value["time"]?.text.flatMap(WallTime.microseconds),
      let clock = value["clock"]?.span, let slept = value["slept"]?.span,
      let kind = Self.kind(value, at: Moment(wall: wall, clock: clock, slept: slept))
    else { return nil }
    self.init(kind, at: Moment(wall: wall, clock: clock, slept: slept))
  }

  private static func kind(_ value: JSONValue, at: Moment) -> Kind? {
    let target = value["target"]?.text
    switch value["event"]?.text {
    case "start": return recorder(value).map(Kind.start)
    case "file":
      guard let recorder = recorder(value), let states = value["states"]?.list else { return nil }
      return .file(recorder, states.compactMap { status($0, at) }, value["path"].flatMap(path))
    case "stop": return value["reason"]?.text.map { .stop(reason: $0) }
    case "alive": return .alive
    case "up": return target.map { .up(target: $0) }
    case "unknown": return target.map { .unknown(target: $0, reason: value["reason"]?.text) }
    case "begin": return outage(value, at).map { .begin($0, isContinued: value["continued"] == .flag(true)) }
    case "cause": return outage(value, at).map(Kind.cause)
    case "end":
      guard let outage = outage(value, at), let how = value["how"]?.text else { return nil }
      return .end(outage, how: how, isWaking: value["waking"] == .flag(true))
    case "path": return path(value).map(Kind.path)
    case "sleep":
      guard let span = value["lasted"]?.span, (0...max(0, at.clock)).contains(span) else { return nil }
      return .sleep(span)
    case "clock": return value["step"]?.span.map(Kind.clock)
    default: return nil
    }
  }

  private static func recorder(_ value: JSONValue) -> Recorder? {
    guard let boot = value["boot"]?.text, let targets = value["targets"]?.list else { return nil }
    return Recorder(version: value["version"]?.text ?? "", boot: boot, targets: targets.compactMap(\.text))
  }

  private static func status(_ value: JSONValue, _ at: Moment) -> TargetStatus? {
    guard let target = value["target"]?.text else { return nil }
    switch value["state"]?.text {
    case "up": return .up(target: target)
    case "down": return outage(value, at).map(TargetStatus.down)
    default: return .unknown(target: target)
    }
  }

  private static func outage(_ value: JSONValue, _ at: Moment) -> OpenOutage? {
    guard let target = value["target"]?.text, let began = value["began"]?.text.flatMap(WallTime.microseconds),
      let clock = value["beganClock"]?.span, let slept = value["beganSlept"]?.span,
      let unwatched = (value["unwatched"] ?? .number(0)).span, let words = value["words"]?.text,
      // An outage began since the machine started, and before its line.
      (0...max(0, at.clock)).contains(clock), (0...max(0, at.clock - clock)).contains(unwatched)
    else { return nil }
    let layer = value["layer"]?.text.flatMap { OutageLayer(rawValue: $0) }
    let explanation = value["confidence"]?.text.map { confidence in
      Explanation(
        cause: value["cause"]?.text, confidence: confidence, layer: layer ?? .unknown,
        summary: value["summary"]?.text ?? words, advice: value["advice"]?.text,
        steps: value["steps"]?.list?.compactMap(step) ?? [], sharedFrom: value["sharedFrom"]?.text)
    }
    var outage = OpenOutage(
      target: target, began: Moment(wall: began, clock: clock, slept: slept),
      unwatched: unwatched, reason: value["reason"]?.text, words: words, wasFirst: value["first"] == .flag(true),
      explanation: explanation)
    if outage.layer != layer { outage.statedLayer = layer }
    outage.unexplained = value["unexplained"]?.text.flatMap { OpenOutage.Unexplained(rawValue: $0) }
    return outage
  }

  private static func step(_ value: JSONValue) -> Explanation.Step? {
    guard let step = value["step"]?.text, let outcome = value["outcome"]?.text, let text = value["text"]?.text
    else { return nil }
    return Explanation.Step(step: step, family: value["family"]?.text, outcome: outcome, text: text)
  }

  private static func path(_ value: JSONValue) -> NetworkSummary? {
    value["status"]?.text.map {
      NetworkSummary(
        status: $0, interface: value["interface"]?.text, kind: value["kind"]?.text, reason: value["reason"]?.text)
    }
  }
}
