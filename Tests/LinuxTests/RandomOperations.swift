// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NetworkLab
import TestSupport

/// Changes a lab's network at random, in the same way for the same seed. Operations that the kernel refuses count, too.
struct RandomOperations {
  typealias Operation = (words: String, body: () throws -> Void)

  /// Alternative names that links have at times: one to which a socket can be bound, and one that is too long for that.
  static let alternativeNames = ["other0", "an-alternative-name-as-udev-gives"]

  var generator: SeededNumbers
  private(set) var accepted = 0
  let lab: NetworkLab
  let seed: UInt64
  /// Whether connections are made as well, and neighbours fail and come back.
  private let hasTraffic: Bool

  init(_ lab: NetworkLab, seed: UInt64, hasTraffic: Bool = false) {
    self.lab = lab
    self.seed = seed
    self.hasTraffic = hasTraffic
    generator = SeededNumbers(seed: seed)
  }

  /// Makes links with addresses, so that most operations have an effect.
  func begin() throws {
    for number in 0...2 {
      try lab.addVeth("n\(number)", "p\(number)")
      try lab.up("n\(number)", "p\(number)")
      if hasTraffic { try TrafficOperations.setProbes(lab, number) }
      try lab.addAddress("10.\(number).0.1/24", "n\(number)")
      try lab.addAddress("2001:db8:\(number)::1/64", "n\(number)")
    }
  }

  /// Performs `count` operations. Returns what they were.
  mutating func perform(_ count: Int) -> [String] {
    (0..<count).map { _ in
      let (words, body) = operation()
      do {
        try body()
        accepted += 1
        return words
      } catch {
        return "(\(words): \(error))"
      }
    }
  }

  // MARK: Choices

  private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
  private mutating func one<Value>(of values: [Value]) -> Value { values[number(0...values.count - 1)] }
  private mutating func chance(_ percent: Int) -> Bool { number(1...100) <= percent }

  private mutating func operation() -> Operation {
    switch number(1...(hasTraffic ? 160 : 120)) {
    case 1...18: link()
    case 19...34: address()
    case 35...58: route()
    case 59...72: hostRoute()
    case 73...80: rule()
    case 81...89: nexthop()
    case 90...95: bridge()
    case 96...100: setting()
    case 101...109: selectiveRule()
    case 110...115: selectiveRoute()
    case 116...118: linkProperty()
    case 119...120: loopback()
    default: TrafficOperations(lab).operation(&generator)
    }
  }

  private mutating func link() -> Operation {
    let (lab, hasTraffic) = (lab, hasTraffic)
    let number = number(0...2)
    let (near, far) = ("n\(number)", "p\(number)")
    let name = chance(50) ? near : far
    switch self.number(1...10) {
    case 1...3:
      return (
        "link add \(near)",
        {
          try lab.addVeth(near, far)
          try lab.up(near, far)
          if hasTraffic { try TrafficOperations.setProbes(lab, number) }
        }
      )
    case 4: return ("link del \(near)", { try lab.deleteLink(near) })
    case 5...7: return ("link set \(name) down", { try lab.down(name) })
    default: return ("link set \(name) up", { try lab.up(name) })
    }
  }

  private mutating func address() -> Operation {
    let lab = lab
    let number = number(0...2)
    let name = chance(90) ? "n\(number)" : "br0"
    let text =
      chance(55)
      ? "10.\(number).0.\(self.number(1...2))/24"
      : "2001:db8:\(number)::\(self.number(1...2))/64"
    if chance(65) { return ("address add \(text) \(name)", { try lab.addAddress(text, name) }) }
    return ("address del \(text) \(name)", { try lab.deleteAddress(text, name) })
  }

  private mutating func route() -> Operation {
    let lab = lab
    let isIPv6 = chance(40)
    let family: LabFamily = isIPv6 ? .v6 : .v4
    let (number, other) = (number(0...2), number(0...2))
    let via = gateway(number, isIPv6)
    let metric = one(of: [nil, 100, 200] as [UInt32?])
    let table = chance(80) ? LabTable.main : 201
    let name = chance(90) ? "n\(number)" : "br0"
    switch self.number(1...20) {
    case 1...7:
      return (
        "route add default via \(via) metric \(metric ?? 0) table \(table)",
        {
          try lab.addRoute("default", via: via, dev: name, metric: metric, table: table, family: family)
        }
      )
    case 8...9:
      return (
        "route replace default via \(via) metric \(metric ?? 0)",
        {
          try lab.route(.replace, "default", via: via, dev: name, metric: metric, family: family)
        }
      )
    // Between such routes of IPv4 the kernel chooses by neighbours, which Dialtone does not follow.
    case 10 where isIPv6 || !hasTraffic:
      return (
        "route append default via \(via)",
        {
          try lab.route(.append, "default", via: via, dev: name, metric: metric, family: family)
        }
      )
    case 11...12:
      return (
        "route add default dev \(name)",
        {
          try lab.addRoute("default", dev: name, metric: metric, table: table, family: family)
        }
      )
    case 13:
      let kind = one(of: [.unreachable, .prohibit, .blackhole, .throw] as [LabRouteKind])
      return (
        "route add \(kind) default",
        {
          try lab.addRoute("default", metric: metric, table: table, kind: kind, family: family)
        }
      )
    case 14...15:
      let hops = [LabHop(via: via, dev: "n\(number)"), LabHop(via: gateway(other, isIPv6), dev: "n\(other)")]
      return (
        "route add default nexthop n\(number) nexthop n\(other)",
        {
          try lab.addRoute("default", metric: metric, hops: hops, family: family)
        }
      )
    default:
      return (
        "route del default metric \(metric ?? 0) table \(table) \(family)",
        {
          try lab.deleteRoute("default", metric: metric, table: table, family: family)
        }
      )
    }
  }

  private func gateway(_ number: Int, _ isIPv6: Bool) -> String {
    isIPv6 ? "2001:db8:\(number)::ff" : "10.\(number).0.254"
  }

  private mutating func hostRoute() -> Operation {
    let lab = lab
    let isIPv6 = chance(40)
    let prefixes =
      isIPv6
      ? ["2001:db8:ffff::/48", "2001:db8:ffff::1/128", "2001:503::/32", "2001:db8::/32"]
      : [
        "198.51.100.0/24", "198.51.100.7/32", "198.41.0.0/16", "203.0.113.0/24", "10.2.0.64/26", "0.0.0.0/1",
        "128.0.0.0/1",
      ]
    let prefix = one(of: prefixes)
    let number = number(0...2)
    let via = gateway(number, isIPv6)
    let table = chance(75) ? LabTable.main : 201
    switch self.number(1...10) {
    case 1...4:
      return (
        "route add \(prefix) via \(via) table \(table)",
        {
          try lab.addRoute(prefix, via: via, dev: "n\(number)", table: table)
        }
      )
    case 5:
      // With the scope of a host, the kernel may choose a loopback address as the source.
      let scope = one(of: [nil, .host] as [LabScope?])
      return (
        "route replace \(prefix) dev n\(number) scope \(scope.map { "\($0)" } ?? "link")",
        {
          try lab.route(.replace, prefix, dev: "n\(number)", scope: scope)
        }
      )
    case 6:
      let kind = one(of: [.unreachable, .prohibit, .blackhole, .throw] as [LabRouteKind])
      return ("route add \(kind) \(prefix) table \(table)", { try lab.addRoute(prefix, table: table, kind: kind) })
    default: return ("route del \(prefix) table \(table)", { try lab.deleteRoute(prefix, table: table) })
    }
  }

  private mutating func rule() -> Operation {
    let lab = lab
    let family: LabFamily = chance(60) ? .v4 : .v6
    let priority = UInt32(number(100...103))
    switch number(1...10) {
    case 1...2:
      return (
        "rule add \(priority) fwmark 7 lookup 201 \(family)",
        {
          try lab.addRule(priority: priority, .lookup(201), family: family, mark: 7)
        }
      )
    case 3:
      return (
        "rule add \(priority) lookup 201 \(family)",
        {
          try lab.addRule(priority: priority, .lookup(201), family: family)
        }
      )
    case 4:
      return (
        "rule add \(priority) unreachable \(family)",
        {
          try lab.addRule(priority: priority, .unreachable, family: family)
        }
      )
    case 5:
      return (
        "rule add \(priority) not fwmark 7 suppress_prefixlength 0 \(family)",
        {
          try lab.addRule(
            priority: priority, .lookup(LabTable.main), family: family, mark: 7, inverted: true, suppressPrefixLength: 0
          )
        }
      )
    default: return ("rule del \(priority) \(family)", { try lab.deleteRule(priority: priority, family: family) })
    }
  }

  /// A rule by source, or by protocol and port.
  private mutating func selectiveRule() -> Operation {
    let isIPv6 = chance(40)
    let number = number(0...2)
    let prefixes =
      isIPv6 ? ["2001:db8:\(number)::/64", "2001:db8:\(number)::1"] : ["10.\(number).0.0/24", "10.\(number).0.1"]
    let selectors =
      prefixes.flatMap { ["from \($0)", "not from \($0)"] } + [
        "ipproto tcp", "ipproto udp", "ipproto tcp dport 443", "ipproto udp dport 53", "dport 400-500", "not dport 443",
      ]
    let actions = ["lookup 201", "lookup 201", "lookup 201 suppress_ifgroup 5", "unreachable", "prohibit", "blackhole"]
    let priority = self.number(104...107)
    let family = isIPv6 ? "-6 " : ""
    if chance(50) { return command("\(family)rule del pref \(priority)") }
    return command("\(family)rule add pref \(priority) \(one(of: selectors)) \(one(of: actions))")
  }

  /// An IPv6 route for some sources only, or for some time only; or one whose source another link may have.
  private mutating func selectiveRoute() -> Operation {
    let number = number(0...2)
    let destination = one(of: ["default", "2001:db8:ffff::/48"])
    let way = "via \(gateway(number, true)) dev n\(number)"
    switch self.number(1...9) {
    case 9: return command("route replace 224.0.0.0/4 dev n\(number) src 10.\(self.number(0...2)).0.1")
    case 1...3: return command("-6 route add \(destination) from 2001:db8:\(self.number(0...2))::/64 \(way)")
    case 4: return command("-6 route del \(destination) from 2001:db8:\(self.number(0...2))::/64")
    case 5...7: return command("-6 route add \(destination) \(way) metric 300 expires \(self.number(1...2))")
    default: return command("-6 route del \(destination) metric 300")
    }
  }

  /// What rules and sockets name a link by: an alternative name, or its group.
  private mutating func linkProperty() -> Operation {
    if chance(40) { return command("link set dev n\(number(0...2)) group \(one(of: [0, 5]))") }
    let name = one(of: Self.alternativeNames)
    if chance(35) { return command("link property del dev \(name) altname \(name)") }
    return command("link property add dev n\(number(0...2)) altname \(name)")
  }

  private mutating func loopback() -> Operation {
    // Up most of the time.
    chance(30) ? command("link set lo down") : command("link set lo up")
  }

  /// Runs `ip`, for operations that the lab's own messages do not cover.
  private func command(_ words: String) -> Operation {
    (
      words,
      { [lab] in
        let output = try lab.ip(words)
        if output.status != 0 { throw LabError(output.error) }
      }
    )
  }

  private mutating func nexthop() -> Operation {
    let lab = lab
    let id = UInt32(number(1...3))
    let number = number(0...2)
    let via = gateway(number, false)
    switch self.number(1...10) {
    case 1...3: return ("nexthop add \(id) via \(via)", { try lab.addNexthop(id, via: via, dev: "n\(number)") })
    case 4:
      return (
        "nexthop replace \(id) via \(via)",
        {
          try lab.nexthop(.replace, id, via: via, dev: "n\(number)")
        }
      )
    case 5: return ("nexthop add 10 group 1,2", { try lab.nexthop(.add, 10, group: [1, 2]) })
    case 6...7:
      let used = chance(70) ? id : 10
      return ("route add default nhid \(used)", { try lab.addRoute("default", metric: 50, nexthop: used) })
    case 8: return ("nexthop del 10", { try lab.deleteNexthop(10) })
    default: return ("nexthop del \(id)", { try lab.deleteNexthop(id) })
    }
  }

  private mutating func bridge() -> Operation {
    let lab = lab
    let name = "n\(number(0...2))"
    switch number(1...10) {
    case 1...2:
      return (
        "link add br0",
        {
          try lab.addBridge("br0")
          try lab.up("br0")
        }
      )
    case 3...4: return ("link set \(name) master br0", { try lab.setMaster(name, "br0") })
    case 5...7: return ("link set \(name) nomaster", { try lab.setMaster(name, nil) })
    default: return ("link del br0", { try lab.deleteLink("br0") })
    }
  }

  private mutating func setting() -> Operation {
    let lab = lab
    let value = chance(50) ? 1 : 0
    let name = one(of: ["all", "n0", "n1", "n2"])
    if chance(70) {
      return (
        "\(name) ignore_routes_with_linkdown \(value)",
        {
          try lab.sysctl("ipv4/conf/\(name)/ignore_routes_with_linkdown", value)
          try lab.sysctl("ipv6/conf/\(name)/ignore_routes_with_linkdown", value)
        }
      )
    }
    let off = chance(25) ? 1 : 0
    return ("\(name) disable_ipv6 \(off)", { try lab.sysctl("ipv6/conf/\(name)/disable_ipv6", off) })
  }
}
#endif
