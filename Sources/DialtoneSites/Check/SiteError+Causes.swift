// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

/// What the network's errors mean to a check. None of NIO's words gets into ours: they are for programmers.
extension SiteError {
  /// Why a connection could not be made, in the system's words unless there are better `words`.
  init(connecting error: any Error, words: String? = nil) {
    if let error = error as? IOError {
      self.init(.cannotConnect, words ?? Self.text(errno: error.errnoCode), errno: error.errnoCode)
    } else {
      self.init(.cannotConnect, "the connection could not be made")
    }
  }

  /// Why a connection that was there is of no use any more.
  init(losing error: any Error) {
    if let error = error as? IOError {
      self.init(.connectionLost, Self.text(errno: error.errnoCode), errno: error.errnoCode)
    } else if let error = error as? HTTPParserError {
      self.init(malformed: error)
    } else {
      self.init(.connectionLost, "the connection broke off")
    }
  }

  private init(malformed error: HTTPParserError) {
    switch error {
    case .headerOverflow: self.init(.headersTooLarge, "the headers are longer than \(Limits.headers) bytes")
    case .invalidEOFState, .closedConnection: self.init(.connectionLost, "the connection was closed in mid-answer")
    default: self.init(.malformedResponse, "what came is not HTTP/1")
    }
  }

  /// Why TLS could not be agreed upon. `certificate` is the one that the peer showed, where it came to that.
  init(handshaking error: any Error, certificate: NIOSSLCertificate?, now: Int) {
    let reason = Self.reason(error)
    if let reason, Self.unsuitable.contains(reason) {
      self.init(.certificateUntrusted, "the certificate is not made for this (\(reason))")
      return
    }
    guard reason == "CERTIFICATE_VERIFY_FAILED" || reason == nil && Self.isAboutCertificate(error) else {
      if let error = error as? IOError {
        self.init(.tlsFailed, Self.text(errno: error.errnoCode), errno: error.errnoCode)
      } else if Self.isEnd(error) {
        self.init(.connectionLost, "the connection was closed before TLS was agreed upon")
      } else {
        self.init(.tlsFailed, "no TLS 1.2 or later could be agreed upon\(reason.map { " (\($0))" } ?? "")")
      }
      return
    }
    if let certificate, certificate.notValidAfter < now {
      self.init(.certificateExpired, "the certificate has expired")
    } else if let certificate, certificate.notValidBefore > now {
      self.init(.certificateNotYetValid, "the certificate is not valid yet")
    } else {
      self.init(.certificateUntrusted, "the certificate is signed by nobody who is trusted")
    }
  }

  /// Whether the certificate is to blame: somebody answered who could not prove to be the site.
  var isAboutIdentity: Bool {
    switch code {
    case .certificateExpired, .certificateNotYetValid, .certificateNameMismatch, .certificateUntrusted: true
    default: false
    }
  }

  private static func isAboutCertificate(_ error: any Error) -> Bool {
    switch error as? NIOSSLError {
    case .noCertificateToValidate, .unableToValidateCertificate: true
    default: false
    }
  }

  /// BoringSSL's words for a certificate that is there and cannot serve: its key is for other uses or of another kind, or it cannot be read.
  private static let unsuitable: Set<String> = [
    "KEY_USAGE_BIT_INCORRECT", "WRONG_CERTIFICATE_TYPE", "UNKNOWN_CERTIFICATE_TYPE", "BAD_ECC_CERT",
    "CANNOT_PARSE_LEAF_CERT", "CERT_LENGTH_MISMATCH",
  ]

  /// Whether the peer has gone in mid-handshake, without a word of why.
  private static func isEnd(_ error: any Error) -> Bool {
    switch error as? NIOSSLError {
    case .handshakeFailed(.sslError(let stack)): stack.last == .eofDuringHandshake
    case .uncleanShutdown: true
    default: false
    }
  }

  /// BoringSSL's own word for what went wrong, the last of its stack: `CERTIFICATE_VERIFY_FAILED`, `WRONG_VERSION_NUMBER`.
  private static func reason(_ error: any Error) -> String? {
    guard case .handshakeFailed(.sslError(let stack)) = error as? NIOSSLError, let last = stack.last else { return nil }
    // "Error: 268435581 error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at /path:297"
    let text = last.description
    guard let origin = text.firstRange(of: "OPENSSL_internal:") else { return nil }
    return String(text[origin.upperBound...].prefix { $0 != " " })
  }

  /// The system's words for an error number, such as "connection refused".
  static func text(errno: CInt) -> String {
    // strerror(3) answers a text that stays valid until the thread asks again; it is copied at once.
    let text = unsafe String(cString: strerror(errno))
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}
