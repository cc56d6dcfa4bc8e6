// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NetworkLab
import TestSupport
import Testing

@testable import Dialtone

/// Links as the tables keep them, on messages made by hand and beside changes.
@Suite(.timeLimit(.minutes(5)))
struct KernelTablesTests {
  typealias Fields = BuiltMessages.LinkFields

  /// A link that has the index of another one: what was known of that one says nothing of it. (In between, the kernel
  /// announces the end of the former, unless that announcement was lost.)
  @Test(arguments: [
    (Fields(infoKind: "wireguard"), Fields(infoKind: "dummy"), InterfaceKind.tunnel, InterfaceKind.other),
    (Fields(infoKind: "dummy"), Fields(), .other, .wired), (Fields(deviceType: .ppp), Fields(), .tunnel, .wired),
    (Fields(deviceType: .loopback), Fields(deviceType: .rawIP), .loopback, .cellular),
  ])
  func anIndexThatIsUsedAgainIsClassifiedAnew(
    former: Fields, latter: Fields, formerKind: InterfaceKind, latterKind: InterfaceKind
  ) throws {
    let tables = KernelTables()
    for (fields, kind) in [(former, formerKind), (latter, latterKind)] {
      var change = NetworkChange()
      let isRead = try BuiltMessages.decode(BuiltMessages.linkBytes(fields)) { message, bytes in
        tables.apply(message, bytes, &change)
      }
      #expect(isRead)
      let link = try #require(tables.links[fields.index])
      #expect(tables.links.kind(of: link) == kind)
      #expect(change.touchesEverything)
    }
  }

  /// netlink(7): NLM_F_DUMP_INTR, for a dump that changes have overtaken. A few links are read at once, so none
  /// overtakes those.
  @Test(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"))
  func addressesThatChangeMeanwhileAreNotWhole() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("v0", "v1")
    try lab.addAddresses(count: 2_000, "v0")
    #expect(try lab.run { try KernelTables().read(KernelQueries()) })
    let (isOver, latch) = (Box(false), Latch())
    defer { isOver.value = true }
    try #require(
      Thread.start(named: "tests-changes") {
        while !isOver.value {
          #expect(throws: Never.self) {
            try lab.addAddress("10.0.0.1/24", "v0")
            try lab.deleteAddress("10.0.0.1/24", "v0")
          }
        }
        latch.open()
      })
    // Each of eight attempts has to be overtaken. On a busy machine one may not be.
    try await eventually("all attempts are overtaken") { try !lab.run { try KernelTables().read(KernelQueries()) } }
    isOver.value = true
    try await eventually("nothing changes any more") { latch.isOpen }
  }

  /// linux/netdevice.h, SET_NETDEV_DEVTYPE: a modem's driver says in the uevent what its Ethernet device is. A name may
  /// stand for another link in a sysfs of another namespace.
  @Test(
    .enabled(if: NetworkLab.isAvailable, "needs network namespaces"),
    arguments: [
      ("wwan", true, true, InterfaceKind.cellular), ("wlan", true, true, .wifi), ("bridge", true, true, .wired),
      ("wwan", false, true, .wired), ("wwan", true, false, .wired),
    ])
  func aLinkIsWhatSysfsSaysOfThisVeryLink(
    type: String, isIndex: Bool, isAddress: Bool, kind: InterfaceKind
  ) throws {
    let lab = try NetworkLab(ownMounts: true)
    try lab.addVeth("v0", "v1")
    // Bytes of one digit and of two.
    try lab.setHardwareAddress("v0", "02:00:0f:10:a0:ff")
    let index = UInt32(try lab.index(of: "v0"))
    let root = try ConfigurationRoot()
    try root.write("etc/new", "DEVTYPE=\(type)\nINTERFACE=v0\nIFINDEX=\(index)\n")
    try lab.bindMount("\(root.path)/etc/new", over: "/sys/class/net/v0/uevent")
    let fields = Fields(
      index: isIndex ? index : index + 100, name: "v0", address: [2, 0, 15, 16, 160, isAddress ? 255 : 254])
    try lab.run {
      let tables = KernelTables()
      var change = NetworkChange()
      _ = try BuiltMessages.decode(BuiltMessages.linkBytes(fields)) { message, bytes in
        tables.apply(message, bytes, &change)
      }
      #expect(tables.links.kind(of: try #require(tables.links[fields.index])) == kind)
    }
  }
}
#endif
