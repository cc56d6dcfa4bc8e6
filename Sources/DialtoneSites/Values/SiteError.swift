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
    private let number: UInt8

    private init(number: UInt8) { self.number = number }

    /// The text is no http or https URL, or is one that cannot be checked.
    public static let invalidURL = Code(number: 1)
    /// The configuration contradicts itself, or asks for the impossible.
    public static let invalidConfiguration = Code(number: 2)
    /// The deadline passed.
    public static let timedOut = Code(number: 3)
    /// The name has no address, or could not be looked up.
    public static let nameNotResolved = Code(number: 4)
    /// The name leads to no public address, and one is required.
    public static let privateAddress = Code(number: 5)
    /// No packet for the site can leave this machine.
    public static let noPath = Code(number: 6)
    /// No connection could be made. ``SiteError/errno`` says why, if the system did.
    public static let cannotConnect = Code(number: 7)
    /// TLS could not be agreed upon, for another reason than the certificate.
    public static let tlsFailed = Code(number: 8)
    /// The certificate has expired.
    public static let certificateExpired = Code(number: 9)
    /// The certificate is not valid yet; or this machine's clock is wrong.
    public static let certificateNotYetValid = Code(number: 10)
    /// The certificate belongs to another name.
    public static let certificateNameMismatch = Code(number: 11)
    /// No valid chain leads from the certificate to a trusted authority; or the certificate is not made for a server,
    /// or too weak.
    public static let certificateUntrusted = Code(number: 12)
    /// The connection was lost.
    public static let connectionLost = Code(number: 13)
    /// What came is not HTTP/1.
    public static let malformedResponse = Code(number: 14)
    /// The headers are longer than the limit.
    public static let headersTooLarge = Code(number: 15)
    /// The proxy refused, or answered with nonsense.
    public static let proxyFailed = Code(number: 16)
    /// The trusted certificates could not be read, or there are none.
    public static let trustUnreadable = Code(number: 17)
    /// The body is compressed, although the request asks for `identity`, and was not read (RFC 9110, 8.4).
    public static let unreadableBody = Code(number: 18)
    /// HEAD was answered 400, 403 or 404: the site may answer GET otherwise.
    public static let headRefused = Code(number: 19)
    /// The site's certificate ends sooner than ``SiteCheckConfiguration/minimumCertificateLifetime`` allows.
    public static let certificateExpiresSoon = Code(number: 20)

    /// Each code with its stable identifier and its words for a person.
    private static let table: [(code: Code, identifier: String, words: String)] = [
      (.invalidURL, "invalid-url", "invalid URL"),
      (.invalidConfiguration, "invalid-configuration", "invalid configuration"),
      (.timedOut, "timed-out", "timed out"),
      (.nameNotResolved, "name-not-resolved", "name not resolved"),
      (.privateAddress, "private-address", "private address"),
      (.noPath, "no-path", "no path"),
      (.cannotConnect, "cannot-connect", "cannot connect"),
      (.tlsFailed, "tls-failed", "TLS failed"),
      (.certificateExpired, "certificate-expired", "certificate expired"),
      (.certificateNotYetValid, "certificate-not-yet-valid", "certificate not yet valid"),
      (.certificateNameMismatch, "certificate-name-mismatch", "certificate name mismatch"),
      (.certificateUntrusted, "certificate-untrusted", "certificate untrusted"),
      (.connectionLost, "connection-lost", "connection lost"),
      (.malformedResponse, "malformed-response", "malformed response"),
      (.headersTooLarge, "headers-too-large", "headers too large"),
      (.proxyFailed, "proxy-failed", "proxy failed"),
      (.trustUnreadable, "trust-unreadable", "trust unreadable"),
      (.unreadableBody, "unreadable-body", "unreadable body"),
      (.headRefused, "head-refused", "HEAD refused"),
      (.certificateExpiresSoon, "certificate-expires-soon", "certificate expires soon"),
    ]

    static let all: [Code] = table.map(\.code)

    /// The code with this ``identifier``, or `nil` if there is none.
    public init?(identifier: some StringProtocol) {
      guard let row = Self.table.first(where: { $0.identifier == identifier }) else { return nil }
      self = row.code
    }

    /// A short text that never changes, for files and other programs, such as `cannot-connect`.
    public var identifier: String { Self.table[Int(number) - 1].identifier }
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
  public var description: String { Self.table[Int(number) - 1].words }
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

  /// There is no path to the site, or to do something else, for this reason.
  static func noPath(_ reason: Reachability.Reason?, to goal: String = "the site") -> SiteError {
    SiteError(.noPath, "no path to \(goal): \(reason?.description ?? "no reason is known")")
  }

  /// The system's words for an error number, such as "connection refused".
  static func text(errno: CInt) -> String {
    let text = SystemError.text(of: errno)
    return ASCII.folded(text.prefix(1)) + text.dropFirst()
  }
}
