// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab
import Dialtone
import NetworkLab
import TestSupport
import Testing

/// After any sequence of operations, once it is quiet, every target's state and the path are what `ip route get fibmatch` and the
/// state of the links say.
///
/// `DIALTONE_SEED` and `DIALTONE_OPERATIONS` choose another sequence and its length.
// One sequence after another: each keeps a thread of the pool busy, and there are few.
@Suite(
  .serialized,
  .enabled(if: NetworkLab.isAvailable && NetworkLab.hasIPRoute2, "needs network namespaces, and iproute2 as the judge"))
struct RandomisedTests {
  private static let seeds: [UInt64] =
    environment("DIALTONE_SEED").map { [$0] } ?? [
      1, 2, UInt64.random(in: 3...UInt64.max),
    ]
  private static let operations = Int(environment("DIALTONE_OPERATIONS") ?? 1000)

  @Test(.timeLimit(.minutes(10)), arguments: seeds)
  func stateEqualsTheKernels(seed: UInt64) async throws {
    print("RandomisedTests: DIALTONE_SEED=\(seed) DIALTONE_OPERATIONS=\(Self.operations)")
    let lab = try NetworkLab()
    let monitors = try LabMonitors(lab)
    var world = RandomOperations(lab, seed: seed)
    try world.begin()
    let watched = try JudgedTarget.all.map { ($0, try $0.monitor(of: monitors)) }
    let path = monitors.pathMonitor()
    var done = 0
    while done < Self.operations {
      let batch = world.perform(Int.random(in: 1...5, using: &world.generator))
      done += batch.count
      try await monitors.settle()
      try await check(watched, path, lab, "seed \(seed), operation \(done), after \(batch)")
    }
    // Many operations must have been taken by the kernel, or nothing was tested.
    #expect(world.accepted * 4 > done, "only \(world.accepted) of \(done) operations were accepted")
  }

  private func check(
    _ watched: [(JudgedTarget, ReachabilityMonitor)], _ path: PathMonitor, _ lab: NetworkLab, _ context: String
  ) async throws {
    var differences: [String] = []
    do {
      // Carrier changes are told some time after what caused them, and IPv6 addresses take time.
      try await eventually(within: .patience, "all targets agree") {
        let judge = try KernelJudge(lab, watched.map(\.0))
        differences = watched.enumerated().compactMap { position, pair in
          let state = pair.1.current
          let verdict = judge.verdicts[position]
          return verdict.agrees(with: state)
            ? nil : "\(pair.0): \(state) (\(state.flags)), but: \(verdict) (\(judge.words[position]))"
        }
        differences += judge.differences(of: path.current, watched.map(\.0))
        return differences.isEmpty
      }
    } catch {
      Issue.record("\(context): \(differences.joined(separator: "; "))\n\(try lab.ip("-d address").output)")
      throw error
    }
  }

  private static func environment(_ name: String) -> UInt64? {
    unsafe getenv(name).flatMap { unsafe UInt64(String(cString: $0)) }
  }
}

/// What is watched and judged.
private struct JudgedTarget: CustomStringConvertible, Sendable {
  var address: String
  var mark: UInt32 = 0
  var interface: String?

  var description: String { address + (mark == 0 ? "" : " mark \(mark)") + (interface.map { " oif \($0)" } ?? "") }

  static let all: [JudgedTarget] =
    [
      JudgedTarget(address: "198.41.0.4"), JudgedTarget(address: "2001:503:ba3e::2:30"),
      JudgedTarget(address: "198.51.100.7"), JudgedTarget(address: "10.0.0.2"), JudgedTarget(address: "10.0.0.1"),
      JudgedTarget(address: "10.2.0.77"), JudgedTarget(address: "203.0.113.5", mark: 7),
      JudgedTarget(address: "198.51.100.7", interface: "n1"), JudgedTarget(address: "2001:db8::2"),
      JudgedTarget(address: "2001:db8:1::9"), JudgedTarget(address: "2001:db8:ffff::1"),
      JudgedTarget(address: "2001:db8:ffff::1", mark: 7), JudgedTarget(address: "2001:db8:ffff::1", interface: "n2"),
      JudgedTarget(address: "127.0.0.1"), JudgedTarget(address: "224.0.0.251"),
    ] + internet.flatMap { address in ["n0", "n1", "n2"].map { JudgedTarget(address: address, interface: $0) } }

  /// What a path asks about.
  static let internet = ["198.41.0.4", "2001:503:ba3e::2:30"]

  func monitor(of monitors: LabMonitors) throws -> ReachabilityMonitor {
    monitors.monitor(.address(try #require(IPAddress(address)))) {
      $0.mark = mark
      $0.interface = interface
      $0.nat64 = .off
    }
  }
}

// MARK: The judge

/// What iproute2 says of each target.
private struct KernelJudge {
  enum Verdict: CustomStringConvertible {
    case unreachable
    case reachable(over: String, gateway: String?)

    /// What packets leave by.
    var interface: String? { if case .reachable(let name, _) = self { name } else { nil } }

    func agrees(with state: Reachability) -> Bool {
      switch self {
      case .unreachable: state.status == .unreachable && state.reason != nil && state.flags.isEmpty
      case .reachable(let name, let gateway):
        state.isReachable && state.reason == nil && state.interface?.name == name
          && state.gateway?.description == gateway
      }
    }

    var description: String {
      switch self {
      case .unreachable: "unreachable"
      case .reachable(let name, let gateway): "reachable over \(name)\(gateway.map { " via \($0)" } ?? "")"
      }
    }
  }

  let verdicts: [Verdict]
  /// What was answered, for a person.
  let words: [String]

  init(_ lab: NetworkLab, _ targets: [JudgedTarget]) throws {
    let links = try LinkStates(lab.ip("-oneline link").output)
    let questions = targets.map { target in
      // An interface that does not exist is no question.
      target.interface.map { links.exists($0) } ?? true ? "\(target)" : "0.0.0.0 oif lo"
    }
    let matches = try lab.ip(batch: questions.map { "route get fibmatch \($0)" })
    let plain = try lab.ip(batch: questions.map { "route get \($0)" })
    words = targets.indices.map { "match: \(matches[$0] ?? "none"), plain: \(plain[$0] ?? "none")" }
    verdicts = targets.indices.map { Self.judge(targets[$0], matches[$0], plain[$0], links) }
  }

  /// What the path says that the verdicts do not.
  func differences(of path: NetworkPath, _ targets: [JudgedTarget]) -> [String] {
    func verdict(_ address: String, over name: String?) -> Verdict? {
      targets.firstIndex { $0.address == address && $0.interface == name && $0.mark == 0 }.map { verdicts[$0] }
    }
    var differences: [String] = []
    for (address, supports) in zip(JudgedTarget.internet, [path.supportsIPv4, path.supportsIPv6]) {
      let general = verdict(address, over: nil)?.interface
      if supports != (general != nil) { differences.append("\(address): \(path), but over \(general ?? "nothing")") }
      for interface in path.interfaces {
        // Packets leave by it that are bound to it, or that are bound to nothing.
        guard let bound = verdict(address, over: interface.name) else { continue }
        let leads = bound.interface != nil || general == interface.name
        if leads != (address.contains(":") ? interface.supportsIPv6 : interface.supportsIPv4) {
          differences.append("\(address) over \(interface.name): \(path), but \(bound)")
        }
      }
    }
    let first = JudgedTarget.internet.lazy.compactMap { verdict($0, over: nil)?.interface }.first
    if path.preferredInterface?.name != first { differences.append("\(path), but \(first ?? "nothing") is preferred") }
    return differences
  }

  private static func judge(_ target: JudgedTarget, _ match: String?, _ plain: String?, _ links: LinkStates) -> Verdict
  {
    guard let match, let plain, target.interface.map(links.exists) ?? true else { return .unreachable }
    let words = match.split(whereSeparator: { $0.isWhitespace || $0 == "\\" }).map(String.init)
    switch words.first {
    case "local", "anycast": return .reachable(over: "lo", gateway: nil)
    case "unreachable", "prohibit", "blackhole", "throw", nil: return .unreachable
    default: break
    }
    let plainWords = plain.split(separator: " ").map(String.init)
    guard let source = plainWords.value(after: "src"), source != "::1", !source.hasPrefix("fe80:") else {
      return .unreachable
    }
    for hop in words.split(separator: "nexthop").map(Array.init) {
      guard let name = hop.value(after: "dev"), target.interface == nil || target.interface == name else { continue }
      if hop.contains("dead") || hop.contains("linkdown") || !links.isUsable(name) { continue }
      let isUnicast = words.first != "multicast" && words.first != "broadcast"
      // "via" may be followed by a family: "via inet6 fe80::1".
      let via = hop.value(after: "via").flatMap { $0.hasPrefix("inet") ? hop.value(after: $0) : $0 }
      return .reachable(over: name, gateway: isUnicast ? via : nil)
    }
    return .unreachable
  }
}

/// The output of `ip -oneline link`.
private struct LinkStates {
  private var links: [String: (flags: Set<Substring>, state: String, master: String?)] = [:]

  init(_ output: String) {
    for line in output.split(separator: "\n") {
      // 2: n0@p0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master br0 state UP mode DEFAULT …
      let words = line.split(separator: " ").map(String.init)
      guard words.count > 2, let name = words[1].split(whereSeparator: { $0 == "@" || $0 == ":" }).first else {
        continue
      }
      let flags = words[2].dropFirst().dropLast().split(separator: ",")
      links[String(name)] = (Set(flags), words.value(after: "state") ?? "", words.value(after: "master"))
    }
  }

  func exists(_ name: String) -> Bool { links[name] != nil }

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
