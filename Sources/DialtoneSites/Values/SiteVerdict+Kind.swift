// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension SiteVerdict {
  /// A verdict in a word.
  ///
  /// More may come: a `switch` over them needs a `default`.
  public struct Kind: Hashable, Sendable {
    /// A short text that never changes, for files and other programs, such as `captive-portal`.
    public let identifier: String
    /// Who answered; `nil` if nobody did, and for `partial`, of which only half has an answer.
    package let answerer: Answerer?
    fileprivate let words: String

    private init(_ identifier: String, _ answerer: Answerer?, _ words: String) {
      (self.identifier, self.answerer, self.words) = (identifier, answerer, words)
    }

    /// The site answered as expected.
    public static let available = Kind("available", .site, "available")
    /// A network that asks its users to log in, or to pay, answered in the site's place.
    public static let captivePortal = Kind("captive-portal", .network, "captive portal")
    /// The peer could not prove to be the site, or the site's name leads to no public address although one is required.
    /// Nothing was sent to it.
    public static let intercepted = Kind("intercepted", nil, "intercepted")
    /// A well-formed answer came, but not the expected one.
    public static let unexpectedResponse = Kind("unexpected-response", .site, "unexpected response")
    /// Monitors only: of one site's two URLs, the http one is fine and the https one is not.
    public static let partial = Kind("partial", nil, "partly available")
    /// No answer came that could be judged; ``SiteVerdict/stage`` and ``SiteVerdict/error`` say where and why.
    public static let failed = Kind("failed", nil, "failed")
    /// No packet for the site can leave this machine. Nothing was sent.
    public static let offline = Kind("offline", nil, "offline")
    /// Monitors only: nothing has been found out yet. Receivers are never told of it.
    public static let undetermined = Kind("undetermined", nil, "undetermined")

    /// Who gave the well-formed answer that a verdict rests on.
    package enum Answerer: Sendable { case site, network }

    /// The kind with this ``identifier``, or `nil` if there is none.
    public init?(identifier: some StringProtocol) {
      let all: [Kind] = [
        .available, .captivePortal, .intercepted, .unexpectedResponse, .partial, .failed, .offline, .undetermined,
      ]
      guard let kind = all.first(where: { $0.identifier == identifier }) else { return nil }
      self = kind
    }
  }
}

extension SiteVerdict.Kind: CustomStringConvertible {
  /// The verdict in words, such as "captive portal".
  public var description: String { words }
}
