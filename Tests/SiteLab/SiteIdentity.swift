// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NIOSSL

/// A certificate with what a server sends along, and its key.
package struct SiteIdentity: Sendable {
  /// The leaf first, each as PEM.
  package let chain: [String]
  /// As PEM.
  package let key: String

  /// What a server needs for a handshake as this identity.
  func context(minimum: TLSVersion = .tlsv12, maximum: TLSVersion? = nil) throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: try chain.map {
        .certificate(try NIOSSLCertificate(bytes: Array($0.utf8), format: .pem))
      },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
    configuration.minimumTLSVersion = minimum
    configuration.maximumTLSVersion = maximum
    return try NIOSSLContext(configuration: configuration)
  }
}
#endif
