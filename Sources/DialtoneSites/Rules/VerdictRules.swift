// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// What an answer means: pure, an observation in, a decision out. The table of design.md, "Sites", line by line.
struct VerdictRules {
  /// What is asked of the site, and how.
  let url: SiteURL
  let expectation: SiteExpectation
  /// The method that was asked for; with one given there is no second request.
  let fixedMethod: SiteConfiguration.Method?
  private let minimumCertificateLifetime: Duration?

  init(url: SiteURL, configuration: SiteConfiguration) {
    self.url = url
    expectation = configuration.expectation
    fixedMethod = configuration.method
    minimumCertificateLifetime = configuration.minimumCertificateLifetime
  }

  /// An answer's head.
  struct Head: Equatable, Sendable {
    var method: SiteConfiguration.Method
    var status: Int
    /// The texts of the header Location: there should be one at most.
    var locations: [String] = []
    /// The number in the header Content-Length, where there is a sensible one.
    var contentLength: Int?
  }

  /// As much of a body as has come, decoded.
  struct Body: Equatable, Sendable {
    /// Its bytes so far.
    var length = 0
    /// Whether the text that is expected is in them.
    var hasText = false
    /// Whether it is in a coding that nobody here reads: nothing can be said of it.
    var isUnreadable = false
    /// Whether no more will be read: it has ended, or the limit is reached.
    var isComplete = false
  }

  enum Decision: Equatable, Sendable {
    case verdict(SiteVerdict.Kind, location: String?)
    /// A request by GET has to follow.
    case askAgain
    /// More of the body has to be read.
    case readBody
  }

  /// The method of the first request.
  var firstMethod: SiteConfiguration.Method { fixedMethod ?? (expectation.bodyText == nil ? .head : .get) }

  /// What an answer's head says by itself.
  func judge(_ head: Head) -> Decision {
    // What is listed wins over every rule below.
    if case .statuses(let statuses) = expectation.storage, statuses.contains(head.status) {
      return .verdict(.available, location: nil)
    }
    if head.method == .head, fixedMethod == nil, head.status == 405 || head.status == 501 { return .askAgain }
    let redirect = Self.isRedirect(head.status) ? redirect(to: head.locations) : nil
    // RFC 6585, 6.
    if head.status == 511 { return .verdict(.captivePortal, location: redirect?.location) }
    if !url.isSecure, let redirect, redirect.isOtherHost {
      return .verdict(.captivePortal, location: redirect.location)
    }
    let isSuccess = (200...299).contains(head.status)
    switch expectation.storage {
    case .answer:
      return .verdict(.available, location: nil)
    case .success where isSuccess:
      return .verdict(.available, location: nil)
    case .success, .statuses:
      // Over http a page that nobody asked for is a portal's; only its body tells it from an empty answer.
      if isSuccess, !url.isSecure { return judgeStrayPage(head) }
      return .verdict(.unexpectedResponse, location: redirect?.location)
    case .body:
      return isSuccess
        ? Self.cannotHaveBody(head.status) ? .verdict(.unexpectedResponse, location: nil) : .readBody
        : .verdict(.unexpectedResponse, location: redirect?.location)
    }
  }

  /// Of several targets one that is on another host: a browser may take any of them.
  private func redirect(to locations: [String]) -> RedirectTarget? {
    let targets = locations.lazy.map { RedirectTarget($0, from: url) }
    return targets.first(where: \.isOtherHost) ?? targets.first
  }

  private func judgeStrayPage(_ head: Head) -> Decision {
    if Self.cannotHaveBody(head.status) { return .verdict(.unexpectedResponse, location: nil) }
    switch head.method {
    case .get: return .readBody
    case .head where fixedMethod == nil: return .askAgain
    // The length is all that this answer will ever tell of its page.
    case .head: return stray(length: head.contentLength ?? 0)
    }
  }

  /// What an answer says with as much of its body as has come. Only after `judge(_:)` said `readBody`.
  func judge(_ head: Head, _ body: Body) -> Decision {
    if body.isUnreadable { return .verdict(.unexpectedResponse, location: nil) }
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

  /// Why a site that answers as expected is not available all the same: its certificate ends too soon.
  func lifetimeError(certificateExpires: UTCTimestamp?, now: UTCTimestamp) -> SiteError? {
    guard let certificateExpires, let minimumCertificateLifetime,
      now.duration(to: certificateExpires) < minimumCertificateLifetime
    else { return nil }
    return SiteError(
      .certificateExpiresSoon, "the certificate expires at \(certificateExpires.descriptionInSeconds)")
  }

  /// A status that leads elsewhere where a Location says whither (RFC 9110, 15.4). 304 is about a copy that nobody here has.
  private static func isRedirect(_ status: Int) -> Bool { (300...399).contains(status) && status != 304 }

  /// RFC 9112, 6.3; and 205 (RFC 9110, 15.3.6).
  private static func cannotHaveBody(_ status: Int) -> Bool { status == 204 || status == 205 }
}
