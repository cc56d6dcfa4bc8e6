// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Testing

@testable import Dialtone
@testable import Netlink

/// Links as the tables keep them, on messages made by hand.
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
}
#endif
