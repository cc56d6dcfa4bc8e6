// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a certificate says of itself (RFC 5280, 4.1), as far as the TLS library does not tell: for whom it is, and how
/// it is signed.
package struct CertificateFields {
  /// The names, as sequences of attributes (RFC 5280, 4.1.2.4).
  package let issuer: ArraySlice<UInt8>
  package let subject: ArraySlice<UInt8>
  /// The DNS names among the subject alternative names (RFC 5280, 4.2.1.6).
  package private(set) var names: [String] = []
  private var signatureAlgorithm: ArraySlice<UInt8> = []
  private var keyAlgorithm: ArraySlice<UInt8> = []
  private var key: ArraySlice<UInt8> = []
  /// The bits of the extension Key Usage, the first in the highest bit; `nil` without it.
  private var keyUsage: UInt8?
  /// The purposes of the extension Extended Key Usage; `nil` without it.
  private var purposes: [ArraySlice<UInt8>]?

  /// Whether the certificate names itself as its issuer.
  var isSelfIssued: Bool { issuer.elementsEqual(subject) }

  /// - Parameter bytes: The certificate in DER.
  package init?(_ bytes: [UInt8]) {
    var file = DERReader(bytes[...])
    guard var certificate = file.next(DERReader.sequence).map(DERReader.init),
      var body = certificate.next(DERReader.sequence).map(DERReader.init),
      var algorithm = certificate.next(DERReader.sequence).map(DERReader.init),
      let signatureAlgorithm = algorithm.next(DERReader.objectIdentifier)
    else { return nil }
    // The version, which may be left out, serial number, and the algorithm again.
    _ = body.next(DERReader.context(0))
    guard body.next(DERReader.integer) != nil, body.next(DERReader.sequence) != nil,
      let issuer = body.next(DERReader.sequence), body.next(DERReader.sequence) != nil,
      let subject = body.next(DERReader.sequence), var keyInfo = body.next(DERReader.sequence).map(DERReader.init),
      var keyAlgorithm = keyInfo.next(DERReader.sequence).map(DERReader.init),
      let keyIdentifier = keyAlgorithm.next(DERReader.objectIdentifier), let key = keyInfo.next(DERReader.bitString)
    else { return nil }
    self.signatureAlgorithm = signatureAlgorithm
    self.keyAlgorithm = keyIdentifier
    // The first byte counts unused bits; a key has none.
    self.key = key.dropFirst()
    (self.issuer, self.subject) = (issuer, subject)
    while let element = body.next() {
      if element.tag == DERReader.context(3) { readExtensions(element.contents) }
    }
  }

  private mutating func readExtensions(_ contents: ArraySlice<UInt8>) {
    var outer = DERReader(contents)
    guard var extensions = outer.next(DERReader.sequence).map(DERReader.init) else { return }
    while var one = extensions.next(DERReader.sequence).map(DERReader.init) {
      guard let identifier = one.next(DERReader.objectIdentifier) else { continue }
      _ = one.next(DERReader.boolean)
      guard var value = one.next(DERReader.octetString).map(DERReader.init) else { continue }
      if identifier.elementsEqual(Self.keyUsageIdentifier) {
        keyUsage = value.next(DERReader.bitString)?.dropFirst().first ?? 0
      } else if identifier.elementsEqual(Self.extendedKeyUsageIdentifier) {
        var list = DERReader(value.next(DERReader.sequence) ?? [])
        var purposes: [ArraySlice<UInt8>] = []
        while let purpose = list.next(DERReader.objectIdentifier) { purposes.append(purpose) }
        self.purposes = purposes
      } else if identifier.elementsEqual(Self.alternativeNameIdentifier) {
        var list = DERReader(value.next(DERReader.sequence) ?? [])
        while let name = list.next() {
          if name.tag == Self.dnsName { names.append(String(decoding: name.contents, as: UTF8.self)) }
        }
      }
    }
  }

  /// Whether the certificate may be a TLS server's (RFC 5280, 4.2.1.3 and 4.2.1.12).
  var isForServers: Bool {
    // digitalSignature, keyEncipherment, keyAgreement.
    if let keyUsage, keyUsage & 0b1010_1000 == 0 { return false }
    guard let purposes else { return true }
    return purposes.contains { $0.elementsEqual(Self.serverPurpose) || $0.elementsEqual(Self.anyPurpose) }
  }

  /// What is too weak in it, though the TLS library takes it: less than 112 bits of security (NIST SP 800-131A). curl
  /// refuses that. `nil` if nothing is.
  func weakness(isTrusted: @autoclosure () -> Bool) -> String? {
    // How a certificate is signed that is itself trusted does not matter: nothing depends on that.
    if Self.signaturesWithSHA1.contains(where: signatureAlgorithm.elementsEqual), !isTrusted() {
      return "the certificate is signed with SHA-1, which can be forged"
    }
    if let bits = modulusBits, bits < Self.shortestKey {
      return "the certificate's RSA key of \(bits) bits is too short"
    }
    return nil
  }

  /// The shortest RSA key of 112 bits of security, as OpenSSL 3 rounds the formula of SP 800-56B, appendix D.
  private static let shortestKey = 1963

  /// The length of an RSA key (RFC 8017, A.1.1); `nil` for another.
  private var modulusBits: Int? {
    guard keyAlgorithm.elementsEqual(Self.rsaIdentifier) else { return nil }
    var key = DERReader(key)
    guard var numbers = key.next(DERReader.sequence).map(DERReader.init), let modulus = numbers.next(DERReader.integer)
    else { return nil }
    let digits = modulus.drop { $0 == 0 }
    return digits.first.map { 8 * digits.count - $0.leadingZeroBitCount }
  }

  // Object identifiers as DER encodes them.
  /// 2.5.29.15.
  private static let keyUsageIdentifier: [UInt8] = [0x55, 0x1D, 0x0F]
  /// 2.5.29.17, and the tag of a dNSName in it.
  private static let alternativeNameIdentifier: [UInt8] = [0x55, 0x1D, 0x11]
  private static let dnsName: UInt8 = 0x82
  /// 2.5.29.37.
  private static let extendedKeyUsageIdentifier: [UInt8] = [0x55, 0x1D, 0x25]
  /// 1.3.6.1.5.5.7.3.1.
  private static let serverPurpose: [UInt8] = [0x2B, 6, 1, 5, 5, 7, 3, 1]
  /// 2.5.29.37.0.
  private static let anyPurpose: [UInt8] = [0x55, 0x1D, 0x25, 0]
  /// 1.2.840.113549.1.1.1 (RFC 3279, 2.3.1).
  private static let rsaIdentifier: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1]
  /// sha-1WithRSAEncryption and ecdsa-with-SHA1 (RFC 3279, 2.2), and the former's older name, 1.3.14.3.2.29.
  private static let signaturesWithSHA1: [[UInt8]] = [
    [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 5], [0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 1], [0x2B, 0x0E, 3, 2, 0x1D],
  ]
}

/// Reads elements of DER (ITU-T X.690), one after another. A malformed one ends it: nothing after that is read.
package struct DERReader {
  package static let boolean: UInt8 = 0x01
  package static let integer: UInt8 = 0x02
  package static let bitString: UInt8 = 0x03
  package static let octetString: UInt8 = 0x04
  package static let objectIdentifier: UInt8 = 0x06
  package static let sequence: UInt8 = 0x30

  /// The tag of a constructed element whose place decides its meaning.
  package static func context(_ number: UInt8) -> UInt8 { 0xA0 | number }

  private var rest: ArraySlice<UInt8>

  package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// The contents of the next element, if it has this tag. An element with another tag stays.
  package mutating func next(_ tag: UInt8) -> ArraySlice<UInt8>? { rest.first == tag ? next()?.contents : nil }

  /// The next element; `nil` at the end.
  package mutating func next() -> (tag: UInt8, contents: ArraySlice<UInt8>)? {
    guard let tag = rest.popFirst(), tag & 0x1F != 0x1F, let length = length(), length <= rest.count else {
      rest = []
      return nil
    }
    defer { rest = rest.dropFirst(length) }
    return (tag, rest.prefix(length))
  }

  private mutating func length() -> Int? {
    guard let first = rest.popFirst() else { return nil }
    if first < 0x80 { return Int(first) }
    // Four bytes can count more than any certificate has.
    let count = Int(first & 0x7F)
    guard (1...4).contains(count), count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
  }
}
