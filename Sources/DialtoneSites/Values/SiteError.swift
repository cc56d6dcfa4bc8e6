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
    private let rawValue: UInt8

    private init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// The text is no http or https URL, or is one that cannot be checked.
    public static let invalidURL = Code(1)
    /// The configuration contradicts itself, or asks for the impossible.
    public static let invalidConfiguration = Code(2)
    /// The deadline passed.
    public static let timedOut = Code(3)
    /// The name has no address, or could not be looked up.
    public static let nameNotResolved = Code(4)
    /// The name leads to no public address, and one is required.
    public static let privateAddress = Code(5)
    /// No packet for the site can leave this machine.
    public static let noPath = Code(6)
    /// No connection could be made. ``SiteError/errno`` says why, if the system did.
    public static let cannotConnect = Code(7)
    /// TLS could not be agreed upon, for another reason than the certificate.
    public static let tlsFailed = Code(8)
    /// The certificate has expired.
    public static let certificateExpired = Code(9)
    /// The certificate is not valid yet; or this machine's clock is wrong.
    public static let certificateNotYetValid = Code(10)
    /// The certificate belongs to another name.
    public static let certificateNameMismatch = Code(11)
    /// No valid chain leads from the certificate to a trusted authority; or the certificate is not made for a server,
    /// or too weak.
    public static let certificateUntrusted = Code(12)
    /// The connection was lost.
    public static let connectionLost = Code(13)
    /// What came is not HTTP/1.
    public static let malformedResponse = Code(14)
    /// The headers are longer than the limit.
    public static let headersTooLarge = Code(15)
    /// The proxy refused, or answered with nonsense.
    public static let proxyFailed = Code(16)
    /// The trusted certificates could not be read, or there are none.
    public static let trustUnreadable = Code(17)
    /// The body is compressed, although the request asks for `identity`, and was not read (RFC 9110, 8.4).
    public static let unreadableBody = Code(30)
    /// HEAD was answered 400, 403 or 404: the site may answer GET otherwise.
    public static let headRefused = Code(31)
    /// The site's certificate ends sooner than ``SiteCheckConfiguration/minimumCertificateLifetime`` allows.
    public static let certificateExpiresSoon = Code(18)
  }

  /// What kind of error it is.
  public let code: Code

  /// The system's error number (errno(3)) if a system call failed; 0 otherwise.
  public let errno: Int32

  /// What is wrong, for a person. Texts that a stranger sent are never part of it.
  public let message: String

  /// Makes an error, for your own tests.
  ///
  /// - Parameters:
  ///   - code: What kind of error it is.
  ///   - message: What is wrong, for a person.
  ///   - errno: The system's error number; 0 for none.
  public init(_ code: Code, _ message: String, errno: Int32 = 0) {
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

  /// The system's words for an error number, such as "connection refused".
  static func text(errno: CInt) -> String {
    let text = SystemError.text(of: errno)
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}
