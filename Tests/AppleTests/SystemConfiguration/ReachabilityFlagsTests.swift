// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSystemConfiguration
import NetworkLab
import TestSupport
import Testing

/// What `SCNetworkReachability` says of names and addresses on real links, by Apple's header and its implementation.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct ReachabilityFlagsTests {
  private let queue = DispatchQueue(label: "reachability")

  @Test("so have the older names, of SCNetwork.h")
  func hasTheOlderNames() {
    #expect(kSCNetworkFlagsTransientConnection == 0x1 && kSCNetworkFlagsReachable == 0x2)
    #expect(kSCNetworkFlagsConnectionRequired == 0x4 && kSCNetworkFlagsConnectionAutomatic == 0x8)
    #expect(kSCNetworkFlagsInterventionRequired == 0x10)
    #expect(kSCNetworkFlagsIsLocalAddress == 0x1_0000 && kSCNetworkFlagsIsDirect == 0x2_0000)
  }

  @Test("the flags have the numbers of Apple's header")
  func numbers() {
    let numbers: [(SCNetworkReachabilityFlags, UInt32)] = [
      (.transientConnection, 0x1), (.reachable, 0x2), (.connectionRequired, 0x4), (.connectionOnTraffic, 0x8),
      (.connectionAutomatic, 0x8), (.interventionRequired, 0x10), (.connectionOnDemand, 0x20),
      (.isLocalAddress, 0x1_0000), (.isDirect, 0x2_0000), (.isWWAN, 0x4_0000),
    ]
    for (flags, number) in numbers { #expect(flags.rawValue == number, "\(number)") }
  }

  @Test("refuses what cannot be, and says why")
  func refuses() throws {
    #expect(SCNetworkReachabilityCreateWithName(nil, "") == nil)
    #expect(SCError() == kSCStatusInvalidArgument)
    #expect(String(cString: SCErrorString(SCError())) == "Invalid argument")
    var unix = sockaddr()
    unix.sa_family = sa_family_t(AF_UNIX)
    #expect(unix.sa_len == 0)
    #expect(SCNetworkReachabilityCreateWithAddress(nil, &unix) == nil)
    #expect(SCError() == kSCStatusInvalidArgument)
    #expect(SCNetworkReachabilityCreateWithAddressPair(nil, nil, nil) == nil)
    #expect(SCError() == kSCStatusInvalidArgument)
    #expect(SCNetworkReachabilityCreateWithAddressPair(nil, &unix, nil) == nil)
    #expect(SCNetworkReachabilityCreateWithName(nil, "example.com") != nil)
    #expect(SCError() == kSCStatusOK)
  }

  @Test("each thread has its own last error")
  func keepsErrorsByThread() async throws {
    let isThere = try await offThread {
      _ = SCNetworkReachabilityCreateWithName(nil, "")
      return SCError() == kSCStatusInvalidArgument
    }
    #expect(isThere)
    let isElsewhere = try await offThread { SCError() != kSCStatusOK }
    #expect(!isElsewhere)
  }

  private func offThread(_ body: @escaping @Sendable () -> Bool) async throws -> Bool {
    await withCheckedContinuation { continuation in
      Foundation.Thread.detachNewThread { continuation.resume(returning: body()) }
    }
  }

  @Test("the flags of addresses and of the default path", arguments: ["0.0.0.0", "::", "203.0.113.9", "10.0.0.77"])
  func readsFlags(text: String) throws {
    let lab = try AppleLab.b()
    let reachability = try lab.within { try Scheduled(addressTarget(text)) }
    // 10.0.0.77 is on the link. Of the default path, the flags do not say that.
    #expect(reachability.flags == (text == "10.0.0.77" ? [.reachable, .isDirect] : .reachable))
    try lab.lab.down("v0")
    #expect(reachability.flags == [])
  }

  @Test("an address of this machine is local")
  func readsTheLocalAddress() throws {
    let lab = try AppleLab.b()
    let reachability = try lab.within { try Scheduled(addressTarget("10.0.0.1")) }
    #expect(reachability.flags?.isSuperset(of: [.reachable, .isLocalAddress]) == true)
  }

  @Test("169.254/16 is the network that the machine is attached to")
  func readsTheLocalNetwork() throws {
    let lab = try AppleLab.b()
    let reachability = try lab.within { try Scheduled(addressTarget("169.254.0.0")) }
    #expect(reachability.flags == [.reachable, .isDirect])
    try lab.lab.deleteRoute("default", dev: "v0")
    #expect(reachability.flags == [.reachable, .isDirect], "no default route is needed")
    try lab.lab.down("v0")
    #expect(reachability.flags == [])
  }

  /// connect(2) takes a socket that is bound to 0.0.0.0 (ip(7): any address of this machine).
  @Test("a pair needs the local address, unless that is the unspecified one")
  func readsPairs() throws {
    let lab = try AppleLab.b()
    var (own, foreign, remote, any) = try (
      socketAddress("10.0.0.1"), socketAddress("10.9.9.9"), socketAddress("203.0.113.9"), socketAddress("0.0.0.0")
    )
    try lab.within {
      let both = try Scheduled(SCNetworkReachabilityCreateWithAddressPair(nil, &own, &remote))
      let wrong = try Scheduled(SCNetworkReachabilityCreateWithAddressPair(nil, &foreign, &remote))
      let alone = try Scheduled(SCNetworkReachabilityCreateWithAddressPair(nil, nil, &remote))
      let outward = try Scheduled(SCNetworkReachabilityCreateWithAddressPair(nil, &own, nil))
      #expect(both.flags == .reachable && alone.flags == .reachable && outward.flags == .reachable)
      #expect(wrong.flags == [])
      for remote in [remote, any] {
        var remote = remote
        let free = try Scheduled(SCNetworkReachabilityCreateWithAddressPair(nil, &any, &remote))
        #expect(free.flags == .reachable)
      }
      let anywhere = try Scheduled(SCNetworkReachabilityCreateWithAddressPair(nil, &any, nil))
      #expect(anywhere.flags == .reachable)
    }
  }

  @Test("an unscheduled name has the flags of the default path, and is not looked up")
  func looksUpNoUnscheduledName() throws {
    let lab = try AppleLab.b()
    let reachability = try lab.within { try Scheduled(SCNetworkReachabilityCreateWithName(nil, "no.example")) }
    #expect(reachability.flags == .reachable)
    #expect(lab.names.lookups == 0)
    try lab.lab.down("v0")
    #expect(reachability.flags == [])
  }

  @Test("a scheduled name is told at least once, and again when DNS appears")
  func tellsOfNames() async throws {
    let resolver = try ResolverFolder(server: "2001:db8::53")
    let inner = try NetworkLab()
    try inner.makeB()
    let lab = try AppleLab(inner, nameConfigurationRoot: resolver.root)
    let reachability = try lab.within {
      try Scheduled(SCNetworkReachabilityCreateWithName(nil, "later.example"), on: queue)
    }
    try await reachability.log.wait("no address, no flags") { $0.isEmpty }
    #expect(reachability.flags == [])
    lab.names.set(.addresses([try address("203.0.113.9")]), for: "later.example")
    try resolver.set(server: "10.0.0.53")
    try await reachability.log.wait("the name has an address") { $0 == .reachable }
    #expect(reachability.flags == .reachable)
    withExtendedLifetime(resolver) {}
  }

  @Test("the first flags of a scheduled name come with its lookup's result, however long that takes")
  func tellsNothingOfALookupThatTakesLong() async throws {
    let lab = try AppleLab.b()
    let latch = Latch()
    lab.names.set(.addresses([try address("203.0.113.9")]), for: "slow.example", after: latch)
    let reachability = try lab.within {
      try Scheduled(SCNetworkReachabilityCreateWithName(nil, "slow.example"), on: queue)
    }
    // A monitor is told of it after a second.
    let monitor = ReachabilityMonitor(try .host("slow.example"), environment: lab.environment)
    try await eventually("it takes long") { monitor.current.reason == .nameNotResolved }
    latch.open()
    try await reachability.log.wait("the name has an address") { $0 == .reachable }
    #expect(reachability.log.count == 1)
  }

  @Test("a text that no host can have has no address", arguments: ["https://www.example.com/", "a b", "h:80"])
  func takesAnyText(text: String) async throws {
    let lab = try AppleLab.b()
    let reachability = try lab.within { try Scheduled(SCNetworkReachabilityCreateWithName(nil, text)) }
    #expect(SCError() == kSCStatusOK)
    #expect(reachability.flags == .reachable, "as other names: the default path's")
    #expect(SCNetworkReachabilitySetDispatchQueue(reachability.target, queue))
    try await reachability.log.wait("no address, no flags") { $0.isEmpty }
    #expect(reachability.flags == [] && lab.names.lookups == 0)
    #expect(SCNetworkReachabilitySetDispatchQueue(reachability.target, nil))
    #expect(reachability.flags == .reachable)
  }

  @Test(
    "the text of an address is an address, as inet_aton(3) reads it",
    arguments: ["10.0.0.77", "10.77", "0xa.0.0115", "167772237"])
  func takesTheTextOfAnAddress(text: String) throws {
    let lab = try AppleLab.b()
    let reachability = try lab.within { try Scheduled(SCNetworkReachabilityCreateWithName(nil, text)) }
    #expect(reachability.flags == [.reachable, .isDirect])
  }

  /// configd's handler for the resolver evaluates each address of a name as an address.
  @Test("a scheduled name has the flags of its address", arguments: ["10.0.0.77", "10.0.0.1", "203.0.113.9"])
  func aScheduledNameHasTheFlagsOfItsAddress(text: String) async throws {
    let lab = try AppleLab.b()
    lab.names.set(.addresses([try address(text)]), for: "some.example")
    let (name, alone) = try lab.within {
      try (Scheduled(SCNetworkReachabilityCreateWithName(nil, "some.example")), Scheduled(addressTarget(text)))
    }
    let expected = alone.flags
    #expect(name.flags == .reachable)
    #expect(SCNetworkReachabilitySetDispatchQueue(name.target, queue))
    try await name.log.wait("the address's flags") { $0 == expected }
    #expect(name.flags == expected)
    #expect(SCNetworkReachabilitySetDispatchQueue(name.target, nil))
    #expect(name.flags == .reachable)
  }

  @Test("an address has no first call; each change of flags or interface is told")
  func tellsOfAddresses() async throws {
    let lab = try AppleLab.b(metric: 100)
    let reachability = try lab.within { try Scheduled(addressTarget("203.0.113.9"), on: queue) }
    let name = try lab.within {
      try Scheduled(SCNetworkReachabilityCreateWithName(nil, "none.example"), on: queue)
    }
    try await name.log.wait("the engine knows all of it") { _ in true }
    #expect(reachability.log.count == 0)
    #expect(reachability.flags == .reachable)
    // Lost, gained, moved.
    try lab.lab.down("v0")
    try await reachability.log.wait("lost") { $0.isEmpty }
    #expect(reachability.flags == [])
    try lab.lab.up("v0")
    try lab.lab.addRoute("default", via: "10.0.0.2", dev: "v0", metric: 100)
    try await reachability.log.wait("gained") { $0 == .reachable }
    let before = reachability.log.count
    try lab.lab.makeW(metric: 50)
    // The new link may be without a carrier at first, and that is told, too.
    try await eventually("moved: the same flags over another interface") {
      reachability.log.count > before && reachability.log.last == .reachable
    }
  }
}
#endif
