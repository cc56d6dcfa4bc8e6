// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a site has to answer to count as available.
///
/// What is enough depends on the scheme: over https the certificate proves who answers, over http anybody on the way
/// can answer. <doc:Sites> has the rules in full.
public struct SiteExpectation: Hashable, Sendable {
  package enum Storage: Hashable, Sendable {
    case answer
    case success
    case statuses(Set<Int>)
    case body(String)
  }

  package let storage: Storage

  private init(_ storage: Storage) { self.storage = storage }

  /// Any answer of the site's own. Over https that is every status except 511. Over http it is every status except 511
  /// and except a redirect to another host. The body is not read.
  public static let answer = SiteExpectation(.answer)

  /// A status from 200 to 299.
  public static let success = SiteExpectation(.success)

  /// Exactly one of these statuses. A listed status overrides every other rule, even 511 or a redirect.
  public static func statuses(_ statuses: Set<Int>) -> SiteExpectation { SiteExpectation(.statuses(statuses)) }

  /// Exactly this status, as for ``statuses(_:)``.
  public static func status(_ status: Int) -> SiteExpectation { SiteExpectation(.statuses([status])) }

  /// A status from 200 to 299 with a body whose first 64 KiB contain `text`, letter for letter, in the answer's
  /// charset; <doc:Sites> lists those that are known.
  ///
  /// A body that the server compresses is not read: the verdict is then `failed`, at the stage `body`.
  public static func body(containing text: String) -> SiteExpectation { SiteExpectation(.body(text)) }

  package func lists(_ status: Int) -> Bool {
    if case .statuses(let statuses) = storage { statuses.contains(status) } else { false }
  }

  /// The text that the body has to contain, if one is expected.
  package var bodyText: String? {
    if case .body(let text) = storage { text } else { nil }
  }
}

extension SiteExpectation: CustomStringConvertible {
  /// The expectation as it could be typed: `answer`, `success`, `204,301`, `body:OK`.
  public var description: String {
    switch storage {
    case .answer: "answer"
    case .success: "success"
    case .statuses(let statuses): statuses.sorted().map(String.init).joined(separator: ",")
    case .body(let text): "body:\(text)"
    }
  }
}
