// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import DialtoneSites

/// What a site has to answer, as it is typed: `answer`, `success`, statuses, or `body:` and a text.
enum ExpectationText {
  static func parse(_ text: String) throws -> SiteExpectation {
    switch text {
    case "answer": return .answer
    case "success": return .success
    case _ where text.hasPrefix("body:"):
      let body = String(text.dropFirst("body:".count))
      if body.isEmpty { throw ValidationError("no text stands after body:; give the one that is expected") }
      return .body(containing: body)
    default:
      let statuses = try text.split(separator: ",", omittingEmptySubsequences: false).map(status)
      return .statuses(Set(statuses))
    }
  }

  private static func status(_ text: Substring) throws -> Int {
    guard text.utf8.count == 3, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let status = Int(text) else {
      throw ValidationError("give answer, success, body:TEXT, or statuses of three digits with commas, such as 200,204")
    }
    if status < 200 { throw ValidationError("\(text) is no status of a final answer; give 200 to 999") }
    return status
  }
}
