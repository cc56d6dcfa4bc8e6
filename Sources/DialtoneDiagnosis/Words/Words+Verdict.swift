// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites

extension Words {
  func tell(_ conclusion: Conclusion, in verdict: inout DiagnosisVerdict) {
    (verdict.steps, verdict.works, verdict.others) = (readings.map(step), works, others)
    switch conclusion {
    case .works(let success):
      verdict.summary = summary(success)
      verdict.details += silentPorts(success)
      if let proxy = readings.map(\.finding).proxy(.delivers) {
        verdict.details.append("The proxy \(proxy.server) led there (\(proxy.variable)).")
      }
    case .wrong(let charge, let ground):
      verdict.summary = summary(charge, ground)
      if let beside = ground.beside, let family = beside.family {
        verdict.details.append("\(Self.name(family)) does not work either: \(text(beside)).")
      }
      if let success = ground.success { verdict.details.append(doubt(success)) }
      if isPinned, charge.cause == .hostAbsent || [.connect, .http, .tls].contains(ground.reading.kind) {
        verdict.details.append("The address of the target is that of /etc/hosts: see whether it is still right.")
      }
      if let found = searched { verdict.details.append("By a search domain of /etc/resolv.conf it is \(found).") }
      if charge.cause == .routerNoRoute, !isFarHeard { verdict.details.append("The router's uplink is probably down.") }
      let cause = charge.cause == .familyBroken ? ground.reading.charge?.cause ?? charge.cause : charge.cause
      verdict.advice = silentRouters(ground.reading) == nil ? advice(on: cause, ground.reading) : Advice.onRouter
    case .unknown(let unknown):
      verdict.summary = summary(unknown)
      verdict.advice = advice(unknown)
    }
  }

  /// Other ports that the target was asked at, and that say nothing: a filter may be why.
  private func silentPorts(_ success: Success) -> [String] {
    guard case .connection(let address, let port, _) = success.kind else { return [] }
    return readings.compactMap(\.finding.connection).flatMap(\.attempts)
      .filter { $0.address == address && $0.port != port && $0.outcome == .silent }
      .map { "Its port \($0.port) does not answer." }
  }

  /// Whether the target has its address of hosts(5), which may be an old one.
  private var isPinned: Bool {
    readings.filter { $0.meaning == .name(.found) }.compactMap(\.finding.name).contains { name in
      name.source == .hosts && !name.addresses.contains(where: \.isLoopback)
    }
  }

  /// As what a search domain has the target's name found, if it has.
  private var searched: String? {
    readings.lazy.compactMap(\.finding.name).compactMap { name in
      name.foundAs.flatMap { $0.hasPrefix("\(name.name).") ? $0 : nil }
    }.first
  }

  // MARK: Summaries

  private func summary(_ success: Success) -> String {
    switch success.kind {
    case .site(let verdict):
      // An error of the site itself is none of the network.
      "Nothing is wrong\((verdict.status ?? 0) >= 400 ? " with the network" : ""): \(verdict.url.authority) answers"
        + "\(verdict.status.map { " \($0)" } ?? "")."
    case .connection(let address, let port, let milliseconds):
      "Nothing is wrong: \(Self.endpoint(address, port)) answers in \(Self.time(milliseconds))."
    case .beyond(let server): "The Internet is reachable: the root server \(server) answers."
    }
  }

  private func summary(_ charge: Charge, _ ground: Conclusion.Ground) -> String {
    if let family = ground.brokenFamily {
      let other: IPAddress.Family = family == .ipv4 ? .ipv6 : .ipv4
      return "\(Self.name(family)) does not work, and \(Self.name(other)) does: \(text(ground.reading))."
    }
    switch charge.cause {
    case .uplinkDown where goal == .internet: return "The Internet is not reachable beyond \(last(ground))."
    case .uplinkDown: return "Nothing beyond \(last(ground)) answers, so \(target) is not reachable."
    case .routerNoRoute where ground.success == nil:
      switch ground.reading.meaning {
      case .beyond(.routerSays(let statement)), .connection(.statement(let statement), _),
        .name(.only(.refused(let statement), _)):
        return "\(Self.capitalised(subject)) is not reachable: the router \(statement.sender) says "
          + "\(Self.text(statement))."
      default: break
      }
    default:
      guard let servers = silentRouters(ground.reading) else { break }
      return "No name can be looked up: your router answers, but the name server on it (DNS, \(Self.list(servers))) "
        + "does not."
    }
    return Self.capitalised(prefix(ground.reading) + text(ground.reading)) + (consequence(ground.reading) ?? "") + "."
  }

  /// What does not work, if the Internet was asked about, which answers by address.
  private func prefix(_ reading: Reading) -> String {
    guard goal == .internet, reading.kind == .name, reading.isFault else { return "" }
    if reading.charge?.cause == .nameHijacked { return "names lead astray: " }
    if reading.charge?.cause == .unreliable { return "names cannot be looked up at times: " }
    // Some know a few names all the same.
    let isHeard = reading.finding.name?.servers.contains(where: \.hasAnswered) == true
    return isHeard ? "names of the Internet cannot be looked up: " : "no name can be looked up: "
  }

  /// What a fault means to who does not know what such a part is for.
  private func consequence(_ reading: Reading) -> String? {
    switch reading.finding {
    case .kernel where reading.isForeignSource: "; nobody answers, and may have no way back to it"
    case .kernel where reading.kind == .neighbour && !reading.isFault && reading.charge != nil:
      ", and gets a share of all connections"
    case .kernel where goal == .internet && [.address, .neighbour].contains(reading.kind):
      ", so the Internet is not reachable"
    case .name where reading.meaning == .name(.silent) && goal != .internet: ", so that no name can be looked up"
    default: nil
    }
  }

  private func doubt(_ success: Success) -> String {
    switch success.kind {
    case .site(let verdict): "Yet \(verdict.url.authority) answered a check."
    case .connection(let address, let port, _): "Yet \(Self.endpoint(address, port)) takes connections."
    case .beyond(let server): "Yet the Internet itself answers: the root server \(server)."
    }
  }

  private func summary(_ unknown: Conclusion.Unknown) -> String {
    switch unknown {
    case .nothingFound: "Nothing was found out."
    case .timeIsUp(let kind): "It ended before \(missing(kind))."
    case .beyondUnknown(let wasAsked):
      readings.map(\.finding).proxy(.connects).map {
        "The proxy \($0.server), which programs use (\($0.variable)), is there. Whether it leads on is unknown."
      } ?? "Nothing wrong was found up to \(router). What lies beyond it is unknown: "
        + (wasAsked ? "the root servers do not answer, and a filter may be why." : "nobody there was asked.")
    case .doubt(let reading): Self.capitalised(text(reading)) + "."
    case .untried: "Whether \(target) answers is not known."
    }
  }

  private func advice(_ unknown: Conclusion.Unknown) -> String? {
    switch unknown {
    case .beyondUnknown, .doubt: goal == .internet ? "Name a site: dialtone explain https://example.com/" : nil
    case .timeIsUp: "Give it more time: dialtone explain --timeout 20 \(Advice.shell(target))"
    default: nil
    }
  }

  /// What had not happened when the time was up, or when somebody ended it.
  private func missing(_ kind: DiagnosisStep.Kind) -> String {
    switch kind {
    case .neighbour: "the router or the neighbour had answered"
    case .portal: "it was clear whether the network wants a login"
    case .beyond: "anybody beyond the router had answered"
    case .name: "a name server had answered"
    case .proxy: "the proxy had answered"
    case .connect: "the target had taken a connection"
    case .pathMTU: "large packets had been tried"
    case .tls, .http: "the site had answered"
    default: "the \(kind) had been looked at"
    }
  }

  /// The target as the subject of a sentence. It begins with a word of ours.
  private var subject: String { goal == .internet ? "the Internet" : "the target \(target)" }

  /// The last one on the way that answers.
  private func last(_ ground: Conclusion.Ground) -> String {
    if case .beyond(.cutBehind(let last)) = ground.reading.meaning { "\(last) (beyond your router)" } else { router }
  }

  private var router: String { routers.first.map { "your router \($0)" } ?? "your router" }

  /// The addresses that routers of this machine answer at.
  var routers: [IPAddress] { readings.compactMap(\.finding.router) }

  /// The name servers of a reading that says that they are silent, if all of them are routers that answer.
  private func silentRouters(_ reading: Reading) -> [IPAddress]? {
    guard case .name(.silent) = reading.meaning, case .name(let name) = reading.finding else { return nil }
    let (servers, routers) = (name.servers.map(\.address), routers)
    return !servers.isEmpty && servers.allSatisfy(routers.contains) ? servers : nil
  }

  static func capitalised(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

  // MARK: What works, and what else does not

  private var works: [String] {
    var words: [String] = []
    func add(_ text: String) { if !words.contains(text) { words.append(text) } }
    for reading in readings where reading.outcome == .ok {
      switch reading.finding {
      case .kernel(let kernel):
        switch kernel.result {
        case .link(.works(let name)): add("\(name) up")
        case .address(.works(let own)): add(Facts.prefix(own, kernel.evidence))
        case .route(.leads(let gateway?, _)): add("default via \(gateway)")
        case .neighbour(.answers(let address, isGateway: true)): add("router \(address) answers")
        default: continue
        }
      case .beyond: add("the Internet answers")
      case .name(let name):
        let known = "\(name.foundAs ?? name.name) is \(Self.list(name.addresses))"
        add(goal == .internet ? "name server answers" : known)
      case .connection, .site: if reading.kind != .pathMTU { add(text(reading)) }
      default: continue
      }
    }
    return words
  }

  private var others: [String] {
    readings.filter(isUnused).compactMap(\.family)
      .map { "\(Self.name($0)) is not set up on this machine (not counted)" }
  }

  /// Whether a fault says that this machine does not use a family, while the router of the other one answers.
  func isUnused(_ reading: Reading) -> Bool {
    guard case .kernel(let kernel) = reading.finding, reading.isFault else { return false }
    let families = Set(readings.filter { $0.outcome == .ok && $0.kind == .neighbour }.compactMap(\.family))
    switch kernel.result {
    case .address(.missing), .address(.linkLocal), .route(.missing):
      return !families.isEmpty && !families.contains(kernel.target.family)
    default: return false
    }
  }
}

extension DiagnosisVerdict {
  /// Judges findings by the rules of every diagnosis. Pure.
  ///
  /// - Parameters:
  ///   - target: What was asked about, as text.
  ///   - goal: What would have to succeed.
  ///   - findings: What was found.
  ///   - elapsed: How long it took.
  public init(of target: String, goal: DiagnosisGoal, findings: [Finding], elapsed: Duration = .zero) {
    let latest = findings.enumerated().filter { !$0.element.isRepeated(in: findings[($0.offset + 1)...]) }
    let sorted = DiagnosisStep.Kind.all.flatMap { kind in latest.map(\.element).filter { $0.step == kind } }
      .compared
    let readings = Reading.readings(sorted)
    let conclusion = VerdictRules.conclude(goal, sorted, readings)
    self.init(
      target: target, charge: conclusion.charge, success: conclusion.success, findings: sorted, elapsed: elapsed)
    Words(target: target, goal: goal, readings: readings).tell(conclusion, in: &self)
  }
}
