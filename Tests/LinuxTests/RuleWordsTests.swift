// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import MessageBuilding
import NetworkLab
import Testing

@testable import Dialtone

/// Rules and routes of the kernel, beside what ip-rule(8) and ip-route(8) say of them.
@Suite(.enabled(if: NetworkLab.isAvailable && NetworkLab.hasIPRoute2, "needs network namespaces, and iproute2"))
struct RuleWordsTests {
  private func rules(_ family: KernelAddressFamily) throws -> [RuleMessage] {
    var client = try NetlinkClient(.route)
    var rules: [RuleMessage] = []
    _ = try client.dump(.getRule, family: family) { step, bytes in
      switch step {
      case .began: rules = []
      case .message(let message): if let rule = RuleMessage(message, in: bytes) { rules.append(rule) }
      }
    }
    return rules
  }

  /// Each rule in the words in which `ip rule show` repeats it.
  @Test(arguments: [
    ("", ["from all lookup 201", "from all blackhole", "from all unreachable", "from all prohibit", "from all nop"]),
    ("", ["from 192.0.2.0/24 lookup main", "from all to 203.0.113.7 lookup default", "not from 10.0.0.0/8 lookup 7"]),
    ("", ["from all fwmark 0x7 lookup 201", "from all fwmark 0x10/0xf0 lookup 201", "from all goto 32766"]),
    ("", ["from all iif lo lookup 201", "from all oif v0 lookup 201", "from all lookup main suppress_prefixlength 0"]),
    ("", ["from all ipproto 6 dport 443 lookup 201", "from all ipproto 17 sport 53-60 lookup 201"]),
    ("", ["from all uidrange 0-0 lookup 201", "from all fwmark 0/0x2 lookup 201", "from all tos 0x10 lookup 201"]),
    ("-6 ", ["from 2001:db8::/32 lookup 201", "from all to 2001:db8:7::1 lookup 201", "from all unreachable"]),
  ])
  func aRuleReadsAsIPPrintsIt(option: String, selectors: [String]) throws {
    let lab = try NetworkLab()
    for (offset, selector) in selectors.enumerated() {
      let words =
        selector.hasPrefix("not ")
        ? "not pref \(100 + offset) \(selector.dropFirst(4))" : "pref \(100 + offset) \(selector)"
      let made = try lab.ip("\(option)rule add \(words)")
      try #require(made.status == 0, "\(selector): \(made.error)")
    }
    let family: KernelAddressFamily = option.isEmpty ? .ipv4 : .ipv6
    let own = try lab.run { try rules(family).map { "\($0.priority):\t\($0.words)" } }
    let printed = try lab.ip("\(option)rule show").output.split(separator: "\n")
    #expect(own.map { normal($0, family) } == printed.map { normal(String($0), family) })
  }

  /// Without what only one of both says: `ip` names protocols (protocols(5)), leaves out the length of a host, and
  /// notes what is not there.
  private func normal(_ line: String, _ family: KernelAddressFamily) -> [String] {
    let words = line.split { $0 == " " || $0 == "\t" }.filter { $0 != "[detached]" && $0 != "[unresolved]" }
    let host = family == .ipv4 ? "/32" : "/128"
    let protocols = ["tcp": "6", "udp": "17"]
    return words.map { protocols[String($0)] ?? String($0.hasSuffix(host) ? $0.dropLast(host.count) : $0) }
  }

  /// The route that a table's entries lead to is the one that `ip route get` finds: the longest prefix, then the least
  /// metric, and in IPv4 the first of equals.
  @Test func theBestRouteIsTheKernels() throws {
    let lab = try NetworkLab()
    try lab.makeB()
    for route in [
      "203.0.113.0/24 via 10.0.0.2 metric 50", "203.0.113.0/24 via 10.0.0.3 metric 20",
      "203.0.113.0/25 via 10.0.0.4 metric 900", "203.0.113.128/25 via 10.0.0.5", "0.0.0.0/1 via 10.0.0.6",
      "198.51.100.0/24 via 10.0.0.7", "198.51.100.0/24 via 10.0.0.8 metric 1",
    ] {
      let made = try lab.ip("route add \(route) dev v0")
      try #require(made.status == 0, "\(route): \(made.error)")
    }
    for text in ["203.0.113.1", "203.0.113.127", "203.0.113.200", "1.1.1.1", "198.51.100.1", "192.0.2.1"] {
      let target = try #require(IPAddress(text))
      let best = try lab.run {
        var search = RouteSearch(target.bits)
        var client = try NetlinkClient(.route)
        _ = try client.dump(.getRoute, family: .ipv4, table: 254) { step, bytes in
          switch step {
          case .began: search = RouteSearch(target.bits)
          case .message(let message): if let route = RouteMessage(message, in: bytes) { search.add(route) }
          }
        }
        return search.best
      }
      let gateway = try #require(best?.gateway.map { "\(IPAddress($0))" })
      #expect(try lab.ip("route get \(text)").output.contains("via \(gateway) "), "\(text): \(gateway)")
    }
  }
}
#endif
