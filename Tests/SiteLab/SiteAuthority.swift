// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Crypto
import Foundation
import SwiftASN1
import X509
import _CryptoExtras

/// A certificate authority for one test.
package struct SiteAuthority: Sendable {
  /// The time in which a certificate is valid.
  package enum Validity: Sendable {
    case now, expired, notYet

    fileprivate var bounds: (Date, Date) {
      let day: TimeInterval = 24 * 60 * 60
      return switch self {
      case .now: (Date(timeIntervalSinceNow: -day), Date(timeIntervalSinceNow: 30 * day))
      case .expired: (Date(timeIntervalSinceNow: -30 * day), Date(timeIntervalSinceNow: -day))
      case .notYet: (Date(timeIntervalSinceNow: day), Date(timeIntervalSinceNow: 30 * day))
      }
    }
  }

  /// How the authority signs a server's certificate.
  package enum Chain: Sendable {
    /// Signed by the root.
    case direct
    /// Signed by another authority, which the root signed and the server sends along.
    case intermediate
    /// The same, but the server does not send it.
    case intermediateMissing
    /// The other authority's certificate has expired.
    case intermediateExpired
    /// The other authority may only sign for names below `other.example` (RFC 5280, 4.2.1.10).
    case intermediateForOtherNames
  }

  /// A key's algorithm and size.
  package enum Key: String, Sendable, CaseIterable {
    case p256, p384, p521, ed25519, rsa1024, rsa2048

    fileprivate func make() throws -> Certificate.PrivateKey {
      switch self {
      case .p256: .init(P256.Signing.PrivateKey())
      case .p384: .init(P384.Signing.PrivateKey())
      case .p521: .init(P521.Signing.PrivateKey())
      case .ed25519: .init(Curve25519.Signing.PrivateKey())
      case .rsa1024: .init(try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1024)))
      case .rsa2048: .init(try _RSA.Signing.PrivateKey(keySize: .bits2048))
      }
    }
  }

  /// What a certificate is for (RFC 5280, 4.2.1.12).
  package enum Purpose: Sendable {
    case server, client

    fileprivate var usage: ExtendedKeyUsage.Usage { self == .server ? .serverAuth : .clientAuth }
  }

  /// The root's certificate as PEM, which a client trusts.
  package let root: String
  private let certificate: Certificate
  private let key: Certificate.PrivateKey

  package init(name: String = "Dialtone Trials Root", key: Key = .p256) throws {
    self.key = try key.make()
    let subject = try Self.name(name)
    certificate = try Self.make(
      subject, of: self.key.publicKey, by: subject, key: self.key, .now, Self.authorityExtensions)
    root = try Self.pem(certificate)
  }

  /// A server's identity for names and addresses, all of them subject alternative names.
  package func identity(
    for hosts: [String], _ validity: Validity = .now, _ chain: Chain = .direct, key kind: Key = .p256,
    purpose: Purpose = .server
  ) throws -> SiteIdentity {
    let leafKey = try kind.make()
    let extensions = try Self.leafExtensions(hosts, purpose)
    // No host in the subject: only alternative names count (RFC 9525, 6.3).
    let subject = try Self.name("Dialtone Trials Server")
    guard chain != .direct else {
      let leaf = try Self.make(
        subject, of: leafKey.publicKey, by: certificate.subject, key: key, validity, extensions)
      return try Self.identity([leaf], leafKey)
    }
    let middleKey = try Key.p256.make()
    let middleName = try Self.name("Dialtone Trials Intermediate")
    var middleExtensions = try Self.authorityExtensions
    if chain == .intermediateForOtherNames {
      try middleExtensions.append(
        Certificate.Extension(NameConstraints(permittedDNSDomains: ["other.example"]), critical: true))
    }
    let middle = try Self.make(
      middleName, of: middleKey.publicKey, by: certificate.subject, key: key,
      chain == .intermediateExpired ? .expired : .now, middleExtensions)
    let leaf = try Self.make(subject, of: leafKey.publicKey, by: middleName, key: middleKey, validity, extensions)
    let sent = chain == .intermediateMissing ? [leaf] : [leaf, middle]
    return try Self.identity(sent, leafKey)
  }

  /// An identity whose certificate is signed with SHA-1, by an authority with an RSA key.
  package func identitySignedWithSHA1(for hosts: [String]) throws -> SiteIdentity {
    let leafKey = try Key.p256.make()
    let leaf = try Self.make(
      try Self.name("Dialtone Trials Server"), of: leafKey.publicKey, by: certificate.subject, key: key, .now,
      try Self.leafExtensions(hosts), signature: .sha1WithRSAEncryption)
    return try Self.identity([leaf], leafKey)
  }

  /// An identity with a certificate that its own key signed.
  package static func selfSigned(for hosts: [String]) throws -> SiteIdentity {
    let key = try Key.p256.make()
    let subject = try name("Dialtone Trials Server")
    let leaf = try make(subject, of: key.publicKey, by: subject, key: key, .now, try leafExtensions(hosts))
    return try identity([leaf], key)
  }

  /// An identity with its host only in the subject, as was usual before RFC 2818.
  package func identity(withCommonName host: String) throws -> SiteIdentity {
    let leafKey = try Key.p256.make()
    let extensions = try Certificate.Extensions { Critical(BasicConstraints.notCertificateAuthority) }
    let leaf = try Self.make(
      try Self.name(host), of: leafKey.publicKey, by: certificate.subject, key: key, .now, extensions)
    return try Self.identity([leaf], leafKey)
  }

  /// An identity with a key that may encipher but not sign, which a server has to. The key is RSA: no server loads one
  /// of an elliptic curve.
  package func identityThatMayNotSign(for hosts: [String]) throws -> SiteIdentity {
    let leafKey = try Key.rsa2048.make()
    var extensions = try Self.leafExtensions(hosts)
    try extensions.append(Certificate.Extension(KeyUsage(keyEncipherment: true), critical: true))
    let leaf = try Self.make(
      try Self.name("Dialtone Trials Server"), of: leafKey.publicKey, by: certificate.subject, key: key, .now,
      extensions)
    return try Self.identity([leaf], leafKey)
  }

  private static func make(
    _ subject: DistinguishedName, of publicKey: Certificate.PublicKey, by issuer: DistinguishedName,
    key: Certificate.PrivateKey, _ validity: Validity, _ extensions: Certificate.Extensions,
    signature: Certificate.SignatureAlgorithm? = nil
  ) throws -> Certificate {
    let (first, last) = validity.bounds
    guard let signature else {
      return try Certificate(
        version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: publicKey, notValidBefore: first,
        notValidAfter: last, issuer: issuer, subject: subject, extensions: extensions, issuerPrivateKey: key)
    }
    return try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: publicKey, notValidBefore: first,
      notValidAfter: last, issuer: issuer, subject: subject, signatureAlgorithm: signature, extensions: extensions,
      issuerPrivateKey: key)
  }

  private static var authorityExtensions: Certificate.Extensions {
    get throws {
      try Certificate.Extensions {
        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
        Critical(KeyUsage(keyCertSign: true, cRLSign: true))
      }
    }
  }

  private static func leafExtensions(_ hosts: [String], _ purpose: Purpose = .server) throws -> Certificate.Extensions {
    let names = hosts.map { host in
      bytes(ofAddress: host).map { GeneralName.ipAddress(ASN1OctetString(contentBytes: $0[...])) } ?? .dnsName(host)
    }
    return try Certificate.Extensions {
      Critical(BasicConstraints.notCertificateAuthority)
      try ExtendedKeyUsage([purpose.usage])
      SubjectAlternativeNames(names)
    }
  }

  private static func bytes(ofAddress text: String) -> [UInt8]? {
    for (family, size) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: size)
      // inet_pton(3) writes as many bytes as an address of the family has.
      if unsafe inet_pton(family, text, &bytes) == 1 { return bytes }
    }
    return nil
  }

  private static func name(_ text: String) throws -> DistinguishedName {
    try DistinguishedName { CommonName(text) }
  }

  private static func identity(_ chain: [Certificate], _ key: Certificate.PrivateKey) throws -> SiteIdentity {
    // A certificate has whole seconds (RFC 5280, 4.1.2.5).
    SiteIdentity(
      chain: try chain.map(pem), key: try pem(key), expires: Int(chain[0].notValidAfter.timeIntervalSince1970))
  }

  private static func pem(_ key: Certificate.PrivateKey) throws -> String { try key.serializeAsPEM().pemString + "\n" }

  private static func pem(_ certificate: Certificate) throws -> String {
    try certificate.serializeAsPEM().pemString + "\n"
  }
}
#endif
