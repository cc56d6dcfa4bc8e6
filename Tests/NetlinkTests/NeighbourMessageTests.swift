// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

struct NeighbourMessageTests {
  @Test func readsARecordedNeighbour() throws {
    let neighbour = try decode(RecordedMessage.neighbour.bytes, NeighbourMessage.init)
    #expect(neighbour.address == ipv4(10, 0, 0, 2))
    #expect(neighbour.state == .permanent)
    #expect(neighbour.interfaceIndex == 3)
  }
}
