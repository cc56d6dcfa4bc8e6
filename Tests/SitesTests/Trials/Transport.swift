// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneSites
import SiteLab

/// Whether a trial uses TLS.
enum Transport: String, CaseIterable, CustomStringConvertible {
  case plain = "http"
  case secure = "https"

  var description: String { rawValue }
}

/// The authority of the servers of all trials.
enum Trust {
  static let authority = Result { try SiteIdentity("root").certificates }
  /// For the host names of the trials' servers.
  static let identity = Result { try SiteIdentity("server") }

  /// What a check has to trust.
  static func trust() throws -> SiteTrust { .pem(try authority.get()) }
}

extension SiteServer {
  /// With that transport, as a host of `Trust.identity`.
  convenience init(
    _ behaviour: SiteBehaviour, _ transport: Transport, recording: Bool = true
  ) async throws {
    // Read now: a test may have no descriptors later.
    _ = try Trust.trust()
    try await self.init(
      behaviour, as: transport == .secure ? try Trust.identity.get() : nil, recording: recording)
  }

  /// A URL of the server.
  func url(_ transport: Transport, host: String = "127.0.0.1", _ path: String = "/") throws -> SiteURL {
    try SiteURL("\(transport)://\(host):\(port)\(path)")
  }
}
#endif
