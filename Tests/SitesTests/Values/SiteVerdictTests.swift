// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import DialtoneSites
import TestSupport
import Testing

struct SiteVerdictTests {
  static let kinds: [(kind: SiteVerdict.Kind, identifier: String)] = [
    (.available, "available"), (.captivePortal, "captive-portal"), (.intercepted, "intercepted"),
    (.unexpectedResponse, "unexpected-response"), (.partial, "partial"), (.failed, "failed"), (.offline, "offline"),
    (.undetermined, "undetermined"),
  ]

  @Test(arguments: 0..<kinds.count)
  func identifiersOfVerdictsNeverChange(position: Int) {
    let (kind, identifier) = Self.kinds[position]
    #expect(kind.identifier == identifier)
    #expect(SiteVerdict.Kind(identifier: identifier) == kind)
    #expect(!kind.description.isEmpty)
  }

  static let stages: [(stage: SiteVerdict.Stage, identifier: String)] = [
    (.name, "name"), (.connect, "connect"), (.tls, "tls"), (.request, "request"), (.response, "response"),
    (.body, "body"),
  ]

  @Test(arguments: 0..<stages.count)
  func identifiersOfStagesNeverChange(position: Int) {
    let (stage, identifier) = Self.stages[position]
    #expect(stage.identifier == identifier)
    #expect(SiteVerdict.Stage(identifier: identifier) == stage)
    #expect(!stage.description.isEmpty)
  }

  /// Counts the declarations: one without a row in its table ends the process when it is asked for its identifier.
  @Test(arguments: [("Kind", kinds.count), ("Stage", stages.count)])
  func whateverIsDeclaredIsTestedHere(type: String, count: Int) throws {
    let text = try sourceText("Sources/DialtoneSites/Values/SiteVerdict+\(type).swift")
    let declared = text.split(separator: "\n").count { line in
      line.contains("public static let ") && line.contains("= \(type)(code:")
    }
    #expect(declared == count)
  }
}
