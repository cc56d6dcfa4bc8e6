// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// What an answer means. Pure: an observation in, a decision out. <doc:Sites> has the rules in words.
package struct VerdictRules {
  /// What is asked of the site, and how.
  let url: SiteURL
  let configuration: SiteCheckConfiguration

  private var expectation: SiteExpectation { configuration.expectation }

  package struct Head: Equatable, Sendable {
    package var method: SiteCheckConfiguration.Method
    package var status: Int
    /// The texts of the header Location, of which there should be one at most.
    package var locations: [String]
    /// The number in the header Content-Length, if there is a sensible one.
    package var contentLength: Int?
    /// What the body is coded in.
    package var coding: ContentCoding
    /// The charset of the body, in lower case, if there is one in Content-Type.
    package var charset: String?

    package init(
      method: SiteCheckConfiguration.Method, status: Int, locations: [String] = [], contentLength: Int? = nil,
      coding: ContentCoding = ContentCoding(), charset: String? = nil
    ) {
      self.method = method
      self.status = status
      self.locations = locations
      self.contentLength = contentLength
      self.coding = coding
      self.charset = charset
    }
  }

  package struct Body: Equatable, Sendable {
    /// Its bytes so far.
    package var length = 0
    /// Whether the expected text is in them.
    package var hasText = false
    /// Whether no more will be read: it has ended, or the limit is reached.
    package var isComplete = false
    package var hasEnded = false
  }

  enum Decision: Equatable, Sendable {
    case verdict(SiteVerdict.Kind, location: String?)
    /// A request by GET has to follow.
    case askAgain
    case readBody
    /// The body has to be read, and cannot be; the error says why.
    case unreadableBody(SiteError)
  }

  var firstMethod: SiteCheckConfiguration.Method {
    configuration.method ?? (expectation.bodyText == nil ? .head : .get)
  }

  /// What an answer's head says by itself.
  func judge(_ head: Head) -> Decision {
    // What is listed overrides every rule below.
    if expectation.lists(head.status) { return .verdict(.available, location: nil) }
    if head.method == .head, configuration.method == nil, head.status == 405 || head.status == 501 { return .askAgain }
    let redirect = Self.isRedirect(head.status) ? redirect(to: head.locations) : nil
    // RFC 6585, 6.
    if head.status == 511 { return .verdict(.captivePortal, location: redirect?.location) }
    if !url.isSecure, let redirect, redirect.isOtherHost {
      return .verdict(.captivePortal, location: redirect.location)
    }
    let isSuccess = (200...299).contains(head.status)
    switch expectation.storage {
    case .answer: return .verdict(.available, location: nil)
    case .success where isSuccess: return .verdict(.available, location: nil)
    case .success, .statuses:
      // Over http an unexpected page is a portal's. Only its body tells it from an empty answer.
      if isSuccess, !url.isSecure { return judgeStrayPage(head) }
      return .verdict(.unexpectedResponse, location: redirect?.location)
    case .body:
      return isSuccess
        ? Self.cannotHaveBody(head.status) ? .verdict(.unexpectedResponse, location: nil) : read(head)
        : .verdict(.unexpectedResponse, location: redirect?.location)
    }
  }

  /// Of several targets, one on another host: a browser may take any of them.
  private func redirect(to locations: [String]) -> RedirectTarget? {
    let targets = locations.lazy.map { RedirectTarget($0, from: url) }
    return targets.first { $0.isOtherHost && $0.location != nil } ?? targets.first(where: \.isOtherHost)
      ?? targets.first
  }

  private func judgeStrayPage(_ head: Head) -> Decision {
    if Self.cannotHaveBody(head.status) { return .verdict(.unexpectedResponse, location: nil) }
    switch head.method {
    case .get: return read(head)
    case .head where configuration.method == nil: return .askAgain
    // The length is all that this answer tells of its page.
    case .head: return stray(length: head.contentLength ?? 0)
    }
  }

  /// Reads the body, unless it is in a coding or a charset that cannot be read: then it says nothing, and the check has
  /// failed.
  private func read(_ head: Head) -> Decision {
    if !head.coding.isNone { return .unreadableBody(head.coding.error) }
    if let text = expectation.bodyText, TextEncoding.encodings(of: text, charset: head.charset) == nil {
      let words = "the body is in a charset in which only ASCII is looked for; expect a text of ASCII"
      return .unreadableBody(SiteError(.unreadableBody, words))
    }
    return .readBody
  }

  /// What an answer says with the part of its body that has come. Only after `judge(_:)` said `readBody`.
  func judge(_ head: Head, _ body: Body) -> Decision {
    if expectation.bodyText != nil {
      if body.hasText { return .verdict(.available, location: nil) }
      if !body.isComplete { return .readBody }
      return url.isSecure ? .verdict(.unexpectedResponse, location: nil) : stray(length: body.length)
    }
    if body.length <= Limits.strayBytes, !body.isComplete { return .readBody }
    return stray(length: body.length)
  }

  private func stray(length: Int) -> Decision {
    .verdict(length > Limits.strayBytes ? .captivePortal : .unexpectedResponse, location: nil)
  }

  /// Why an answer of this status, which a proxy passed on, is no sign of the site; `nil` if it is one.
  func proxyError(_ status: Int) -> SiteError? {
    // RFC 9110, 15.5.8: the proxy itself says so.
    if status == 407 { return SiteError(.proxyFailed, "the proxy refused to connect to the site (407)") }
    // RFC 9110, 15.6: a proxy says so if it did not reach the site. Nothing in the answer tells for certain whether it
    // did.
    guard (500...599).contains(status), status != 511, !expectation.lists(status) else { return nil }
    return SiteError(.proxyFailed, "the proxy answered \(status): no sign that the site did")
  }

  /// What may be behind an answer that was not expected.
  func hint(_ head: Head) -> SiteError? {
    // Servers that know GET alone do not always say 405 or 501 (RFC 9110, 9.1).
    guard head.method == .head, [400, 403, 404].contains(head.status) else { return nil }
    return SiteError(.headRefused, "HEAD was answered so; the site may answer GET otherwise")
  }

  /// Why a site that answers as expected is still not available: its certificate ends too soon.
  func lifetimeError(certificateExpires: UTCTimestamp?, now: UTCTimestamp) -> SiteError? {
    guard let certificateExpires, let least = configuration.minimumCertificateLifetime,
      now.duration(to: certificateExpires) < least
    else { return nil }
    return SiteError(.certificateExpiresSoon, "the certificate expires at \(certificateExpires.descriptionInSeconds)")
  }

  /// A status that leads elsewhere if there is a Location (RFC 9110, 15.4). 304 is about a copy, which a check does not
  /// have.
  private static func isRedirect(_ status: Int) -> Bool { (300...399).contains(status) && status != 304 }

  /// RFC 9112, 6.3; and 205 (RFC 9110, 15.3.6).
  private static func cannotHaveBody(_ status: Int) -> Bool { status == 204 || status == 205 }
}

/// The codings that a body is in (RFC 9110, 8.4), in the order in which they were applied. A check asks for none
/// (`Accept-Encoding: identity`), and reads no body in one.
package struct ContentCoding: Equatable, Sendable {
  private let names: [String]

  /// Takes the names of the codings, in lower case. `identity` is no coding, and as for curl, nor is `none`.
  package init(_ members: [String] = []) { names = members.filter { $0 != "identity" && $0 != "none" } }

  /// Whether the body is in no coding.
  var isNone: Bool { names.isEmpty }

  /// The codings of the IANA registry that servers use, in words. Other names are a stranger's text.
  private static let words = [
    "gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate", "br": "Brotli", "zstd": "Zstandard",
    "compress": "compress", "x-compress": "compress",
  ]

  /// Why the body is not read.
  var error: SiteError {
    let codings = names.map { Self.words[$0] ?? "an unknown coding" }.joined(separator: ", then ")
    return SiteError(
      .unreadableBody, "the body is compressed (\(codings)), although the request asks for it uncompressed (identity)")
  }
}
