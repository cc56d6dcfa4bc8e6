// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import Synchronization
import TestSupport
import Testing

@testable import Dialtone

/// The edges of small things: traces of programs, suspensions, the configuration of names, and failed gateways.
struct SmallEdgesTests {
  // MARK: Traces of programs

  /// Files below `/run`, and what manages a link then. The link's index is 2.
  private struct Traces: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let files: [String: String]
    var name = "eth0"
    let manager: LinkManager?
  }

  private static let traces = [
    // dhcpcd(8): one process for all interfaces.
    Traces(testDescription: "dhcpcd for all", files: ["dhcpcd/pid": "7\n"], manager: .dhcpcd),
    // A name may be any bytes except a slash (dev_valid_name, net/core/dev.c): such a name is in no path.
    Traces(testDescription: "a slash", files: ["dhcpcd/pid": "7\n"], name: "a/b", manager: nil),
    Traces(
      testDescription: "a slash, by index", files: ["NetworkManager/devices/2": "[device]\nmanaged=true\n"],
      name: "a/b", manager: .networkManager),
    Traces(testDescription: "a slash, in a file", files: ["network/ifstate": "a/b=a/b\n"], name: "a/b", manager: nil),
    // The program that is listed first manages it; one that leaves it alone does not count.
    Traces(
      testDescription: "NetworkManager before others",
      files: ["NetworkManager/devices/2": "[device]\n", "dhcpcd/eth0.pid": "7\n"], manager: .networkManager),
    Traces(
      testDescription: "NetworkManager leaves it alone",
      files: ["NetworkManager/devices/2": "[device]\nmanaged=false\n", "dhcpcd/eth0.pid": "7\n"], manager: .dhcpcd),
    Traces(
      testDescription: "what only begins so", files: ["NetworkManager/devices/2": "[device]\nmanaged=falsetto\n"],
      manager: .networkManager),
    Traces(
      testDescription: "networkd leaves it alone",
      files: ["systemd/netif/links/2": "ADMIN_STATE=unmanaged\n", "network/ifstate": "eth0=eth0\n"],
      manager: .ifupdown),
    Traces(
      testDescription: "networkd does not say", files: ["systemd/netif/links/2": "OPER_STATE=routable\n"],
      manager: nil),
    Traces(
      testDescription: "networkd is still at it", files: ["systemd/netif/links/2": "ADMIN_STATE=pending\n"],
      manager: .networkd),
    Traces(
      testDescription: "dhcpcd before wpa_supplicant", files: ["dhcpcd-eth0.pid": "", "wpa_supplicant/eth0": ""],
      manager: .dhcpcd),
    Traces(testDescription: "nobody", files: [:], manager: nil),
  ]

  @Test("of several programs, one manages a link", arguments: traces)
  private func oneProgramManagesALink(row: Traces) throws {
    let root = try ConfigurationRoot()
    var folders: [String] = []
    for path in row.files.keys.sorted() {
      let parts = path.split(separator: "/")
      for end in parts.indices.dropLast() {
        let folder = "run/" + parts[...end].joined(separator: "/")
        if folders.contains(folder) { continue }
        try root.makeFolder(folder)
        folders.append(folder)
      }
    }
    for (path, text) in row.files { try root.write("run/\(path)", text) }
    let manager = LinkManager.of(link: row.name, index: 2, root: root.path)
    for path in row.files.keys { try root.delete("run/\(path)") }
    for folder in folders.reversed() { try root.deleteFolder(folder) }
    #expect(manager == row.manager)
  }

  // MARK: Suspensions

  /// Between two readings of clocks a tenth of a second may pass.
  @Test(arguments: [(99_999_999, false), (100_000_000, false), (100_000_001, true), (-1, false)] as [(Int64, Bool)])
  func aSuspensionIsLongerThanTheTimeBetweenTwoReadings(added: Int64, hasResumed: Bool) throws {
    let suspended = Box<Int64>(7)
    let detector = try #require(SuspensionDetector { suspended.value })
    suspended.value += added
    #expect(detector.isOpen && detector.hasResumed() == hasResumed)
    #expect(!detector.hasResumed())
  }

  // MARK: The configuration of names

  @Test("what is wanted is read once, and news are told once", .timeLimit(.minutes(5)))
  func newsAreToldOnce() async throws {
    let root = try ConfigurationRoot()
    try root.write("etc/resolv.conf", "nameserver 192.0.2.1\n")
    let (path, told) = (root.path, Box(0))
    func make() -> NameConfiguration {
      NameConfiguration(root: path) {
        NameServers.configured(root: path)
      } hasNews: {
        told.update { $0 += 1 }
      }
    }
    var names = make()
    // By default a user has 128 instances of inotify (inotify(7), max_user_instances), of which other tests take some.
    try await eventually("there is an instance of inotify") {
      if names.watched == nil { names = make() }
      return names.watched != nil
    }
    #expect(names.awaited.watched == names.watched && names.awaited.finished == names.finished)
    #expect(names.replacement() == nil && !names.hasToBePolled)
    // Nobody wants them: they are read when they are asked for.
    #expect(names.servers == [try address("192.0.2.1")] && names.takeNews() == nil)
    names.want(true)
    try await eventually("they are read") { told.value == 1 }
    #expect(names.servers == [try address("192.0.2.1")] && !names.hasToBePolled)
    guard case .known? = names.takeNews() else {
      Issue.record("they are not known")
      return
    }
    #expect(names.takeNews() == nil)
    try root.write("etc/new", "nameserver 192.0.2.2\n")
    try root.move("etc/new", to: "etc/resolv.conf")
    names.eventsAreReady()
    try await eventually("the change is read") { told.value == 2 }
    #expect(names.servers == [try address("192.0.2.2")])
    guard case .changed? = names.takeNews() else {
      Issue.record("it is no change")
      return
    }
    // Nobody wants them any more.
    names.want(false)
    #expect(names.takeNews() == nil && !names.hasToBePolled && told.value == 2)
    try root.write("etc/resolv.conf", "nameserver 192.0.2.3\n")
    try await eventually("they are read when they are asked for") { try names.servers == [address("192.0.2.3")] }
    // From the beginning.
    names.want(true)
    try await eventually("they are read again") { told.value == 3 }
    guard case .known? = names.takeNews() else {
      Issue.record("they are not known again")
      return
    }
  }

  // MARK: Gateways

  @Test func aGatewayIsOneOfIPv6OnALink() {
    var table = GatewayTable()
    let (first, second) = (IPAddressBits(ipv6High: 0xFE80 << 48, low: 1), IPAddressBits(ipv6High: 0xFE80 << 48, low: 2))
    #expect(table.isEmpty && !table.isOverfull)
    let isFourAdded = table.add(IPAddressBits(ipv4: 0x0A00_0001), on: 3, isFailed: false)
    #expect(!isFourAdded && table.isEmpty)
    let added = [
      table.add(first, on: 3, isFailed: false), table.add(first, on: 4, isFailed: true),
      table.add(second, on: 3, isFailed: true), table.add(first, on: 3, isFailed: true),
    ]
    #expect(added == [true, true, true, false])
    #expect(table.gateways.map(\.isFailed) == [false, true, true] && !table.isEmpty)
    #expect(table.failed.map(\.interface) == [4, 3] && table.failed.map(\.address) == [first, second])
    let updated = [
      table.update(first, on: 4, isFailed: false), table.update(second, on: 4, isFailed: false),
      table.update(second, on: 3, isFailed: true),
    ]
    #expect(updated == [true, false, false] && table.failed.map(\.address) == [second])
  }
}
#endif
