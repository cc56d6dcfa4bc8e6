// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NIOSSL
import TestSupport

/// Certificates and their key, of a server or an authority.
package struct SiteIdentity: Sendable {
  /// What a server sends, its own first, or an authority's own, as PEM.
  package let certificates: String
  /// As PEM. Of an authority it is empty.
  package let key: String

  /// One of those that `make-certificates` made; it says what each is like.
  package init(_ name: String) throws {
    let lines = try sourceText("Tests/SiteLab/Certificates/\(name).pem").split(separator: "\n")
    let key = lines.firstIndex(of: "-----BEGIN PRIVATE KEY-----") ?? lines.endIndex
    certificates = lines[..<key].map { $0 + "\n" }.joined()
    self.key = lines[key...].map { $0 + "\n" }.joined()
  }

  /// The end of all that are valid now, in seconds since 1970.
  package static let end = 2_524_607_999
  /// The same as `date -u -d @2524607999` has it.
  package static let endText = "2049-12-31T23:59:59Z"

  /// The TLS context of a server with this identity.
  ///
  /// With an authority, as PEM, it only admits clients with a certificate of that authority.
  func context(
    minimum: TLSVersion = .tlsv12, maximum: TLSVersion? = nil, keyExchange: SiteKeyExchange = .any,
    clientAuthority: String? = nil, protocols: [String] = []
  ) throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificates.utf8)).map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
    configuration.minimumTLSVersion = minimum
    configuration.maximumTLSVersion = maximum
    configuration.applicationProtocols = protocols
    if keyExchange == .p521 { configuration.curves = [.secp521r1] }
    if let clientAuthority {
      configuration.certificateVerification = .noHostnameVerification
      configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(clientAuthority.utf8)))
    }
    return try NIOSSLContext(configuration: configuration)
  }
}
#endif
