// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension SiteVerdict {
  /// A part of a check.
  ///
  /// More may come: a `switch` over them needs a `default`.
  public struct Stage: Hashable, Sendable {
    private let code: UInt8

    private init(code: UInt8) { self.code = code }

    /// The host's name is looked up.
    public static let name = Stage(code: 1)
    /// A connection is made.
    public static let connect = Stage(code: 2)
    /// TLS is agreed upon.
    public static let tls = Stage(code: 3)
    /// The request is sent.
    public static let request = Stage(code: 4)
    /// The answer's headers are read.
    public static let response = Stage(code: 5)
    /// The answer's body is read.
    public static let body = Stage(code: 6)

    private static let table: [(stage: Stage, identifier: String, words: String)] = [
      (.name, "name", "to look up the name"),
      (.connect, "connect", "to connect"),
      (.tls, "tls", "to agree on TLS"),
      (.request, "request", "to send the request"),
      (.response, "response", "to get an answer"),
      (.body, "body", "to read the answer"),
    ]

    /// The stage with this ``identifier``, or `nil` if there is none.
    public init?(identifier: some StringProtocol) {
      guard let row = Self.table.first(where: { $0.identifier == identifier }) else { return nil }
      self = row.stage
    }

    /// A short text that never changes, for files and other programs, such as `connect`.
    public var identifier: String { Self.table[Int(code) - 1].identifier }
  }
}

extension SiteVerdict.Stage: CustomStringConvertible {
  /// What failed, after the word "failed": "to connect".
  public var description: String { Self.table[Int(code) - 1].words }
}
