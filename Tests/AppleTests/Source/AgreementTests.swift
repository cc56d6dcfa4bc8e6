// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// The source for Apple's platforms says what Linux's own says, as far as Apple's interfaces carry it: not the reasons,
/// nor the gateways of single addresses, nor the interface of a source address. Linux's kernel sends 10.0.0.1's packets
/// over w0, if that is preferred. Of Apple's interfaces, none tells that.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct AgreementTests {
  /// A step that changes the network.
  typealias Step = (name: String, change: @Sendable (NetworkLab) throws -> Void)

  private static let steps: [Step] = [
    ("as it is", { _ in }),
    ("v0 is switched off", { try $0.down("v0") }),
    ("v0 is switched on", { try $0.up("v0") }),
    ("it has its route again", { try $0.addRoute("default", via: "10.0.0.2", dev: "v0", metric: 100) }),
    ("w0 is preferred", { try $0.makeW(metric: 50) }),
    ("w0 has lost its carrier", { try $0.down("w1") }),
    ("w0 has it again", { try $0.up("w1") }),
    ("w0 has no default route", { try $0.deleteRoute("default", dev: "w0", metric: 50) }),
    ("v0 has no address", { try $0.deleteAddress("10.0.0.1/24", "v0") }),
    ("v0 is gone", { try $0.deleteLink("v0") }),
  ]

  private static let targets: [(ReachabilityTarget, String?)] = {
    func address(_ text: String) -> IPAddress {
      guard let address = IPAddress(text) else { preconditionFailure("\(text) is no address") }
      return address
    }
    return [
      (.internet, nil), (.localNetwork, nil), (.localNetwork(.wired), nil), (.localNetwork(.wifi), nil),
      (.address(address("203.0.113.9")), nil), (.address(address("10.0.0.77")), nil),
      (.address(address("10.0.0.1")), nil), (.address(address("127.0.0.1")), nil),
      (.address(address("0.0.0.0")), nil), (.address(address("2001:db8::1")), nil),
      (.address(address("fe80::1")), nil), (.address(address("10.1.0.2")), nil),
      (.address(address("203.0.113.9"), from: address("10.0.0.1")), nil),
      (.address(address("203.0.113.9"), from: address("10.9.9.9")), nil),
      (.address(address("203.0.113.9"), from: address("2001:db8::1")), nil),
      (.address(address("10.0.0.77")), "v0"), (.address(address("10.0.0.77")), "none"), (.localNetwork, "v0"),
    ]
  }()

  /// What both have to say alike.
  private static func outline(_ state: Reachability, hasInterface: Bool = true) -> String {
    var parts = ["\(state.status)", "\(state.flags)"]
    if state.isReachable {
      if hasInterface { parts.append(state.interface.map { "\($0.name) \($0.index) \($0.kind)" } ?? "-") }
      parts.append(state.source.map { "\($0)" } ?? "-")
    }
    return parts.joined(separator: " ")
  }

  @Test("the states of targets, step by step")
  func targetsAgree() async throws {
    let lab = try AppleSourceLab.b(metric: 100)
    func monitor(_ target: ReachabilityTarget, _ interface: String?, _ environment: ReachabilityEnvironment)
      -> ReachabilityMonitor
    {
      var configuration = ReachabilityConfiguration()
      configuration.interface = interface
      configuration.usesNAT64 = false
      return ReachabilityMonitor(target, configuration: configuration, environment: environment)
    }
    let pairs = Self.targets.map { target, interface in
      (
        name: "\(target) \(interface ?? "")", hasInterface: !"\(target)".contains(" from "),
        apple: monitor(target, interface, lab.apple),
        linux: monitor(target, interface, lab.linux.environment)
      )
    }
    for (name, change) in Self.steps {
      try change(lab.linux.lab)
      await lab.settle()
      for pair in pairs {
        do {
          try await eventually(within: .seconds(30), "\(name): \(pair.name)") {
            pair.linux.current.isDetermined
              && Self.outline(pair.apple.current, hasInterface: pair.hasInterface)
                == Self.outline(pair.linux.current, hasInterface: pair.hasInterface)
          }
        } catch {
          let (apple, linux) = (Self.outline(pair.apple.current), Self.outline(pair.linux.current))
          Issue.record("\(error): Apple's \(apple), Linux's \(linux)")
        }
      }
    }
  }

  /// What both have to say of a path. Apple lists what leads to the Internet.
  private static func outline(_ path: NetworkPath) -> String {
    let interfaces = path.interfaces.filter { path.status == .satisfied && $0.leadsToInternet }
    return
      "\(path.status) \(path.supportsIPv4) \(path.supportsIPv6) \(path.supportsDNS) \(path.isExpensive) "
      + interfaces.map { "\($0.identity) \($0.addresses) \($0.gateways)" }.joined(separator: ", ")
  }

  @Test("paths, step by step")
  func pathsAgree() async throws {
    let lab = try AppleSourceLab.b(metric: 100)
    // Link-local addresses come at a time of the kernel's choice, and Apple does not tell which are tentative.
    try lab.linux.lab.sysctl("ipv6/conf/all/addr_gen_mode", 1)
    try lab.linux.lab.sysctl("ipv6/conf/default/addr_gen_mode", 1)
    func configuration(_ change: (inout PathConfiguration) -> Void) -> PathConfiguration {
      var configuration = PathConfiguration()
      change(&configuration)
      return configuration
    }
    let configurations = [
      configuration { _ in }, configuration { $0.requiredKinds = [.wired] },
      configuration { $0.requiredKinds = [.wifi] }, configuration { $0.prohibitedKinds = [.cellular] },
      configuration { $0.interface = "v0" }, configuration { $0.interface = "none" },
      configuration { $0.meteredInterfaces = ["v0"] },
    ]
    let pairs = configurations.enumerated().map { number, configuration in
      (
        name: "configuration \(number)", apple: PathMonitor(configuration: configuration, environment: lab.apple),
        linux: PathMonitor(configuration: configuration, environment: lab.linux.environment)
      )
    }
    for (name, change) in Self.steps {
      try change(lab.linux.lab)
      await lab.settle()
      for pair in pairs {
        do {
          try await eventually(within: .seconds(30), "\(name): \(pair.name)") {
            pair.linux.current.isDetermined
              && Self.outline(pair.apple.current) == Self.outline(pair.linux.current)
          }
        } catch {
          let kernel = try lab.linux.lab.run { SystemFile.text(at: "/proc/thread-self/net/if_inet6") ?? "-" }
          let outlines = "Apple's \(Self.outline(pair.apple.current)), Linux's \(Self.outline(pair.linux.current))"
          Issue.record("\(error): \(outlines), the kernel's\n\(kernel)")
        }
      }
    }
  }

  @Test("a host whose name appears later")
  func hostsAgree() async throws {
    let lab = try AppleSourceLab.b(metric: 100)
    let recording = lab.recording(try .host("later.example"))
    try await recording.log.wait("no address") { $0.reason == .nameNotResolved }
    lab.linux.names.set(.addresses([try address("203.0.113.9")]), for: "later.example")
    try lab.linux.lab.makeW(metric: 50)
    try await recording.log.wait("an address, over w0") { $0.isReachable && $0.interface?.name == "w0" }
    #expect(recording.log.last?.destination == IPAddress("203.0.113.9"))
  }
}
#endif
