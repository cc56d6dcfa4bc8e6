// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

/// The outcome of a check.
///
/// Receivers get a new verdict if it is not the same as the last one in what ``isSameState(as:)`` compares; `==`
/// compares everything, the times as well.
public struct SiteVerdict: Hashable, Sendable {
  /// The URL that was checked.
  public let url: SiteURL

  /// The verdict in a word.
  public let kind: Kind

  /// The answer's status code; `nil` if there was no answer.
  public let status: Int?

  /// Where a redirect leads, made absolute and cut at 2,048 characters; only with `captivePortal` and
  /// `unexpectedResponse`, and only an http or https URL. It is a stranger's text: Dialtone never opens it, and
  /// percent-encodes all of it except printable ASCII.
  public let location: String?

  /// Where it failed; only with `failed`.
  public let stage: Stage?

  /// Why it failed, or why the site's certificate was not believed; with `unexpectedResponse`, what may be behind the
  /// answer. `nil` if there is nothing to say.
  public let error: SiteError?

  /// The address that was connected to, or tried last if no connection was made; a proxy's if one was asked.
  public let address: IPAddress?

  /// The interface that leads to the address.
  public let interface: NetworkInterface?

  /// When the certificate that was shown ends, in whole seconds: the last second in which it is valid. It is the
  /// server's own certificate, the leaf of its chain, even if it was not believed. `nil` if none was shown, as over
  /// http.
  public let certificateExpires: UTCTimestamp?

  /// How long each stage took.
  public let timings: Timings

  /// When the verdict was found; `nil` as long as nothing is known.
  public let timestamp: UTCTimestamp?

  /// When the first check began of those that have failed in a row; `nil` if this is no verdict of a monitor that the
  /// site is not available.
  package var failingSince: UTCTimestamp? { beginning.time }

  /// What a check had found, if the site is offline and checks had failed before there was no path.
  package var failureBefore: SiteVerdict? { beginning.failures.first }

  private var beginning = Beginning()

  /// What `==` leaves out, since you can neither read it nor make it.
  private struct Beginning: Hashable {
    var time: UTCTimestamp?
    /// One at most. A structure cannot have a value of its own type otherwise.
    var failures: [SiteVerdict] = []

    static func == (a: Beginning, b: Beginning) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
  }

  /// Makes a verdict, for your own tests.
  ///
  /// ```swift
  /// let portal = SiteVerdict(url: "http://example.com/", kind: .captivePortal, status: 302)
  /// let failed = SiteVerdict(url: "http://example.com/", kind: .failed, stage: .tls)
  /// ```
  ///
  /// The kind decides, and what contradicts it is left out:
  /// - Only `available`, `captivePortal`, `unexpectedResponse` and `partial` have a ``status``, and it is 200 to 999.
  ///   Only the second and the third have a ``location``.
  /// - Only `failed` has a ``stage``; it is `connect` unless you give one.
  /// - `available` and `captivePortal` have no ``error``.
  /// - ``certificateExpires`` goes with https, and with a connection: `offline` has none.
  /// - `undetermined` has nothing but its URL, not even a ``timestamp``.
  ///
  /// - Parameters:
  ///   - url: The URL that was checked.
  ///   - kind: The verdict in a word.
  ///   - status: The answer's status code.
  ///   - location: Where a redirect leads.
  ///   - stage: Where the check failed.
  ///   - error: Why it failed.
  ///   - address: The address that was connected to.
  ///   - interface: The interface that leads to the address.
  ///   - certificateExpires: When the certificate that was shown ends.
  ///   - timings: How long each stage took.
  ///   - timestamp: When the verdict was found. As long as nothing is known, there is none.
  public init(
    url: SiteURL, kind: Kind, status: Int? = nil, location: String? = nil, stage: Stage? = nil, error: SiteError? = nil,
    address: IPAddress? = nil, interface: NetworkInterface? = nil, certificateExpires: UTCTimestamp? = nil,
    timings: Timings = Timings(), timestamp: UTCTimestamp = .now
  ) {
    let isKnown = kind != .undetermined
    self.url = url
    self.kind = kind
    let hasAnswer = kind.answerer != nil || kind == .partial
    self.status = hasAnswer ? status.flatMap { (200...999).contains($0) ? $0 : nil } : nil
    self.location = kind == .captivePortal || kind == .unexpectedResponse ? location : nil
    self.stage = kind == .failed ? stage ?? .connect : nil
    self.error = isKnown && kind != .available && kind != .captivePortal ? error : nil
    self.address = isKnown ? address : nil
    self.interface = isKnown ? interface : nil
    self.certificateExpires = isKnown && kind != .offline && url.isSecure ? certificateExpires : nil
    self.timings = isKnown ? timings : Timings()
    self.timestamp = isKnown ? timestamp : nil
  }

  /// Whether the site answered as expected.
  public var isAvailable: Bool { kind == .available }

  /// Returns the verdict of a monitor whose checks have failed for so long, the last one with `failure` if that is
  /// another verdict.
  func failing(for time: Duration, at failure: SiteVerdict? = nil) -> SiteVerdict {
    var verdict = self
    verdict.beginning.time = timestamp.map { UTCTimestamp(durationSince1970: $0.durationSince1970 - time) }
    verdict.beginning.failures = failure.map { [$0] } ?? []
    return verdict
  }
}

extension SiteVerdict {
  /// Returns whether a receiver that got one of the two verdicts does not get the other one after it.
  ///
  /// It compares ``url``, ``kind``, ``status``, ``stage`` and ``interface``. It leaves out the text that servers choose
  /// anew each time (``location``), the address, the error, the certificate's end, and times. It leaves out the
  /// interface of an `offline` site, too: which of several failed last is no news of the site.
  ///
  /// - Parameter other: The verdict to compare with.
  /// - Returns: Whether what it compares is equal.
  public func isSameState(as other: SiteVerdict) -> Bool {
    kind == other.kind && status == other.status && stage == other.stage && url == other.url
      && (interface == other.interface || kind == .offline)
  }
}

extension SiteVerdict: CustomStringConvertible {
  /// The verdict in words, such as "available (200)" or "failed to connect: connection refused". It contains no text of
  /// a stranger.
  public var description: String {
    var text = kind.description
    if let stage { text += " \(stage)" }
    if let status { text += " (\(status))" }
    if let error { text += ": \(error)" }
    return text
  }
}

extension SiteVerdict {
  /// How long each stage of a check took; `nil` for one that was not reached or not finished.
  ///
  /// If GET followed HEAD, they are those of GET; ``total`` counts both.
  public struct Timings: Hashable, Sendable {
    /// From the beginning until the name's addresses were known; `nil` for a literal address.
    public var name: Duration?
    /// From the first packet of the first attempt until one of the connections was made.
    public var connect: Duration?
    /// From then until TLS was agreed upon; `nil` over http.
    public var tls: Duration?
    /// From sending the request until the first byte of the answer came.
    public var firstByte: Duration?
    /// From the beginning until the verdict.
    public var total: Duration?

    /// Makes timings, for your own tests. What you leave out is `nil`.
    ///
    /// - Parameters:
    ///   - name: How long the name's lookup took.
    ///   - connect: How long the connection took.
    ///   - tls: How long TLS took.
    ///   - firstByte: How long the first byte of the answer took.
    ///   - total: How long all of it took.
    public init(
      name: Duration? = nil, connect: Duration? = nil, tls: Duration? = nil, firstByte: Duration? = nil,
      total: Duration? = nil
    ) {
      self.name = name
      self.connect = connect
      self.tls = tls
      self.firstByte = firstByte
      self.total = total
    }
  }
}
