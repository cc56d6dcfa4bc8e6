// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import TestSupport
import Testing

struct VersionTests {
  @Test func readsAsItsThreeNumbers() {
    let version = DialtoneLibraryVersion.current
    #expect(version.description == "\(version.major).\(version.minor).\(version.patch)")
    #expect(version.description.split(separator: ".").compactMap { Int($0) }.count == 3)
  }

  @Test func theVersionIsTheNewestInTheChangelog() throws {
    let changes = try sourceText("CHANGELOG.md")
    let heading = try #require(changes.split(separator: "\n").first { $0.hasPrefix("## [") })
    #expect(heading.hasPrefix("## [\(DialtoneLibraryVersion.current)]"), "\(heading)")
  }
}
