// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import NIOCore
internal import NIOSSL

/// Where the certificates that vouch for sites are read from.
///
/// `stamps` and `configuration` read files, which may take any time.
struct TrustSource: Hashable, Sendable {
  /// A file or directory as it was.
  struct Stamp: Hashable {
    let inode: UInt64
    let size: Int64
    let seconds: Int
    let nanoseconds: Int

    init?(_ path: String) {
      var status = stat()
      // stat(2) writes into the variable and keeps nothing.
      guard unsafe stat(path, &status) == 0 else { return nil }
      inode = UInt64(status.st_ino)
      size = Int64(status.st_size)
      #if canImport(Darwin)  // the field has a name of its own there
      let time = status.st_mtimespec
      #else
      let time = status.st_mtim
      #endif
      seconds = Int(time.tv_sec)
      nanoseconds = Int(time.tv_nsec)
    }
  }

  /// Where distributions keep their authorities.
  struct Places {
    /// The first that exists counts: Debian and its kin, Fedora and its kin.
    var files = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]
    /// Beside the file.
    var directories = ["/etc/ssl/certs"]
  }

  private var file: String?
  private var directories: [String] = []
  private(set) var pem: String?
  /// Whether the places are the distribution's defaults.
  private var isDistributions = false
  private let verifies: Bool
  /// What is announced (RFC 7301), the preferred one first.
  private let protocols: [String]

  /// What checks with this configuration trust, and what they ask of TLS.
  init(_ configuration: SiteCheckConfiguration) {
    self.init(
      configuration.trust, verifies: configuration.inspection?.verifiesCertificate ?? true,
      protocols: configuration.protocols)
  }

  /// The names of HTTP/1.1 and HTTP/2 over TLS (RFC 7301, 6; RFC 9113, 3.2).
  static let http1 = "http/1.1"
  static let http2 = "h2"

  init(_ trust: SiteTrust, places: Places = Places(), verifies: Bool = true, protocols: [String] = [http1]) {
    self.verifies = verifies
    self.protocols = protocols
    switch trust.storage {
    case .system:
      file = EnvironmentVariable["SSL_CERT_FILE"]
      directories = EnvironmentVariable["SSL_CERT_DIR"]?.split(separator: ":").map(String.init) ?? []
      guard file == nil, directories.isEmpty else { return }
      isDistributions = true
      file = places.files.first { Stamp($0) != nil }
      directories = places.directories
    case .file(let path): file = path
    case .pem(let text): pem = text
    }
  }

  private var paths: [String] { (file.map { [$0] } ?? []) + directories }

  /// What errors call it.
  var place: String { pem != nil ? "text" : isDistributions ? "the system's" : paths.joined(separator: ":") }

  /// A change of these shows a change of what is read.
  var stamps: [Stamp?] {
    if pem != nil { return [] }
    return (paths + directories.flatMap(CertificateDirectory.files)).map(Stamp.init)
  }

  /// NIOSSL's own, and P-521, which other clients offer, too.
  private static let curves: [NIOTLSCurve] = [.x25519_MLKEM768, .x25519, .secp256r1, .secp384r1, .secp521r1]

  /// BoringSSL's own without SHA-1, which other clients no longer take (RFC 9155), and with Ed25519 and P-521, which
  /// they take.
  private static let signatureAlgorithms: [SignatureAlgorithm] = [
    .ecdsaSecp256R1Sha256, .rsaPssRsaeSha256, .rsaPkcs1Sha256, .ed25519, .ecdsaSecp384R1Sha384, .rsaPssRsaeSha384,
    .rsaPkcs1Sha384, .ecdsaSecp521R1Sha512, .rsaPssRsaeSha512, .rsaPkcs1Sha512,
  ]

  /// What checks ask of TLS.
  func configuration() throws -> TLSConfiguration {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.curves = Self.curves
    configuration.verifySignatureAlgorithms = Self.signatureAlgorithms
    // Chain and validity. Right after the handshake, ``CertificateIdentity`` checks whom the certificate is for.
    configuration.certificateVerification = .noHostnameVerification
    configuration.applicationProtocols = protocols
    // Some servers of TLS 1.2 renegotiate for a page with rules of its own. The library binds that to what was agreed
    // upon before (RFC 5746), and takes no other certificate.
    configuration.renegotiationSupport = .once
    // The answer is complete: nothing waits for the peer's close_notify.
    configuration.shutdownTimeout = .nanoseconds(0)
    if !verifies {
      configuration.certificateVerification = .none
      configuration.trustRoots = .certificates([])
      return configuration
    }
    #if canImport(Darwin)  // there the system judges certificates by itself
    if isDistributions { return configuration }
    #endif
    // Of several certificates of one authority the library takes the first that it finds, even if it has expired.
    let certificates = try certificates()
    let valid = certificates.filter { $0.notValidAfter >= Self.now }
    configuration.trustRoots = .certificates(valid.isEmpty ? certificates : valid)
    return configuration
  }

  /// The time by which the library judges certificates.
  static var now: Int { Int(TimeSource.system.realtime() / 1_000_000_000) }

  /// All certificates in it, at least one.
  private func certificates() throws -> [NIOSSLCertificate] {
    if let pem { return try CertificateFile.certificates(of: Array(pem.utf8)) }
    // As openssl does: a directory that does not exist has no certificates; a file that does not exist is a mistake.
    // BoringSSL would look into a directory by itself, but during a handshake, on the event loop.
    let certificates =
      (try file.map(CertificateFile.certificates) ?? []) + directories.flatMap(CertificateDirectory.certificates)
    if certificates.isEmpty {
      throw CertificateFile.Failure(
        words: isDistributions
          ? "there are none; install the package ca-certificates, or name them by SSL_CERT_FILE or SSL_CERT_DIR"
          : "there are none, so that no site could be believed")
    }
    return certificates
  }
}

extension SiteCheckConfiguration {
  fileprivate var protocols: [String] {
    if inspection?.endsWithConnection ?? false { return [] }
    return offersHTTP2 ? [TrustSource.http2, TrustSource.http1] : [TrustSource.http1]
  }
}
