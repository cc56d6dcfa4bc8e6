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

  @Test func isOrderedByItsNumbersAndNotByItsText() {
    let versions = [(0, 1, 0), (0, 1, 1), (0, 2, 0), (0, 10, 0), (1, 0, 0), (1, 0, 10), (2, 0, 0), (10, 0, 0)]
      .map { DialtoneLibraryVersion(major: $0.0, minor: $0.1, patch: $0.2) }
    #expect(Array(versions.reversed()).sorted() == versions)
    #expect(DialtoneLibraryVersion(major: 1) == DialtoneLibraryVersion(major: 1, minor: 0, patch: 0))
    #expect(DialtoneLibraryVersion(major: 1, minor: 22, patch: 333).description == "1.22.333")
  }

  @Test func theVersionIsTheNewestInTheChangelog() throws {
    let changes = try sourceText("CHANGELOG.md")
    let heading = try #require(changes.split(separator: "\n").first { $0.hasPrefix("## [") })
    #expect(heading.hasPrefix("## [\(DialtoneLibraryVersion.current)]"), "\(heading)")
  }
}
