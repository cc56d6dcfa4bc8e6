// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// A name whose last part is a number is no host (RFC 1123, 2.1). What a number is, inet_aton(3) says.
struct HostNumberTests {
  @Test(arguments: ["1.", "a.7", "a.07", "0x1f", "0X1F", "a.0X1f", "192.0.2.0X7", "０Ｘ１"])
  func aNumberIsNoHost(text: String) {
    #expect(throws: ReachabilityError(.invalidAddress, "")) { try HostName(text) }
  }

  @Test(arguments: ["a.b1", "x1", "1a", "0b1", "a.0xg1", "a.0xg", "a.x0", "a.0x1g", "7.a", "0x1.example", "a.f"])
  func aPartThatIsNoNumberMayBeAHosts(text: String) throws {
    #expect(try HostName(text).ascii == text)
  }
}
