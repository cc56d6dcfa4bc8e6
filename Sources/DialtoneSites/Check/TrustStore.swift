// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import NIOCore
internal import NIOSSL

/// The TLS contexts of checks, with the certificates that vouch for sites: read once, and again when their files have changed.
///
/// An actor, since reading the system's certificates takes milliseconds: who comes meanwhile waits without holding a thread.
actor TrustStore {
  /// Where certificates are read from, and how to see that they have changed.
  private struct Source: Hashable {
    var file: String?
    var directories: [String] = []
    var pem: String?
    var stamps: [Stamp?] = []

    var paths: [String] { (file.map { [$0] } ?? []) + directories }
  }

  /// A file or directory as it was.
  private struct Stamp: Hashable {
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

  /// More than this many trusts at a time are made anew each time.
  private static let capacity = 4
  /// Where distributions keep the file of their authorities: Debian and its kin, Fedora and its kin.
  private static let systemFiles = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]

  private var contexts: [(source: Source, context: NIOSSLContext)] = []

  /// The context for checks that trust `trust`; throws a ``SiteError`` with the code `trustUnreadable` where there is none to be had.
  func context(for trust: SiteTrust) throws(SiteError) -> NIOSSLContext {
    let source = Self.source(of: trust)
    if let found = contexts.first(where: { $0.source == source }) { return found.context }
    let context: NIOSSLContext
    do {
      context = try NIOSSLContext(configuration: Self.configuration(source))
    } catch {
      let place = source.paths.isEmpty ? "text" : source.paths.joined(separator: ":")
      throw SiteError(.trustUnreadable, "the trusted certificates could not be read (\(place)): \(error)")
    }
    if contexts.count == Self.capacity { contexts.removeFirst() }
    contexts.append((source, context))
    return context
  }

  private static func source(of trust: SiteTrust) -> Source {
    var source = Source()
    switch trust.storage {
    case .system:
      source.file = EnvironmentVariable["SSL_CERT_FILE"]
      source.directories = EnvironmentVariable["SSL_CERT_DIR"]?.split(separator: ":").map(String.init) ?? []
      source.stamps = (source.paths.isEmpty ? systemFiles : source.paths).map(Stamp.init)
    case .file(let path):
      source.file = path
      source.stamps = [Stamp(path)]
    case .pem(let text): source.pem = text
    }
    return source
  }

  private static func configuration(_ source: Source) throws -> TLSConfiguration {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    // Chain and validity; whom the certificate is for is checked right after the handshake (``CertificateIdentity``).
    configuration.certificateVerification = .noHostnameVerification
    configuration.applicationProtocols = ["http/1.1"]
    // The answer is complete: who does not say goodbye at once is not waited for.
    configuration.shutdownTimeout = .nanoseconds(0)
    if let pem = source.pem {
      configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)))
    } else if source.paths.isEmpty {
      configuration.trustRoots = .default
    } else {
      // As openssl does: a directory that is not there has no certificates; a file that is not there is a mistake.
      let directories = source.directories.filter(CertificateDirectory.exists)
      let file =
        try source.file.map { [NIOSSLAdditionalTrustRoots.certificates(try NIOSSLCertificate.fromPEMFile($0))] } ?? []
      // BoringSSL looks into one directory by itself, as far as it needs to; those of others are read.
      configuration.trustRoots = directories.first.map { .file($0) } ?? .certificates([])
      configuration.additionalTrustRoots =
        file + directories.dropFirst().map { .certificates(CertificateDirectory.certificates(in: $0)) }
    }
    return configuration
  }
}
