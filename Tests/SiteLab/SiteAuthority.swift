// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Crypto
import Foundation
import SwiftASN1
import X509
import _CryptoExtras

/// A certificate authority of a test's own, made when it is asked for.
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

  /// How the authority's signature gets onto a server's certificate.
  package enum Chain: Sendable {
    /// Signed by the root.
    case direct
    /// Signed by another authority, which the root signed and the server sends along.
    case intermediate
    /// The same, but the server does not send it.
    case intermediateMissing
  }

  /// Of the root, as PEM: what a client trusts.
  package let root: String
  private let certificate: Certificate
  private let key: P256.Signing.PrivateKey

  package init(name: String = "Dialtone Trials Root") throws {
    key = P256.Signing.PrivateKey()
    let subject = try Self.name(name)
    certificate = try Self.make(
      subject, of: .init(key.publicKey), by: subject, key: key, .now, Self.authorityExtensions)
    root = try Self.pem(certificate)
  }

  /// A server's identity for names and addresses, all of them subject alternative names.
  package func identity(
    for hosts: [String], _ validity: Validity = .now, _ chain: Chain = .direct
  ) throws -> SiteIdentity {
    let leafKey = P256.Signing.PrivateKey()
    let extensions = try Self.leafExtensions(hosts)
    // No host in the subject: only alternative names count (RFC 9525, 6.3).
    let subject = try Self.name("Dialtone Trials Server")
    guard chain != .direct else {
      let leaf = try Self.make(
        subject, of: .init(leafKey.publicKey), by: certificate.subject, key: key, validity, extensions)
      return SiteIdentity(chain: [try Self.pem(leaf)], key: leafKey.pemRepresentation)
    }
    let middleKey = P256.Signing.PrivateKey()
    let middleName = try Self.name("Dialtone Trials Intermediate")
    let middle = try Self.make(
      middleName, of: .init(middleKey.publicKey), by: certificate.subject, key: key, .now, Self.authorityExtensions)
    let leaf = try Self.make(
      subject, of: .init(leafKey.publicKey), by: middleName, key: middleKey, validity, extensions)
    let sent = chain == .intermediate ? [leaf, middle] : [leaf]
    return SiteIdentity(chain: try sent.map(Self.pem), key: leafKey.pemRepresentation)
  }

  /// An identity that only its own key vouches for.
  package static func selfSigned(for hosts: [String]) throws -> SiteIdentity {
    let key = P256.Signing.PrivateKey()
    let subject = try name("Dialtone Trials Server")
    let leaf = try make(subject, of: .init(key.publicKey), by: subject, key: key, .now, try leafExtensions(hosts))
    return SiteIdentity(chain: [try pem(leaf)], key: key.pemRepresentation)
  }

  /// An identity that names its host in the subject alone, as was usual before RFC 2818.
  package func identity(withCommonName host: String) throws -> SiteIdentity {
    let leafKey = P256.Signing.PrivateKey()
    let extensions = try Certificate.Extensions { Critical(BasicConstraints.notCertificateAuthority) }
    let leaf = try Self.make(
      try Self.name(host), of: .init(leafKey.publicKey), by: certificate.subject, key: key, .now, extensions)
    return SiteIdentity(chain: [try Self.pem(leaf)], key: leafKey.pemRepresentation)
  }

  /// An identity whose key may encipher alone, and not sign, as a server has to. By RSA: no server loads such a one of an elliptic curve.
  package func identityThatMayNotSign(for hosts: [String]) throws -> SiteIdentity {
    let leafKey = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    var extensions = try Self.leafExtensions(hosts)
    try extensions.append(Certificate.Extension(KeyUsage(keyEncipherment: true), critical: true))
    let leaf = try Self.make(
      try Self.name("Dialtone Trials Server"), of: .init(leafKey.publicKey), by: certificate.subject, key: key, .now,
      extensions)
    return SiteIdentity(chain: [try Self.pem(leaf)], key: leafKey.pemRepresentation)
  }

  private static func make(
    _ subject: DistinguishedName, of publicKey: Certificate.PublicKey, by issuer: DistinguishedName,
    key: P256.Signing.PrivateKey, _ validity: Validity, _ extensions: Certificate.Extensions
  ) throws -> Certificate {
    let (first, last) = validity.bounds
    return try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: publicKey, notValidBefore: first,
      notValidAfter: last, issuer: issuer, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
      extensions: extensions, issuerPrivateKey: .init(key))
  }

  private static var authorityExtensions: Certificate.Extensions {
    get throws {
      try Certificate.Extensions {
        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
        Critical(KeyUsage(keyCertSign: true, cRLSign: true))
      }
    }
  }

  private static func leafExtensions(_ hosts: [String]) throws -> Certificate.Extensions {
    let names = hosts.map { host in
      bytes(ofAddress: host).map { GeneralName.ipAddress(ASN1OctetString(contentBytes: $0[...])) } ?? .dnsName(host)
    }
    return try Certificate.Extensions {
      Critical(BasicConstraints.notCertificateAuthority)
      try ExtendedKeyUsage([.serverAuth])
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

  private static func pem(_ certificate: Certificate) throws -> String {
    try certificate.serializeAsPEM().pemString + "\n"
  }
}
#endif
