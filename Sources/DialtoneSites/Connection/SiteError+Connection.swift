// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP1
internal import NIOHTTP2

/// What the network's errors mean to a check. NIO's words are for programmers, and are never repeated.
extension SiteError {
  /// Why a connection could not be made, in the system's words unless there are better `words`.
  init(connecting error: any Error, words: String? = nil) {
    if let error = error as? IOError {
      self.init(.cannotConnect, words ?? Self.text(errno: error.errnoCode), errno: error.errnoCode)
    } else {
      self.init(.cannotConnect, "the connection could not be made")
    }
  }

  /// Why a connection that was made is of no use any more.
  init(losing error: any Error) {
    if let error = error as? IOError {
      self.init(.connectionLost, Self.text(errno: error.errnoCode), errno: error.errnoCode)
    } else if let error = error as? HTTPParserError {
      self.init(malformed: error)
    } else if let reason = Self.tlsReason(error), reason.contains("_ALERT_") {
      // In TLS 1.3 a client is done before the server has judged its certificate, or the lack of one (RFC 8446,
      // 4.4.2.4).
      self.init(refusedBy: reason)
    } else if let error = SiteError(ofHTTP2: error) {
      self = error
    } else {
      self.init(.connectionLost, "the connection broke off")
    }
  }

  private init(malformed error: HTTPParserError) {
    switch error {
    case .headerOverflow: self.init(.headersTooLarge, "the headers are longer than \(Limits.headers) bytes")
    case .invalidEOFState, .closedConnection: self.init(.connectionLost, "the connection was closed in mid-answer")
    case .invalidHeaderToken:
      self.init(.malformedResponse, "a line of the answer's headers is malformed: it has no colon, or a NUL")
    case .unexpectedContentLength, .invalidContentLength:
      self.init(
        .malformedResponse, "the answer's Content-Length is malformed: it is no number, too large, or two that differ")
    case .invalidStatus: self.init(.malformedResponse, "the answer's status is malformed: it has not three digits")
    case .invalidChunkSize, .trailingGarbage:
      self.init(.malformedResponse, "the answer's body is malformed: it is not in the chunks that its headers announce")
    case .unknown: self.init(.malformedResponse, "the answer's Transfer-Encoding is malformed")
    default: self.init(.malformedResponse, "what came is not HTTP/1")
    }
  }

  /// Why an exchange over HTTP/2 ended without an answer; `nil` if the error is not about HTTP/2.
  private init?(ofHTTP2 error: any Error) {
    if error is NIOHTTP2Errors.ExcessivelyLargeHeaderBlock || error is NIOHPACKErrors.MaxHeaderListSizeViolation {
      self.init(malformed: .headerOverflow)
    } else if let error = error as? NIOHTTP2Errors.StreamClosed {
      self.init(.connectionLost, "the site ended the exchange (RFC 9113, 7: code \(error.errorCode.networkCode))")
    } else if error is any NIOHTTP2Error || error is any NIOHPACKError {
      self.init(.malformedResponse, "what came is not HTTP/2")
    } else {
      return nil
    }
  }

  /// Whether the site refuses HTTP/2 for this request alone (RFC 9113, 7, HTTP_1_1_REQUIRED).
  static func wantsHTTP1(_ error: any Error) -> Bool {
    (error as? NIOHTTP2Errors.StreamClosed)?.errorCode == .http11Required
  }
}
