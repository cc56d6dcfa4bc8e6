// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import AppleWrappers
import AppleWrappers5
import Dialtone
import DialtoneNetwork
import DialtoneSystemConfiguration
import NetworkLab
import TestSupport
import Testing

/// Source as programs for Apple's platforms have it, compiled in both language modes, on real links.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct WrapperTests {
  enum Mode: CaseIterable { case swift5, swift6 }

  /// A follower of a host or, without one, of the default path, with what stops it.
  private func follow(_ host: String?, _ mode: Mode, _ log: Log<String>) throws -> (
    stop: () -> Void, restart: () -> Bool
  ) {
    let queue = DispatchQueue(label: "listeners")
    switch mode {
    case .swift5:
      let made = host.map { AppleWrappers5.BoxedReachability(host: $0) } ?? AppleWrappers5.BoxedReachability()
      let follower = try #require(made)
      let start = { follower.startListening(onQueue: queue) { log.append("\($0)") } }
      #expect(start())
      return (follower.stopListening, start)
    case .swift6:
      let made = host.map { AppleWrappers.BoxedReachability(host: $0) } ?? AppleWrappers.BoxedReachability()
      let follower = try #require(made)
      let start = { follower.startListening(onQueue: queue) { log.append("\($0)") } }
      #expect(start())
      return (follower.stopListening, start)
    }
  }

  @Test("older names and structures compile and work in both modes")
  func knowsOlderNames() throws {
    let lab = try AppleLab.b()
    for flags in [try lab.within(AppleWrappers.localNetworkFlags), try lab.within(AppleWrappers5.localNetworkFlags)] {
      #expect(flags == [.reachable, .isDirect])
    }
    let thrown = AppleWrappers.emptyNameError()
    let error = try #require(thrown) as NSError
    #expect(error.domain == "com.apple.SystemConfiguration" && error.code == kSCStatusInvalidArgument)
    #expect(error.localizedDescription == "Invalid argument")
    #expect(lab.within(AppleWrappers.followsTheDefaultPath) && lab.within(AppleWrappers5.followsTheDefaultPath))
    #expect(AppleWrappers.typeID == AppleWrappers5.typeID)
    #expect(AppleWrappers.addressLengths() == [16, 28] && AppleWrappers5.addressLengths() == [16, 28])
    #expect(AppleWrappers.text(of: .hostPort(host: "::ffff:192.0.2.7", port: 80)) == "192.0.2.7 80")
  }

  @Test("a weak box as info: the default path, lost and gained, stopped and restarted", arguments: Mode.allCases)
  func followsTheDefaultPath(mode: Mode) async throws {
    let lab = try AppleLab.b()
    let log = Log<String>()
    let follower = try lab.within { try follow(nil, mode, log) }
    try await log.wait("reachable") { $0 == "reachable(overCellular: false)" }
    try lab.lab.down("v0")
    try await log.wait("lost") { $0 == "notReachable" }
    follower.stop()
    try lab.lab.up("v0")
    try lab.lab.addRoute("default", via: "10.0.0.2", dev: "v0")
    #expect(lab.within { follower.restart() })
    try await log.wait("gained") { $0 == "reachable(overCellular: false)" }
    #expect(log.all == ["reachable(overCellular: false)", "notReachable", "reachable(overCellular: false)"])
  }

  @Test("a host whose name appears later", arguments: Mode.allCases)
  func followsAHost(mode: Mode) async throws {
    let lab = try AppleLab.b(metric: 100)
    let log = Log<String>()
    let follower = try lab.within { try follow("later.example", mode, log) }
    try await log.wait("the name has no address") { $0 == "notReachable" }
    lab.names.set(.addresses([try address("203.0.113.9")]), for: "later.example")
    // Names are looked up again once the path is another.
    try lab.lab.makeW(metric: 50)
    try await log.wait("it has one") { $0 == "reachable(overCellular: false)" }
    follower.stop()
  }

  @Test("run loops and notifications", arguments: Mode.allCases)
  func postsNotifications(mode: Mode) async throws {
    let lab = try AppleLab.b()
    let log = Log<NSNumber?>()
    let center = NotificationCenter()
    let name =
      mode == .swift5 ? AppleWrappers5.PostedReachability.didChange : AppleWrappers.PostedReachability.didChange
    let observer = center.addObserver(forName: name, object: nil, queue: nil) {
      log.append($0.userInfo?["flags"] as? NSNumber)
    }
    defer { center.removeObserver(observer) }
    let isRunning = Latch()
    let hasEnded = Log<Bool>()
    Foundation.Thread.detachNewThread {
      lab.within {
        do {
          switch mode {
          case .swift5:
            let poster = try AppleWrappers5.PostedReachability(address: "203.0.113.9", center: center)
            try poster.start()
            isRunning.open()
            while !log.all.contains(2) { CFRunLoopRunInMode(kCFRunLoopDefaultMode, 1, true) }
            poster.stop()
          case .swift6:
            let poster = try AppleWrappers.PostedReachability(address: "203.0.113.9", center: center)
            try poster.start()
            isRunning.open()
            while !log.all.contains(2) { CFRunLoopRunInMode(kCFRunLoopDefaultMode, 1, true) }
            poster.stop()
          }
        } catch {
          Issue.record(error)
        }
        hasEnded.append(true)
      }
    }
    try await eventually("it runs") { isRunning.isOpen }
    try lab.lab.down("v0")
    try await log.wait("lost") { $0 == 0 }
    try lab.lab.up("v0")
    try lab.lab.addRoute("default", via: "10.0.0.2", dev: "v0")
    try await hasEnded.wait("gained, and stopped") { $0 }
    #expect(log.all == [0, 2])
  }

  @Test("asked once", arguments: Mode.allCases)
  func asksOnce(mode: Mode) throws {
    let lab = try AppleLab.b()
    func isOnline() -> Bool {
      lab.within {
        mode == .swift5
          ? AppleWrappers5.PostedReachability.isOnline() : AppleWrappers.PostedReachability.isOnline()
      }
    }
    #expect(isOnline())
    try lab.lab.down("v0")
    #expect(!isOnline())
  }

  @Test("a handler for paths, and sequences of them")
  func observesPaths() async throws {
    let lab = try AppleLab.b(metric: 100)
    let log = Log<String>()
    let five = lab.within { AppleWrappers5.PathObserver() }
    let six = lab.within { AppleWrappers.PathObserver(requiredInterfaceType: .wiredEthernet) }
    five.start { connection, dns in log.append("5 \(connection) \(dns)") }
    try await log.wait("the first path") { $0 == "5 ethernet true" }
    six.start { connection, dns in log.append("6 \(connection) \(dns)") }
    try await log.wait("the first path") { $0 == "6 ethernet true" }
    #expect(five.isOnline && six.isOnline)
    let monitor = lab.within { NWPathMonitor() }
    let names = Task { await AppleWrappers.PathObserver.names(of: monitor, limit: 2) }
    var statuses = lab.within { AppleWrappers5.PathObserver.statuses() }.makeAsyncIterator()
    #expect(await statuses.next() == true)
    var paths = monitor.makeAsyncIterator()
    #expect(await paths.next()?.status == .satisfied)
    five.stop()
    try lab.lab.makeW(metric: 50)
    #expect(await names.value.count == 2)
    six.stop()
  }
}
#endif
