// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// What was wrong with an argument, or why no well-formed answer came.
///
/// Thrown only for what the program has to put right: a URL, a configuration. A site that does not answer is a result.
/// Then ``SiteVerdict/error`` holds this.
public struct SiteError: Error, Hashable, Sendable {
  /// What kind of error it is. More may come: a `switch` over them needs a `default`.
  public struct Code: Hashable, Sendable {
    /// A short text that never changes, for files and other programs, such as `cannot-connect`.
    public let identifier: String
    fileprivate let words: String

    private init(_ identifier: String, _ words: String) { (self.identifier, self.words) = (identifier, words) }

    /// The text is no http or https URL, or is one that cannot be checked.
    public static let invalidURL = Code("invalid-url", "invalid URL")
    /// The configuration contradicts itself, or asks for the impossible.
    public static let invalidConfiguration = Code("invalid-configuration", "invalid configuration")
    /// The deadline passed.
    public static let timedOut = Code("timed-out", "timed out")
    /// The name has no address, or could not be looked up.
    public static let nameNotResolved = Code("name-not-resolved", "name not resolved")
    /// The name leads to no public address, and one is required.
    public static let privateAddress = Code("private-address", "private address")
    /// No packet for the site can leave this machine.
    public static let noPath = Code("no-path", "no path")
    /// No connection could be made. ``SiteError/errno`` says why, if the system did.
    public static let cannotConnect = Code("cannot-connect", "cannot connect")
    /// TLS could not be agreed upon, for another reason than the certificate.
    public static let tlsFailed = Code("tls-failed", "TLS failed")
    /// The certificate has expired.
    public static let certificateExpired = Code("certificate-expired", "certificate expired")
    /// The certificate is not valid yet; or this machine's clock is wrong.
    public static let certificateNotYetValid = Code("certificate-not-yet-valid", "certificate not yet valid")
    /// The certificate belongs to another name.
    public static let certificateNameMismatch = Code("certificate-name-mismatch", "certificate name mismatch")
    /// No valid chain leads from the certificate to a trusted authority; or the certificate is not made for a server,
    /// or too weak.
    public static let certificateUntrusted = Code("certificate-untrusted", "certificate untrusted")
    /// The connection was lost.
    public static let connectionLost = Code("connection-lost", "connection lost")
    /// What came is not HTTP/1.
    public static let malformedResponse = Code("malformed-response", "malformed response")
    /// The headers are longer than the limit.
    public static let headersTooLarge = Code("headers-too-large", "headers too large")
    /// The proxy refused, or answered with nonsense.
    public static let proxyFailed = Code("proxy-failed", "proxy failed")
    /// The trusted certificates could not be read, or there are none.
    public static let trustUnreadable = Code("trust-unreadable", "trust unreadable")
    /// The body is compressed, although the request asks for `identity`, and was not read (RFC 9110, 8.4).
    public static let unreadableBody = Code("unreadable-body", "unreadable body")
    /// HEAD was answered 400, 403 or 404: the site may answer GET otherwise.
    public static let headRefused = Code("head-refused", "HEAD refused")
    /// The site's certificate ends sooner than ``SiteCheckConfiguration/minimumCertificateLifetime`` allows.
    public static let certificateExpiresSoon = Code("certificate-expires-soon", "certificate expires soon")

    static let all: [Code] = [
      invalidURL, invalidConfiguration, timedOut, nameNotResolved, privateAddress, noPath, cannotConnect, tlsFailed,
      certificateExpired, certificateNotYetValid, certificateNameMismatch, certificateUntrusted, connectionLost,
      malformedResponse, headersTooLarge, proxyFailed, trustUnreadable, unreadableBody, headRefused,
      certificateExpiresSoon,
    ]

    /// The code with this ``identifier``, or `nil` if there is none.
    public init?(identifier: some StringProtocol) {
      guard let code = Self.all.first(where: { $0.identifier == identifier }) else { return nil }
      self = code
    }
  }

  /// What kind of error it is.
  public let code: Code

  /// The system's error number (errno(3)); `nil` if no system call failed.
  public let errno: Int32?

  /// What is wrong, for a person. Texts that a stranger sent are never part of it.
  public let message: String

  /// Who ended the attempt of a connection, if the system says so.
  package enum Sender: Hashable, Sendable {
    /// This machine, by a rule.
    case thisMachine
    /// This machine, since its gateway does not answer.
    case silentGateway
    /// This machine, since the host on the link does not answer.
    case silentHost
    /// A router on the way, or the host.
    case elsewhere
  }

  package internal(set) var sender: Sender?

  /// Whether another TLS library may judge otherwise, such as one that knows more algorithms.
  package internal(set) var isInDispute = false

  /// Makes an error, for your own tests.
  ///
  /// - Parameters:
  ///   - code: What kind of error it is.
  ///   - message: What is wrong, for a person.
  ///   - errno: The system's error number, if a system call failed.
  public init(_ code: Code, _ message: String, errno: Int32? = nil) {
    self.code = code
    self.message = message
    self.errno = errno
  }

  /// Whether code and error number are the same; the words do not count.
  public static func == (a: SiteError, b: SiteError) -> Bool { a.code == b.code && a.errno == b.errno }

  /// Feeds what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(code)
    hasher.combine(errno)
  }
}

extension SiteError.Code: CustomStringConvertible {
  /// The code in words, such as "cannot connect".
  public var description: String { words }
}

extension SiteError: CustomStringConvertible {
  /// The ``message``.
  public var description: String { message }
}

extension SiteError {
  /// Whether the certificate is to blame: the peer could not prove to be the site.
  var isAboutIdentity: Bool {
    switch code {
    case .certificateExpired, .certificateNotYetValid, .certificateNameMismatch, .certificateUntrusted: true
    default: false
    }
  }

  /// There is no path to the site, over the interface asked for, or to do something else, for this reason.
  static func noPath(
    _ reason: Reachability.Reason?, to goal: String = "the site", over interface: String? = nil
  ) -> SiteError {
    let path = "path to \(goal)\(interface.map { " over \($0)" } ?? "")"
    return SiteError(.noPath, "no \(path): \(reason?.description ?? "no reason is known")")
  }

  /// The system's words for an error number, such as "connection refused".
  package static func text(errno: CInt) -> String {
    let text = SystemError.text(of: errno)
    return ASCII.folded(text.prefix(1)) + text.dropFirst()
  }
}
