// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone

/// What to watch. All of it is checked before anything begins.
struct TargetRequest: Equatable, Sendable {
  private(set) var targets: [WatchedTarget]
  private(set) var configuration: ReachabilityConfiguration
  /// The names that name servers are asked about. Their positions follow those of the targets.
  var questions: [HostName] = []

  /// Checks what was typed as arguments.
  init(_ texts: [String], source: IPAddress? = nil, configuration: ReachabilityConfiguration = .init()) throws {
    try self.init(entries: TypedText.arguments(texts), source: source, configuration: configuration)
  }

  /// Checks what was typed. If nothing was, the target is the Internet.
  ///
  /// A target typed twice counts once, however it is written. URLs that differ stay apart.
  init(entries: [TypedText], source: IPAddress? = nil, configuration: ReachabilityConfiguration = .init()) throws {
    self.configuration = configuration
    targets = []
    var seen: Set<WatchedTarget.Identity> = []
    for entry in entries {
      do {
        let target = try WatchedTarget(entry.text, interface: configuration.interface)
        try check(target)
        if seen.insert(target.identity).inserted { targets.append(target) }
      } catch let error as ValidationError {
        throw entry.refused(error)
      }
    }
    if entries.isEmpty { targets = [.usual] }
    if let source {
      if let family = configuration.family, family != source.effectiveFamily {
        throw ValidationError(
          """
          --from: \(source) is an \(Self.name(source.effectiveFamily)) address, and \
          -\(family == .ipv4 ? "4" : "6") was given; leave one of them out
          """)
      }
      targets = try targets.map { try $0.from(source) }
    }
  }

  private func check(_ target: WatchedTarget) throws {
    if let port = configuration.port, let own = target.target.port {
      throw ValidationError(
        "--port: the target \(target.quoted) has port \(own), and \(port) was given; leave one of them out")
    }
    guard let address = target.address else { return }
    try Self.check(address, called: "the target \(target.quoted)", configuration.family, configuration.interface)
  }

  /// Refuses an address that the other options leave no way to.
  static func check(
    _ address: IPAddress, called name: String, _ family: IPAddress.Family?, _ interface: String?
  ) throws {
    if let family, family != address.effectiveFamily {
      throw ValidationError(
        """
        -\(family == .ipv4 ? "4" : "6"): \(name) is an \(Self.name(address.effectiveFamily)) address; \
        leave the option out, or give an \(Self.name(family)) address
        """)
    }
    if let interface, let zone = address.zone, zone != interface, UInt32(zone) == nil {
      throw ValidationError(
        """
        --interface: \(name) has the zone \(TerminalText.visible(zone)), and the interface is \
        \(TerminalText.visible(interface)); leave one of them out
        """)
    }
  }

  static func name(_ family: IPAddress.Family) -> String { family == .ipv4 ? "IPv4" : "IPv6" }
}

extension TargetRequest: WatchRequest {
  var names: [String] { targets.map(\.typed) + questions.map { "a name server for \($0.text)" } }
  var goodWord: String { "reachable" }
  var firstGoal: String { "to become known" }

  func monitors() -> [ReachabilityMonitor] {
    targets.map { ReachabilityMonitor($0.target, configuration: configuration) }
  }

  func formatter(json: Bool, showsTime: Bool) -> any ReportFormatter<Reachability> {
    if json { return JSONReportFormatter(targets: targets) }
    return TextReportFormatter(
      targets: targets, interface: configuration.interface, screen: { .output }, showsTime: showsTime)
  }

  func facts(_ report: Report) -> HookFacts { HookFacts(report, targets: targets) }

  func words(for state: Reachability, of target: Int) -> String {
    if target >= targets.count { return state.isReachable ? "answered" : "no name server answers" }
    let takesAnyInterface = targets[target].takesAnyInterface && configuration.interface == nil
    let details = TextReportFormatter.details(of: state, takesAnyInterface: takesAnyInterface)
    return state.isReachable ? "reachable \(details)" : details
  }

  func holds(_ state: Reachability) -> TruthValue { state.holds { $0.isReachable } }

  func isDenied(_ state: Reachability) -> Bool { state.isDenied }
}

extension WatchedTarget {
  /// The target, as it can be reached from `source`.
  fileprivate func from(_ source: IPAddress) throws -> WatchedTarget {
    let isIPv4 = source.effectiveFamily == .ipv4
    let example = isIPv4 ? "192.0.2.1" : "2001:db8::1"
    guard let address else {
      throw ValidationError(
        "--from: the target \(quoted) is not an IP address, and --from needs one; give an address such as \(example)")
    }
    if address.effectiveFamily != source.effectiveFamily {
      throw ValidationError(
        """
        --from: the target \(quoted) is an \(TargetRequest.name(address.effectiveFamily)) address, and \(source) is \
        not; give an address of the same family
        """)
    }
    return WatchedTarget(typed: typed, target: .address(address, from: source, port: target.port))
  }

  fileprivate var quoted: String { "\"\(TerminalText.visible(typed))\"" }
}

extension IPAddress {
  /// The family of the packets: an IPv4-mapped IPv6 address is the IPv4 address in it.
  fileprivate var effectiveFamily: Family { unmapped.family }
}
