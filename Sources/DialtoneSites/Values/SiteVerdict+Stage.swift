// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension SiteVerdict {
  /// A part of a check.
  ///
  /// More may come: a `switch` over them needs a `default`.
  public struct Stage: Hashable, Sendable {
    /// A short text that never changes, for files and other programs, such as `connect`.
    public let identifier: String
    fileprivate let words: String

    private init(_ identifier: String, _ words: String) { (self.identifier, self.words) = (identifier, words) }

    /// The host's name is looked up.
    public static let name = Stage("name", "to look up the name")
    /// A connection is made.
    public static let connect = Stage("connect", "to connect")
    /// TLS is agreed upon.
    public static let tls = Stage("tls", "to agree on TLS")
    /// The request is sent.
    public static let request = Stage("request", "to send the request")
    /// The answer's headers are read.
    public static let response = Stage("response", "to get an answer")
    /// The answer's body is read.
    public static let body = Stage("body", "to read the answer")

    /// The stage with this ``identifier``, or `nil` if there is none.
    public init?(identifier: some StringProtocol) {
      let all: [Stage] = [.name, .connect, .tls, .request, .response, .body]
      guard let stage = all.first(where: { $0.identifier == identifier }) else { return nil }
      self = stage
    }
  }
}

extension SiteVerdict.Stage: CustomStringConvertible {
  /// What failed, after the word "failed": "to connect".
  public var description: String { words }
}
