// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a server can make a check hold or read at most, whatever it sends.
enum Limits {
  /// Bytes of response headers: status lines and interim responses of one request together. Extensions of chunks and
  /// trailers have as many again.
  static let headers = 65_536
  /// Bytes of body.
  static let body = 65_536
  /// Bytes that may come on one connection in all, what TLS and chunks add included.
  static let connection = 524_288
  /// Bytes that may come on all connections of a check over https; over http there are two at most.
  static let check = 1_048_576
  /// A 2xx answer of more bytes than these is a page. A few stray ones, such as a line break, are none.
  static let strayBytes = 4
  /// Addresses of a name that are tried, the families in turn. Each costs a watched path, and up to a second.
  static let addresses = 32
  /// Characters of a redirect's target that are kept.
  static let location = 2_048
}
