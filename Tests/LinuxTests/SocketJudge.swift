// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import NetworkLab
import Testing

/// A target that is watched and compared.
struct JudgedTarget: CustomStringConvertible, Sendable {
  var address: String
  /// `nil` is any port, so one that no rule names.
  var port: UInt16?
  var transport = LabConnection.Transport.tcp
  var mark: UInt32 = 0
  var interface: String?
  var source: String?

  var isIPv6: Bool { address.contains(":") }

  var description: String {
    let options = [
      source.map { "from \($0)" }, mark == 0 ? nil : "mark \(mark)", interface.map { "oif \($0)" },
      "ipproto \(transport)",
      port.map { "dport \($0)" },
    ]
    return ([address] + options.compactMap { $0 }).joined(separator: " ")
  }

  func monitor(of monitors: LabMonitors) throws -> ReachabilityMonitor {
    let remote = try #require(IPAddress(address))
    let local = try source.map { try #require(IPAddress($0)) }
    let target: ReachabilityTarget =
      if let local { .address(remote, from: local, port: port) } else { .address(remote, port: port) }
    return monitors.monitor(target) {
      $0.mark = mark
      $0.interface = interface
      $0.transport = transport == .udp ? .udp : .tcp
      $0.usesNAT64 = false
    }
  }

  fileprivate func connection(over interface: String?) -> LabConnection {
    var connection = LabConnection(to: address)
    if let port { connection.port = port }
    connection.transport = transport
    connection.mark = mark
    connection.interface = interface
    connection.source = source
    // Packets would make the kernel ask for neighbours and then prefer routes by the answers, at times of its own.
    connection.isSilent = true
    return connection
  }
}

/// What a real socket finds: the errno of its connect(2), and the state of the link that its packets leave by.
///
/// The link and the gateway are those that `ip route get` gives for the lookups that connect(2) makes: in IPv4 with the
/// source of the socket, in IPv6 without it unless that fails.
struct SocketJudge {
  enum Verdict: CustomStringConvertible {
    case unreachable(String)
    /// The gateway is not compared if `ip` cannot be asked for it.
    case reachable(over: String, gateway: String?, isGatewayKnown: Bool = true)
    /// The verdict cannot be predicted: see `judge`.
    case unknown

    /// The interface by which packets leave.
    var interface: String? { if case .reachable(let name, _, _) = self { name } else { nil } }

    var isUnknown: Bool { if case .unknown = self { true } else { false } }

    func agrees(with state: Reachability) -> Bool {
      switch self {
      case .unknown: true
      case .unreachable: state.status == .unreachable && state.reason != nil && state.flags.isEmpty
      case .reachable(let name, let gateway, let isGatewayKnown):
        state.isReachable && state.reason == nil && state.interface?.name == name
          && (!isGatewayKnown || state.gateway?.description == gateway)
      }
    }

    var description: String {
      switch self {
      case .unknown: "unknown"
      case .unreachable(let why): "unreachable (\(why))"
      case .reachable(let name, let gateway, let isKnown):
        "reachable over \(name)\(gateway.map { " via \($0)" } ?? "")\(isKnown ? "" : " via what it may be")"
      }
    }
  }

  let verdicts: [Verdict]
  /// The answers, for a reader of the log.
  let words: [String]

  init(_ lab: NetworkLab, _ targets: [JudgedTarget]) throws {
    let links = try LinkStates(lab.ip("-oneline link").output)
    let rules = try lab.ip("rule").output + lab.ip("-6 rule").output
    let isSourceRuled = rules.split(separator: "\n").contains { !$0.contains("from all") }
    let interfaces = targets.map { $0.interface.flatMap(links.name) }
    let sockets = try targets.indices.map { position -> (error: Int32, source: String?)? in
      let target = targets[position]
      // There is no link to which a socket could be bound.
      if target.interface != nil, interfaces[position] == nil { return nil }
      return try lab.socket(target.connection(over: interfaces[position]))
    }
    // Two questions for each target, each in two forms: without a source, and with the source of the socket.
    let questions = targets.indices.map { position in
      var target = targets[position]
      target.interface = interfaces[position]
      let first = target
      if let source = sockets[position]?.source, source != "0.0.0.0", source != "::" { target.source = source }
      return [first, target]
    }
    let commands = questions.flatMap { $0.flatMap { ["route get fibmatch \($0)", "route get \($0)"] } }
    let answers = try lab.ip(batch: commands)
    var verdicts: [Verdict] = []
    var words: [String] = []
    for position in targets.indices {
      let four = (0..<4).map { answers[position * 4 + $0].map(RouteWords.init) }
      let socket = sockets[position]
      verdicts.append(
        Self.judge(
          targets[position], bound: interfaces[position], socket, first: (four[0], four[1]), second: (four[2], four[3]),
          links, isSourceRuled: isSourceRuled))
      let found = socket.map { $0.error == 0 ? "from \($0.source ?? "?")" : "\(LabError("", code: $0.error))" }
      words.append(
        "socket: \(found ?? "no link"), "
          + (0..<4).map { "\(answers[position * 4 + $0] ?? "none")" }
          .joined(separator: "; "))
    }
    self.verdicts = verdicts
    self.words = words
  }

  /// How the path differs from the verdicts.
  func differences(of path: NetworkPath, _ targets: [JudgedTarget], _ internet: [String]) -> [String] {
    func verdict(_ address: String, over name: String?) -> Verdict? { self.verdict(address, over: name, targets) }
    if internet.contains(where: { verdict($0, over: nil)?.isUnknown ?? true }) { return [] }
    var differences: [String] = []
    for (address, supports) in zip(internet, [path.supportsIPv4, path.supportsIPv6]) {
      let general = verdict(address, over: nil)?.interface
      if supports != (general != nil) { differences.append("\(address): \(path), but over \(general ?? "nothing")") }
      for interface in path.interfaces {
        // The interface carries packets that are bound to it, and perhaps packets that are bound to nothing.
        guard let bound = verdict(address, over: interface.name), !bound.isUnknown else { continue }
        let leads = bound.interface != nil || general == interface.name
        if leads != (address.contains(":") ? interface.supportsIPv6 : interface.supportsIPv4) {
          differences.append("\(address) over \(interface.name): \(path), but \(bound)")
        }
      }
    }
    let first = internet.lazy.compactMap { verdict($0, over: nil)?.interface }.first
    if path.preferredInterface?.name != first { differences.append("\(path), but \(first ?? "nothing") is preferred") }
    return differences
  }

  /// How the path over one interface differs from the verdicts.
  func differences(
    of path: NetworkPath, over name: String, _ targets: [JudgedTarget], _ internet: [String]
  ) -> [String] {
    let leads = internet.map { verdict($0, over: name, targets) }
    if leads.contains(where: { $0?.isUnknown ?? true }) { return [] }
    return zip(leads, [path.supportsIPv4, path.supportsIPv6]).compactMap { verdict, supports in
      supports == (verdict?.interface != nil) ? nil : "over \(name) alone: \(path), but \(leads)"
    }
  }

  private func verdict(_ address: String, over name: String?, _ targets: [JudgedTarget]) -> Verdict? {
    targets.firstIndex {
      $0.address == address && $0.interface == name && $0.mark == 0 && $0.source == nil && $0.port == nil
    }.map { verdicts[$0] }
  }

  private typealias Answers = (match: RouteWords?, plain: RouteWords?)

  private static func judge(
    _ target: JudgedTarget, bound: String?, _ socket: (error: Int32, source: String?)?, first: Answers, second: Answers,
    _ links: LinkStates, isSourceRuled: Bool
  ) -> Verdict {
    guard let socket else { return .unreachable("no such link") }
    if socket.error != 0 { return .unreachable("\(LabError("connect", code: socket.error))") }
    guard let source = socket.source, !["0.0.0.0", "::", "::1"].contains(source) || target.address == source
    else { return .unreachable("no usable source") }
    // A neighbour can answer to it, and nobody else.
    let isLinkLocal = source.hasPrefix("fe80:")
    // The first lookup's hop decides the source, and so which rules the second lookup meets.
    if !target.isIPv6, isSourceRuled, first.match.map({ $0.hops.count > 1 }) ?? false { return .unknown }
    // IPv6 looks up again only after a failure.
    let isFirst = target.isIPv6 && first.match != nil && first.plain != nil
    // The match of an IPv4 multicast address fails with a source: no route is used then.
    let isOfMany = !target.isIPv6 && first.match?.kind == "multicast"
    let answers: Answers = isFirst ? first : isOfMany ? (second.plain, second.plain) : second
    if let bound, target.isIPv6, answers.plain?.value(after: "dev") != bound {
      if isLinkLocal { return .unknown }
      // With a source, `ip` does not keep to the link, but the socket is bound to it.
      return links.isUsable(bound) ? .reachable(over: bound, gateway: nil, isGatewayKnown: false) : .unreachable("link")
    }
    // Without a route, a bound IPv4 socket takes any address for one on the link: no way that anybody configured.
    guard let match = answers.match, answers.plain != nil else { return .unreachable("no route, taken for on-link") }
    if ["local", "anycast"].contains(match.kind) {
      return links.isUsable("lo") ? .reachable(over: "lo", gateway: nil) : .unreachable("lo is down")
    }
    for hop in match.hops {
      guard let name = hop.value(after: "dev"), bound == nil || bound == name else { continue }
      if hop.contains("dead") || hop.contains("linkdown") || !links.isUsable(name) { continue }
      let isUnicast = match.kind != "multicast" && match.kind != "broadcast"
      // "via" may be followed by a family: "via inet6 fe80::1".
      let via = hop.value(after: "via").flatMap { $0.hasPrefix("inet") ? hop.value(after: $0) : $0 }
      if isLinkLocal, via != nil || match.kind == "default" { return .unreachable("no usable source") }
      return .reachable(over: name, gateway: isUnicast ? via : nil)
    }
    return .unreachable("its link")
  }
}

/// An answer of `ip -oneline route get`.
private struct RouteWords {
  private let words: [String]

  init(_ answer: String) {
    words = answer.split(whereSeparator: { $0.isWhitespace || $0 == "\\" }).map(String.init)
  }

  /// `local`, `multicast`, … or a destination.
  var kind: String { words.first ?? "" }

  /// The words of each hop. If the route has one hop, these are the words of the route.
  var hops: [[String]] {
    let parts = words.split(separator: "nexthop").map(Array.init)
    return parts.count > 1 ? Array(parts.dropFirst()) : parts
  }

  func value(after word: String) -> String? { words.value(after: word) }
}

/// The output of `ip -oneline link`.
private struct LinkStates {
  private var links: [String: (flags: Set<Substring>, state: String, master: String?)] = [:]
  private var alternatives: [String: String] = [:]

  init(_ output: String) {
    for line in output.split(separator: "\n") {
      // 2: n0@p0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master br0 state UP mode DEFAULT …\ altname other
      let words = line.split(whereSeparator: { $0 == " " || $0 == "\\" }).map(String.init)
      guard words.count > 2, let name = words[1].split(whereSeparator: { $0 == "@" || $0 == ":" }).first else {
        continue
      }
      let flags = words[2].dropFirst().dropLast().split(separator: ",")
      links[String(name)] = (Set(flags), words.value(after: "state") ?? "", words.value(after: "master"))
      for (word, other) in zip(words, words.dropFirst()) where word == "altname" { alternatives[other] = String(name) }
    }
  }

  /// The name of the link with this name or alternative name.
  func name(_ text: String) -> String? { links[text] == nil ? alternatives[text] : text }

  func isUsable(_ name: String) -> Bool {
    guard let link = links[name], link.flags.contains("UP") else { return false }
    guard link.state == "UP" || (link.state == "UNKNOWN" && link.flags.contains("LOWER_UP")) else { return false }
    return !name.hasPrefix("br") || links.contains { $0.value.master == name && isUsable($0.key) }
  }
}

extension [String] {
  fileprivate func value(after word: String) -> String? {
    guard let position = firstIndex(of: word), position + 1 < count else { return nil }
    return self[position + 1]
  }
}
#endif
