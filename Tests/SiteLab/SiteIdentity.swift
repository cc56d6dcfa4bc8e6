// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
import NIOSSL

/// A certificate with the chain that a server sends, and its key.
package struct SiteIdentity: Sendable {
  /// The leaf first, each as PEM.
  package let chain: [String]
  /// As PEM.
  package let key: String
  /// The end of the leaf's validity, in seconds since 1970.
  package let expires: Int

  /// The same in RFC 3339, in UTC.
  package var expiresText: String { Date(timeIntervalSince1970: Double(expires)).ISO8601Format() }

  /// The TLS context of a server with this identity.
  ///
  /// With an authority, as PEM, it only admits clients with a certificate of that authority.
  func context(
    minimum: TLSVersion = .tlsv12, maximum: TLSVersion? = nil, keyExchange: SiteKeyExchange = .any,
    clientAuthority: String? = nil
  ) throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: try chain.map {
        .certificate(try NIOSSLCertificate(bytes: Array($0.utf8), format: .pem))
      },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
    configuration.minimumTLSVersion = minimum
    configuration.maximumTLSVersion = maximum
    if keyExchange == .p521 { configuration.curves = [.secp521r1] }
    if let clientAuthority {
      configuration.certificateVerification = .noHostnameVerification
      configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(clientAuthority.utf8)))
    }
    return try NIOSSLContext(configuration: configuration)
  }
}
#endif
