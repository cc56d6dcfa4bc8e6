// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension SiteVerdict {
  /// A verdict in a word.
  ///
  /// More may come: a `switch` over them needs a `default`.
  public struct Kind: Hashable, Sendable {
    private let code: UInt8

    private init(code: UInt8) { self.code = code }

    /// The site answered as expected.
    public static let available = Kind(code: 1)
    /// A network that asks its users to log in, or to pay, answered in the site's place.
    public static let captivePortal = Kind(code: 2)
    /// The peer could not prove to be the site, or the site's name leads to no public address although one is required.
    /// Nothing was sent to it.
    public static let intercepted = Kind(code: 3)
    /// A well-formed answer came, but not the expected one.
    public static let unexpectedResponse = Kind(code: 4)
    /// Monitors only: of one site's two URLs, the http one is fine and the https one is not.
    public static let partial = Kind(code: 5)
    /// No answer came that could be judged; ``SiteVerdict/stage`` and ``SiteVerdict/error`` say where and why.
    public static let failed = Kind(code: 6)
    /// No packet for the site can leave this machine. Nothing was sent.
    public static let offline = Kind(code: 7)
    /// Monitors only: nothing has been found out yet. Receivers are never told of it.
    public static let undetermined = Kind(code: 8)

    /// Who gave the well-formed answer that a verdict rests on.
    package enum Answerer: Sendable { case site, network }

    private static let table: [(kind: Kind, identifier: String, answerer: Answerer?, words: String)] = [
      (.available, "available", .site, "available"),
      (.captivePortal, "captive-portal", .network, "captive portal"),
      (.intercepted, "intercepted", nil, "intercepted"),
      (.unexpectedResponse, "unexpected-response", .site, "unexpected response"),
      (.partial, "partial", nil, "partly available"),
      (.failed, "failed", nil, "failed"),
      (.offline, "offline", nil, "offline"),
      (.undetermined, "undetermined", nil, "undetermined"),
    ]

    /// Who answered; `nil` if nobody did, and for `partial`, of which only half has an answer.
    package var answerer: Answerer? { Self.table[Int(code) - 1].answerer }

    /// The kind with this ``identifier``, or `nil` if there is none.
    public init?(identifier: some StringProtocol) {
      guard let row = Self.table.first(where: { $0.identifier == identifier }) else { return nil }
      self = row.kind
    }

    /// A short text that never changes, for files and other programs, such as `captive-portal`.
    public var identifier: String { Self.table[Int(code) - 1].identifier }
  }
}

extension SiteVerdict.Kind: CustomStringConvertible {
  /// The verdict in words, such as "captive portal".
  public var description: String { Self.table[Int(code) - 1].words }
}
