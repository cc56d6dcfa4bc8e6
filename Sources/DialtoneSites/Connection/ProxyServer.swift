// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// A proxy that is asked in a site's place.
struct ProxyServer: Equatable, Sendable {
  /// As it is looked up.
  let host: SiteURL.Host
  let port: UInt16
  /// What the header Proxy-Authorization says (RFC 7617); `nil` where the proxy's URL has no user.
  let authorization: String?
}
