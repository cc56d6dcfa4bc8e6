// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneSites
import Testing

@Suite struct SiteURLTests {
  @Test func keepsTheTextAsGiven() throws {
    #expect(try SiteURL("HTTPS://Example.com/a#b").text == "HTTPS://Example.com/a#b")
  }
}
