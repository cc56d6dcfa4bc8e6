// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOSSL

/// What the TLS library's errors mean to a check. Its own words appear only in parentheses.
extension SiteError {
  /// Why TLS could not be agreed upon. `certificate` is the one that the peer showed, if it showed one.
  init(handshaking error: any Error, certificate: NIOSSLCertificate?, now: Int) {
    let reason = Self.tlsReason(error)
    if let reason, Self.unsuitable.contains(reason) {
      self.init(.certificateUntrusted, "the certificate is not made for this (\(reason))")
      isInDispute = true
    } else if Self.isUnverified(error) || reason == nil && Self.isAboutCertificate(error) {
      self.init(refusing: certificate, now: now, reason)
    } else if let reason {
      self.init(refusedBy: reason)
    } else if let error = error as? IOError {
      self.init(.tlsFailed, Self.text(errno: error.errnoCode), errno: error.errnoCode)
    } else if Self.isEnd(error) {
      self.init(.connectionLost, "the connection was closed before TLS was agreed upon")
    } else {
      self.init(.tlsFailed, "TLS could not be agreed upon")
    }
  }

  /// Why the TLS library did not believe a certificate, as far as that shows. The library says neither why nor which
  /// one of the chain is to blame, and gives no more of it than the leaf.
  private init(refusing certificate: NIOSSLCertificate?, now: Int, _ reason: String?) {
    let suffix = reason.map { " (\($0))" } ?? ""
    let fields = certificate.flatMap(Self.fields)
    if let certificate, certificate.notValidAfter < now {
      self.init(.certificateExpired, "the certificate has expired")
    } else if let certificate, certificate.notValidBefore > now {
      self.init(.certificateNotYetValid, "the certificate is not valid yet")
    } else if let fields, !fields.isForServers {
      self.init(.certificateUntrusted, "the certificate is not made for a server\(suffix)")
    } else if let fields, fields.isSelfIssued {
      self.init(.certificateUntrusted, "the certificate is self-signed, and not among the trusted ones\(suffix)")
    } else {
      self.init(
        .certificateUntrusted,
        "the TLS library finds no valid chain from the certificate to a trusted authority: the authority is unknown, "
          + "or a certificate between is missing, has expired, may not vouch for this one, limits addresses (name "
          + "constraints of the kind iPAddress) or is of another kind that the library does not know\(suffix)")
      // Others also end a chain at a trusted certificate that is no root (X509_V_FLAG_PARTIAL_CHAIN).
      isInDispute = true
    }
  }

  /// Why a certificate that is believed is not enough; `nil` if it is.
  init?(judging certificate: NIOSSLCertificate, isTrusted: @autoclosure () -> Bool) {
    guard let weakness = Self.fields(certificate)?.weakness(isTrusted: isTrusted()) else { return nil }
    self.init(.certificateUntrusted, weakness)
  }

  static func fields(_ certificate: NIOSSLCertificate) -> CertificateFields? {
    do {
      return CertificateFields(try certificate.toDERBytes())
    } catch {
      // It was read from these bytes. What cannot be written again cannot be examined, and the library has judged it.
      return nil
    }
  }

  /// What the TLS library's reason says; the reason itself follows in parentheses. Most are alerts that the peer sent
  /// (RFC 8446, 6).
  init(refusedBy reason: String) {
    let words =
      switch reason {
      case "SSLV3_ALERT_HANDSHAKE_FAILURE":
        "the site refused TLS; it may want another name in the URL, a client certificate, or other ciphers"
      case "HANDSHAKE_FAILURE_ON_CLIENT_HELLO":
        "the site refused TLS; it may want another name in the URL, or ciphers or curves that other programs offer"
      case "TLSV1_ALERT_CERTIFICATE_REQUIRED", "TLSV1_CERTIFICATE_REQUIRED", "SSLV3_ALERT_NO_CERTIFICATE":
        "the site asks for a client certificate, which a check does not have"
      case "TLSV1_ALERT_NO_APPLICATION_PROTOCOL":
        "the site speaks neither HTTP/1.1 nor HTTP/2 over TLS, but another protocol"
      case "TLSV1_ALERT_UNRECOGNIZED_NAME", "TLSV1_UNRECOGNIZED_NAME":
        "the site knows no server of the name in the URL"
      case "TLSV1_ALERT_PROTOCOL_VERSION", "UNSUPPORTED_PROTOCOL": "the site speaks no TLS 1.2 or later"
      case "WRONG_VERSION_NUMBER": "what answers does not speak TLS"
      case _ where reason.contains("_ALERT_"): "the site refused TLS"
      default: "TLS could not be agreed upon"
      }
    self.init(.tlsFailed, "\(words) (\(reason))")
    isInDispute = reason == "HANDSHAKE_FAILURE_ON_CLIENT_HELLO"
  }

  /// Whether the TLS library believes no chain of the peer's.
  static func isUnverified(_ error: any Error) -> Bool { tlsReason(error) == "CERTIFICATE_VERIFY_FAILED" }

  /// Whether the peer speaks none of the protocols that were announced (RFC 7301, 3.2).
  static func wantsAnotherProtocol(_ error: any Error) -> Bool {
    tlsReason(error) == "TLSV1_ALERT_NO_APPLICATION_PROTOCOL"
  }

  private static func isAboutCertificate(_ error: any Error) -> Bool {
    switch error as? NIOSSLError {
    case .noCertificateToValidate, .unableToValidateCertificate: true
    default: false
    }
  }

  /// BoringSSL's words for a certificate that cannot serve: its key is for other uses or of another kind, or it cannot
  /// be read.
  private static let unsuitable: Set<String> = [
    "KEY_USAGE_BIT_INCORRECT", "WRONG_CERTIFICATE_TYPE", "UNKNOWN_CERTIFICATE_TYPE", "BAD_ECC_CERT",
    "CANNOT_PARSE_LEAF_CERT", "CERT_LENGTH_MISMATCH",
  ]

  /// Whether the peer has closed in the middle of the handshake, without a reason.
  private static func isEnd(_ error: any Error) -> Bool {
    switch error as? NIOSSLError {
    case .handshakeFailed(.sslError(let stack)): stack.last == .eofDuringHandshake
    case .uncleanShutdown: true
    default: false
    }
  }

  /// BoringSSL's own word for what went wrong, the last of its stack: `CERTIFICATE_VERIFY_FAILED`,
  /// `WRONG_VERSION_NUMBER`.
  static func tlsReason(_ error: any Error) -> String? {
    let cause: BoringSSLError? =
      if case .handshakeFailed(let cause)? = error as? NIOSSLError { cause } else { error as? BoringSSLError }
    guard case .sslError(let stack)? = cause, let last = stack.last else { return nil }
    // "Error: 268435581 error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at /path:297"
    let text = last.description
    guard let origin = text.firstRange(of: "OPENSSL_internal:") else { return nil }
    return String(text[origin.upperBound...].prefix { $0 != " " })
  }
}
