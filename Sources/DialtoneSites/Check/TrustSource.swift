// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import NIOCore
internal import NIOSSL

/// Where the certificates that vouch for sites are read from.
///
/// `stamps` and `configuration` read files, and so take as long as these like.
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
      #if os(Linux)  // the field has another name elsewhere
      let time = status.st_mtim
      #else
      let time = status.st_mtimespec
      #endif
      seconds = Int(time.tv_sec)
      nanoseconds = Int(time.tv_nsec)
    }
  }

  /// Where distributions keep the file of their authorities: Debian and its kin, Fedora and its kin.
  private static let systemFiles = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]

  private var file: String?
  private var directories: [String] = []
  private(set) var pem: String?

  init(_ trust: SiteTrust) {
    switch trust.storage {
    case .system:
      file = EnvironmentVariable["SSL_CERT_FILE"]
      directories = EnvironmentVariable["SSL_CERT_DIR"]?.split(separator: ":").map(String.init) ?? []
    case .file(let path): file = path
    case .pem(let text): pem = text
    }
  }

  private var paths: [String] { (file.map { [$0] } ?? []) + directories }

  /// What errors say of it.
  var place: String { pem != nil ? "text" : paths.isEmpty ? "the system's" : paths.joined(separator: ":") }

  /// By which a change of what is read is seen.
  var stamps: [Stamp?] {
    if pem != nil { return [] }
    return (paths.isEmpty ? Self.systemFiles : paths + directories.flatMap(CertificateDirectory.files)).map(Stamp.init)
  }

  /// What checks ask of TLS.
  func configuration() throws -> TLSConfiguration {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    // Chain and validity; whom the certificate is for is checked right after the handshake (``CertificateIdentity``).
    configuration.certificateVerification = .noHostnameVerification
    configuration.applicationProtocols = ["http/1.1"]
    // The answer is complete: who does not say goodbye at once is not waited for.
    configuration.shutdownTimeout = .nanoseconds(0)
    if let pem {
      configuration.trustRoots = .certificates(try CertificateFile.certificates(of: Array(pem.utf8)))
    } else if paths.isEmpty {
      configuration.trustRoots = .default
    } else {
      // As openssl does: a directory that is not there has no certificates; a file that is not there is a mistake. BoringSSL would look
      // into a directory by itself, but in the midst of a handshake, on the event loop.
      configuration.trustRoots = .certificates(try file.map(CertificateFile.certificates) ?? [])
      configuration.additionalTrustRoots = directories.map { .certificates(CertificateDirectory.certificates(in: $0)) }
    }
    return configuration
  }
}
