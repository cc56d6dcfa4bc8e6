// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

/// What came of a check.
///
/// Two verdicts are equal when a receiver would not be told of a difference: same ``url``, ``kind``, ``status``, ``stage``
/// and ``interface``. What is read along does not count: the texts that servers choose anew each time (``location``), the
/// address, the error's words, and times.
public struct SiteVerdict: Sendable {
  /// The URL that was checked.
  public let url: SiteURL

  /// The verdict in a word.
  public let kind: Kind

  /// The answer's status code; `nil` where there was no answer.
  public let status: Int?

  /// Where a redirect leads, made absolute and cut at 2,048 characters; only with `captivePortal` and `unexpectedResponse`, and only an
  /// http or https URL. It is a stranger's text: Dialtone never opens it, and all in it but printable ASCII is percent-encoded.
  public let location: String?

  /// Where it failed; only with `failed`.
  public let stage: Stage?

  /// Why it failed, or why the site's certificate was not believed; with `unexpectedResponse`, what may be behind the answer. `nil` if there
  /// is nothing to say.
  public let error: SiteError?

  /// The address that was connected to, or, where no connection was made, tried last; a proxy's where one was asked.
  public let address: IPAddress?

  /// The interface that leads to the address.
  public let interface: NetworkInterface?

  /// When the certificate that was shown ends, in whole seconds: the last second in which it is valid.
  /// It is the server's own certificate, the leaf of its chain, also if it was not believed. `nil` if none was shown, as over http.
  public let certificateExpires: UTCTimestamp?

  /// How long each stage took.
  public let timings: Timings

  /// When the verdict was found; `nil` as long as nothing is known.
  public let timestamp: UTCTimestamp?

  package init(
    url: SiteURL, kind: Kind, status: Int? = nil, location: String? = nil, stage: Stage? = nil, error: SiteError? = nil,
    address: IPAddress? = nil, interface: NetworkInterface? = nil, certificateExpires: UTCTimestamp? = nil,
    timings: Timings = Timings(), timestamp: UTCTimestamp? = nil
  ) {
    self.url = url
    self.kind = kind
    self.status = status
    self.location = location
    self.stage = stage
    self.error = error
    self.address = address
    self.interface = interface
    self.certificateExpires = certificateExpires
    self.timings = timings
    self.timestamp = timestamp
  }

  /// Whether the site answered as expected.
  public var isAvailable: Bool { kind == .available }
}

extension SiteVerdict: Hashable {
  /// Whether a receiver would not be told of a difference; see the type's description.
  public static func == (a: SiteVerdict, b: SiteVerdict) -> Bool {
    a.kind == b.kind && a.status == b.status && a.stage == b.stage && a.interface == b.interface && a.url == b.url
  }

  /// Feeds what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(url)
    hasher.combine(kind)
    hasher.combine(status)
    hasher.combine(stage)
    hasher.combine(interface)
  }
}

extension SiteVerdict: CustomStringConvertible {
  /// The verdict in words, such as "available (200)" or "failed to connect: connection refused". Without a stranger's text.
  public var description: String {
    var text = kind.description
    if let stage { text += " \(stage)" }
    if let status { text += " (\(status))" }
    if let error { text += ": \(error)" }
    return text
  }
}
