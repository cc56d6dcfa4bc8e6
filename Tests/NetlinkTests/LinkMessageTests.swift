// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import Testing

@testable import Dialtone

struct LinkMessageTests {
  /// A link with its `IFLA_…` attributes, after lines of a capture on real radio hardware.
  static func link(
    _ type: NetlinkMessageType = .newLink, family: KernelAddressFamily = .unspecified, deviceType: UInt16 = 1,
    flags: UInt32 = 0, _ attributes: (inout NetlinkRequestBuilder) -> Void
  ) -> [UInt8] {
    message(type) {
      let start = 16
      $0.appendLinkHeader(family: family, index: 3, flags: LinkFlags(rawValue: flags), change: .up)
      $0.store(deviceType, at: start + 2)
      attributes(&$0)
    }
  }

  @Test func readsARecordedVeth() throws {
    let link = try decode(RecordedMessage.linkVeth.bytes, LinkMessage.init)
    #expect(link.name == "v0")
    #expect(link.deviceType == .ethernet)
    #expect(link.flags.isSuperset(of: [.up, .broadcast, .running, .multicast, .lowerUp]))
    #expect(link.flags.isDisjoint(with: [.loopback, .pointToPoint, .noARP, .dormant]))
    #expect(link.operationalState == .up)
    #expect(link.hardwareAddress?.count == 6)
    #expect(link.infoKind == "veth")
    #expect(link.lower == 2)
    #expect(link.index == 3)
    #expect(link.master == nil && link.bondActiveSlave == nil && link.linkNamespaceID == nil)
    #expect(link.isSnapshot)
  }

  @Test func messageAboutABridgePortIsNoSnapshot() throws {
    let link = try decode(RecordedMessage.linkBridgePort.bytes, LinkMessage.init)
    #expect(link.family == .bridge)
    #expect(link.name == "v1")
    #expect(link.operationalState != nil)
    #expect(link.master == 4)
    #expect(!link.isSnapshot)
  }

  @Test func wirelessEventIsNoSnapshot() throws {
    // NEWLINK fam=0 idx=3 flags=0x11003 IFNAME=wlan1 WIRELESS=[16]1000198b…
    let bytes = Self.link(flags: 0x11003) {
      $0.append(3, string: "wlan1")
      $0.append(11, bytes: [0x10, 0, 0x19, 0x8b] + [UInt8](repeating: 0, count: 12))
    }
    let link = try decode(bytes, LinkMessage.init)
    #expect(!link.isSnapshot)
    #expect(link.flags == [.up, .broadcast, .multicast, .lowerUp])
  }

  @Test(
    arguments: [
      (0x1003, 2, OperationalState.down), (0x11003, 5, .dormant), (0x11043, 6, .up), (0x1003, 5, .dormant),
      (0x1043, 0, .unknown), (0x1003, 3, .lowerLayerDown),
    ] as [(UInt32, UInt8, OperationalState)])
  func readsTheStatesOfAWirelessLink(flags: UInt32, state: UInt8, expected: OperationalState) throws {
    let bytes = Self.link(flags: flags) {
      $0.append(3, string: "wlan1")
      $0.append(16, state)
    }
    let link = try decode(bytes, LinkMessage.init)
    #expect(link.operationalState == expected)
    #expect(link.flags.rawValue == flags)
    #expect(link.isSnapshot)
  }

  @Test func readsACellularLink() throws {
    // NEWLINK ifi_type=65534 idx=9 flags=0x100d1 IFNAME=wwan0-1 OPERSTATE=UNKNOWN LINKINFO={kind=wwan,data[8]=…}
    let bytes = Self.link(deviceType: 65534, flags: 0x100d1) {
      $0.append(3, string: "wwan0-1")
      $0.append(16, UInt8(0))
      let info = $0.beginNested(18, isMarked: false)
      $0.append(1, string: "wwan")
      $0.append(2, bytes: [8, 0, 1, 0, 1, 0, 0, 0])
      $0.endNested(info)
    }
    let link = try decode(bytes, LinkMessage.init)
    #expect(link.deviceType == .none)
    #expect(link.infoKind == "wwan")
    #expect(link.bondActiveSlave == nil)
    #expect(link.flags == [.up, .pointToPoint, .running, .noARP, .lowerUp])
  }

  @Test(arguments: [true, false]) func findsTheActivePortOfABond(kindFirst: Bool) throws {
    let bytes = Self.link {
      let info = $0.beginNested(18)
      if kindFirst { $0.append(1, string: "bond") }
      let data = $0.beginNested(2)
      $0.append(1, UInt8(1))
      $0.append(2, UInt32(17))
      $0.endNested(data)
      if !kindFirst { $0.append(1, string: "bond") }
      $0.endNested(info)
    }
    #expect(try decode(bytes, LinkMessage.init).bondActiveSlave == 17)
  }

  @Test func readsPortAndNamespace() throws {
    let bytes = Self.link(.deleteLink) {
      $0.append(5, UInt32(4))
      $0.append(10, UInt32(8))
      $0.append(37, Int32(-1))
    }
    let link = try decode(bytes, LinkMessage.init)
    #expect(link.lower == 4)
    #expect(link.master == 8)
    #expect(link.linkNamespaceID == -1)
    #expect(link.infoKind == nil)
  }

  @Test func readsAlternativeNamesInTheirOrder() throws {
    let long = String(repeating: "n", count: 127)
    let bytes = Self.link {
      let list = $0.beginNested(52)
      $0.append(53, string: "uplink")
      $0.append(9999, UInt32(1))
      $0.append(53, string: long)
      $0.endNested(list)
    }
    #expect(try decode(bytes, LinkMessage.init).alternativeNames == ["uplink", long])
    #expect(try decode(RecordedMessage.linkVeth.bytes, LinkMessage.init).alternativeNames.isEmpty)
  }

  @Test func refusesAnAlternativeNameThatIsTooLong() throws {
    let bytes = Self.link {
      let list = $0.beginNested(52)
      $0.append(53, string: String(repeating: "n", count: 128))
      $0.endNested(list)
    }
    #expect(try decode(bytes) { .some(LinkMessage($0, in: $1)) } == nil)
  }

  @Test(arguments: [(5, 3), (10, 8), (16, 4), (37, 1), (3, 17), (18, 3)] as [(UInt16, Int)])
  func refusesAnAttributeOfTheWrongSize(type: UInt16, count: Int) throws {
    let bytes = Self.link { $0.append(type, bytes: [UInt8](repeating: 0, count: count)) }
    #expect(try decode(bytes) { .some(LinkMessage($0, in: $1)) } == nil)
  }

  /// Such as IFLA_MTU (4), IFLA_LINKMODE (17) and IFLA_CARRIER (33), of any size: they make no message malformed.
  @Test(arguments: [4, 17, 33] as [UInt16])
  func whatIsNotReadDoesNotMatter(type: UInt16) throws {
    let bytes = Self.link {
      $0.append(type, bytes: [1, 2, 3])
      $0.append(3, string: "eth0")
    }
    #expect(try decode(bytes, LinkMessage.init).name == "eth0")
  }

  @Test func ignoresUnknownAttributes() throws {
    let bytes = Self.link {
      $0.append(9999, bytes: [1, 2, 3])
      $0.append(3, string: "eth0")
    }
    #expect(try decode(bytes, LinkMessage.init).name == "eth0")
  }

  @Test func repairsANameThatIsNoUTF8() throws {
    let bytes = Self.link { $0.append(3, bytes: [0x65, 0xff, 0x30, 0]) }
    #expect(try decode(bytes, LinkMessage.init).name == "e\u{fffd}0")
  }
}
