// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone

/// Whether a proxy may be asked in a site's place.
public struct SiteProxy: Hashable, Sendable {
  package enum Storage: Hashable, Sendable {
    case direct
    case environment
  }

  package let storage: Storage

  private init(_ storage: Storage) { self.storage = storage }

  /// The site itself is asked, regardless of the environment.
  public static let direct = SiteProxy(.direct)

  /// The proxies in the environment variables `http_proxy` and `https_proxy` are asked, except for hosts in `no_proxy`.
  ///
  /// The names are tried in lower case, then in capitals, except `HTTP_PROXY`. A proxy is an http URL; credentials in
  /// it are sent to the proxy alone (RFC 7617). `no_proxy` lists domains, addresses, networks (`10.0.0.0/8`) or `*`,
  /// separated by commas.
  public static let environment = SiteProxy(.environment)
}

/// A proxy that is asked in a site's place.
package struct ProxyServer: Hashable, Sendable {
  /// As it is looked up.
  package let host: SiteURL.Host
  package let port: UInt16
  /// What the header Proxy-Authorization says (RFC 7617); `nil` if the proxy's URL has no user.
  package let authorization: String?
  /// How it is asked by SOCKS; `nil` for a proxy of HTTP.
  package var socks: Socks?

  /// Whether it can only be asked for a site whose address is known.
  package var wantsAddress = false

  /// What a proxy of SOCKS 5 has to be told (RFC 1928).
  package struct Socks: Hashable, Sendable {
    /// The site's address; `nil` if the proxy looks its name up.
    package var target: IPAddress?
    package var user: [UInt8]?
    package var password: [UInt8] = []
  }
}
