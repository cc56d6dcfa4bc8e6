// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneSites

/// Certificates written by hand (RFC 5280, 4.1; ITU-T X.690, 8.1).
struct CertificateFieldsTests {
  /// An element: its tag, its length in the shortest form, its contents.
  private static func element(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
    let contents = Array(parts.joined())
    switch contents.count {
    case ..<128: return [tag, UInt8(contents.count)] + contents
    case ..<256: return [tag, 0x81, UInt8(contents.count)] + contents
    default: return [tag, 0x82, UInt8(contents.count / 256), UInt8(contents.count % 256)] + contents
    }
  }

  private static func sequence(_ parts: [UInt8]...) -> [UInt8] { element(0x30, Array(parts.joined())) }

  // Object identifiers as `openssl asn1parse` and RFC 3279 have them.
  private static let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
  /// id-ecPublicKey, 1.2.840.10045.2.1.
  private static let ellipticCurve: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
  /// sha256WithRSAEncryption, 1.2.840.113549.1.1.11.
  private static let sha256: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B]
  private static let keyUsage: [UInt8] = [0x55, 0x1D, 0x0F]
  private static let extendedKeyUsage: [UInt8] = [0x55, 0x1D, 0x25]
  /// id-kp-serverAuth, id-kp-clientAuth and id-kp-codeSigning; anyExtendedKeyUsage.
  private static let server: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01]
  private static let client: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02]
  private static let code: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x03]
  private static let anyPurpose: [UInt8] = [0x55, 0x1D, 0x25, 0x00]

  /// A name: commonName (2.5.4.3) alone.
  private static func name(_ text: String) -> [UInt8] {
    sequence(element(0x31, sequence(element(0x06, [0x55, 0x04, 0x03]), element(0x0C, Array(text.utf8)))))
  }

  private static func algorithm(_ identifier: [UInt8]) -> [UInt8] {
    sequence(element(0x06, identifier), element(0x05, []))
  }

  /// The 2048 bits that most certificates have, or a number of these bytes.
  private static let usual: [UInt8] = [0x00, 0x80] + [UInt8](repeating: 0xFF, count: 255)

  private static func key(_ identifier: [UInt8], _ modulus: [UInt8]) -> [UInt8] {
    let numbers = sequence(element(0x02, modulus), element(0x02, [0x01, 0x00, 0x01]))
    return sequence(algorithm(identifier), element(0x03, [0x00], numbers))
  }

  private static func validity() -> [UInt8] {
    sequence(element(0x17, Array("250101000000Z".utf8)), element(0x17, Array("350101000000Z".utf8)))
  }

  /// The parts of what is signed: version, serial number, algorithm, issuer, validity, subject, key, and more.
  private static func parts(
    signature: [UInt8] = sha256, issuer: String = "Root", algorithm identifier: [UInt8] = rsa,
    modulus: [UInt8] = usual, _ more: [[UInt8]] = []
  ) -> [[UInt8]] {
    [
      element(0xA0, element(0x02, [0x02])), element(0x02, [0x07]), algorithm(signature), name(issuer), validity(),
      name("site"), key(identifier, modulus),
    ] + more
  }

  private static func certificate(_ parts: [[UInt8]], signature: [UInt8] = sha256) -> [UInt8] {
    sequence(element(0x30, Array(parts.joined())), algorithm(signature), element(0x03, [0x00, 0x01, 0x02]))
  }

  private static func extensions(_ list: [UInt8]...) -> [UInt8] { element(0xA3, sequence(Array(list.joined()))) }

  private static func one(_ identifier: [UInt8], isCritical: Bool = false, _ value: [UInt8]) -> [UInt8] {
    sequence(element(0x06, identifier), isCritical ? [0x01, 0x01, 0xFF] : [], element(0x04, value))
  }

  private static func usage(_ bits: UInt8, isCritical: Bool = true) -> [UInt8] {
    one(keyUsage, isCritical: isCritical, element(0x03, [0x00, bits]))
  }

  private static func purposes(_ list: [[UInt8]], isCritical: Bool = false) -> [UInt8] {
    one(extendedKeyUsage, isCritical: isCritical, sequence(Array(list.map { element(0x06, $0) }.joined())))
  }

  private func fields(_ more: [UInt8]...) throws -> CertificateFields {
    try #require(CertificateFields(Self.certificate(Self.parts(more))))
  }

  // MARK: For whom it is

  /// RFC 5280, 4.2.1.3: bit 0 is the highest. A server signs (0), or decrypts a key (2), or agrees on one (4).
  @Test(
    arguments: [
      (0x80, true), (0x40, false), (0x20, true), (0x10, false), (0x08, true), (0x04, false), (0x02, false),
      (0x01, false), (0x06, false), (0xA0, true), (0x56, false), (0x00, false),
    ] as [(UInt8, Bool)])
  func aServersKeySignsOrAgreesOnKeys(_ bits: UInt8, _ isForServers: Bool) throws {
    for isCritical in [true, false] {
      let usage = Self.extensions(Self.usage(bits, isCritical: isCritical))
      #expect(try fields(usage).isForServers == isForServers)
    }
  }

  /// RFC 5280, 4.2.1.12.
  @Test(arguments: [
    ([server], true), ([client], false), ([code], false), ([anyPurpose], true), ([client, server], true),
    ([code, anyPurpose], true), ([client, code], false), ([], false),
    // Longer or shorter by one number is another purpose.
    ([server + [1]], false), ([server.dropLast()], false), ([extendedKeyUsage], false),
  ])
  func aServersPurposeIsOneOfThem(_ purposes: [[UInt8]], _ isForServers: Bool) throws {
    for isCritical in [true, false] {
      let list = Self.extensions(Self.purposes(purposes, isCritical: isCritical))
      #expect(try fields(list).isForServers == isForServers)
    }
  }

  @Test func withoutEitherItIsForAnybody() throws {
    #expect(try fields().isForServers)
    // basicConstraints, 2.5.29.19.
    let other = Self.one([0x55, 0x1D, 0x13], isCritical: true, Self.sequence())
    #expect(try fields(Self.extensions(other)).isForServers)
    #expect(try fields(Self.extensions()).isForServers)
  }

  @Test func bothHaveToAllowIt() throws {
    let other = Self.one([0x55, 0x1D, 0x13], Self.sequence())
    for (bits, purpose, isForServers) in [
      (0x80, Self.server, true), (0x04, Self.server, false), (0x80, Self.client, false), (0x04, Self.client, false),
    ] as [(UInt8, [UInt8], Bool)] {
      let (usage, purposes) = (Self.usage(bits), Self.purposes([purpose]))
      #expect(try fields(Self.extensions(usage, other, purposes)).isForServers == isForServers)
      #expect(try fields(Self.extensions(other, purposes, usage)).isForServers == isForServers)
    }
  }

  /// RFC 5280, 4.1.2.8: unique identifiers, [1] and [2], stand before the extensions, which are [3].
  @Test func onlyTheExtensionsAreRead() throws {
    let refusing = Self.sequence(Self.usage(0x04))
    #expect(try fields(Self.element(0x81, [0x00, 0x01]), Self.element(0xA2, refusing)).isForServers)
    #expect(try !fields(Self.element(0xA1, []), Self.extensions(Self.usage(0x04))).isForServers)
    #expect(try fields(Self.element(0xA3, Self.usage(0x04))).isForServers, "a list in which no extension stands")
  }

  @Test func anExtensionThatCannotBeReadIsPassedOver() throws {
    let refusing = Self.usage(0x04)
    // Without a name, or without a value.
    for broken in [Self.sequence(Self.element(0x04, [])), Self.sequence(Self.element(0x06, Self.keyUsage))] {
      #expect(try !fields(Self.extensions(broken, refusing)).isForServers)
      #expect(try fields(Self.extensions(broken)).isForServers)
    }
    // Usages that are no bits allow nothing.
    #expect(try !fields(Self.extensions(Self.one(Self.keyUsage, Self.element(0x05, [])))).isForServers)
    #expect(try !fields(Self.extensions(Self.one(Self.extendedKeyUsage, Self.element(0x05, [])))).isForServers)
  }

  // MARK: What is weak

  /// The algorithms of RFC 3279, 2.2, with SHA-1, OIW's older name, and their neighbours: MD5, SHA-256, and ECDSA with
  /// SHA-256 (RFC 5758, 3.2).
  @Test(
    arguments: [
      ([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x05], true), ([0x2B, 0x0E, 0x03, 0x02, 0x1D], true),
      ([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x01], true),
      ([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x04], false), (sha256, false),
      ([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02], false), ([0x2B, 0x0E, 0x03, 0x02, 0x1C], false),
    ] as [([UInt8], Bool)])
  func aSignatureWithSHA1IsWeak(_ algorithm: [UInt8], _ isWeak: Bool) throws {
    let signed = Self.certificate(Self.parts(), signature: algorithm)
    // An issuer of the same name does not make it the certificate's own signature.
    let own = Self.certificate(Self.parts(issuer: "site"), signature: algorithm)
    for bytes in [signed, own] {
      let fields = try #require(CertificateFields(bytes))
      let weakness = fields.weakness(isTrusted: false)
      #expect(weakness == (isWeak ? "the certificate is signed with SHA-1, which can be forged" : nil))
      // Nothing depends on how one is signed that is itself trusted.
      #expect(fields.weakness(isTrusted: true) == nil)
    }
  }

  @Test(arguments: [("site", true), ("Root", false), ("sitf", false), ("sites", false), ("", false)])
  func isSelfIssuedIfIssuerAndSubjectAreTheSame(_ issuer: String, _ isSelfIssued: Bool) throws {
    let certificate = try #require(CertificateFields(Self.certificate(Self.parts(issuer: issuer))))
    #expect(certificate.isSelfIssued == isSelfIssued)
  }

  /// NIST SP 800-56B, appendix D: 112 bits of security from 1963 bits on, as OpenSSL rounds. The highest byte, and how
  /// many follow.
  @Test(
    arguments: [
      ([0x03], 245, 1962), ([0x04], 245, nil), ([0x00, 0x80], 127, 1024), ([0x01], 245, 1961), ([0x07], 245, nil),
      ([0x00, 0x00, 0x03], 245, 1962), ([0x00, 0x80], 255, nil), ([0x01], 0, 1), ([0xFF], 244, 1960),
      ([0x80], 256, nil), ([0x00], 0, nil),
    ] as [([UInt8], Int, Int?)])
  func aShortKeyIsWeak(_ high: [UInt8], _ count: Int, _ bits: Int?) throws {
    let modulus = high + [UInt8](repeating: 0xFF, count: count)
    for issuer in ["Root", "site"] {
      let certificate = CertificateFields(Self.certificate(Self.parts(issuer: issuer, modulus: modulus)))
      let weakness = try #require(certificate).weakness(isTrusted: true)
      #expect(weakness == bits.map { "the certificate's RSA key of \($0) bits is too short" })
    }
    // A key of another algorithm is no RSA key, whatever is in it.
    let other = CertificateFields(Self.certificate(Self.parts(algorithm: Self.ellipticCurve, modulus: modulus)))
    #expect(try #require(other).weakness(isTrusted: false) == nil)
  }

  // MARK: What is no certificate

  @Test func withoutAVersionItIsOne() throws {
    let certificate = CertificateFields(Self.certificate(Array(Self.parts(issuer: "site").dropFirst())))
    #expect(try #require(certificate).isSelfIssued)
  }

  /// Each part that a certificate has to have, left out or of another kind.
  @Test(arguments: 1...6) func withoutAPartItIsNone(_ position: Int) {
    var parts = Self.parts([Self.extensions(Self.usage(0x80))])
    parts.remove(at: position)
    #expect(CertificateFields(Self.certificate(parts)) == nil)
    parts.insert([0x05, 0x00], at: position)
    #expect(CertificateFields(Self.certificate(parts)) == nil)
  }

  @Test func withoutItsFrameItIsNone() {
    let body = Self.element(0x30, Array(Self.parts().joined()))
    let signature = Self.element(0x03, [0x00])
    #expect(CertificateFields(Self.sequence(body, Self.algorithm(Self.sha256), signature)) != nil)
    for bytes in [
      [], body, Self.sequence(), Self.sequence(body), Self.sequence(body, signature),
      Self.sequence(body, Self.sequence(), signature), Self.sequence(body, Self.sequence(Self.element(0x05, []))),
    ] {
      #expect(CertificateFields(bytes) == nil)
    }
  }

  @Test func aKeyHasAnAlgorithmAndBits() {
    let bits = Self.element(0x03, [0x00, 0x04])
    for key in [
      Self.sequence(), Self.sequence(bits), Self.sequence(Self.algorithm(Self.rsa)),
      Self.sequence(Self.sequence(), bits), Self.sequence(Self.algorithm(Self.rsa), Self.element(0x04, [0x00])),
    ] {
      var parts = Self.parts()
      parts[6] = key
      #expect(CertificateFields(Self.certificate(parts)) == nil)
    }
  }

  /// A key that is no pair of numbers says nothing of its length.
  @Test(arguments: [[], [0x02, 0x01, 0x05], [0x30, 0x00], [0x30, 0x02, 0x05, 0x00]] as [[UInt8]])
  func aKeyThatCannotBeReadIsNotShort(_ contents: [UInt8]) throws {
    var parts = Self.parts()
    parts[6] = Self.sequence(Self.algorithm(Self.rsa), Self.element(0x03, [0x00], contents))
    #expect(try #require(CertificateFields(Self.certificate(parts))).weakness(isTrusted: false) == nil)
  }
}

/// ITU-T X.690, 8.1.
struct DERReaderTests {
  private func read(_ bytes: [UInt8]) -> [[UInt8]] {
    var reader = DERReader(bytes[...])
    var elements: [[UInt8]] = []
    while let (tag, contents) = reader.next() { elements.append([tag] + contents) }
    return elements
  }

  @Test func readsOneElementAfterAnother() {
    #expect(read([]) == [])
    #expect(read([0x02, 0x01, 0x05, 0x05, 0x00, 0x04, 0x02, 0x08, 0x09]) == [[2, 5], [5], [4, 8, 9]])
    #expect(read([0xA3, 0x00, 0x1E, 0x00]) == [[0xA3], [0x1E]])
  }

  /// 8.1.3.4 and 8.1.3.5: lengths of one byte, and of up to four after their number.
  @Test(
    arguments: [
      ([0x7F], 127), ([0x81, 0x80], 128), ([0x81, 0xFF], 255), ([0x82, 0x01, 0x00], 256),
      ([0x83, 0x01, 0x00, 0x01], 65_537), ([0x84, 0x00, 0x00, 0x02, 0x03], 515), ([0x81, 0x00], 0), ([0x00], 0),
    ] as [([UInt8], Int)])
  func readsLengths(_ length: [UInt8], _ count: Int) {
    let contents = [UInt8](repeating: 7, count: count)
    #expect(read([0x04] + length + contents) == [[0x04] + contents])
    #expect(read([0x04] + length + contents + [0x05, 0x00]) == [[0x04] + contents, [0x05]])
    if count > 0 { #expect(read([0x04] + length + contents.dropLast()) == [], "one byte is missing") }
  }

  /// A tag of more bytes, a length without an end or of too many bytes, and what is cut. Nothing after it is read.
  @Test(
    arguments: [
      [0x1F], [0x1F, 0x00], [0x3F, 0x81, 0x00], [0xBF, 0x00], [0x04], [0x04, 0x80], [0x04, 0x85, 0, 0, 0, 0, 0],
      [0x04, 0xFF], [0x30, 0x80] + [UInt8](repeating: 0, count: 130),
    ] as [[UInt8]])
  func endsAtWhatIsMalformed(_ bytes: [UInt8]) {
    #expect(read([0x02, 0x01, 0x05] + bytes) == [[2, 5]])
    var reader = DERReader((bytes + [0x02, 0x00])[...])
    if bytes.count > 1 { #expect(reader.next() == nil && reader.next(DERReader.integer) == nil) }
  }

  @Test(arguments: [[0x04, 0x81], [0x04, 0x82, 0x01], [0x04, 0x84, 0, 0, 1]] as [[UInt8]])
  func aLengthThatIsCutEndsIt(_ bytes: [UInt8]) {
    #expect(read(bytes) == [])
  }

  @Test func anElementWithAnotherTagStays() {
    var reader = DERReader([0x02, 0x01, 0x05, 0x04, 0x00])
    #expect(reader.next(DERReader.octetString) == nil)
    #expect(reader.next(DERReader.integer).map(Array.init) == [5])
    #expect(reader.next(DERReader.integer) == nil)
    #expect(reader.next(DERReader.octetString).map(Array.init) == [])
    #expect(reader.next(DERReader.octetString) == nil)
  }

  /// X.680, table 1: the universal tags; X.690, 8.1.2: constructed and context-specific ones.
  @Test func tagsAreThoseOfTheStandard() {
    #expect([DERReader.boolean, DERReader.integer, DERReader.bitString, DERReader.octetString] == [1, 2, 3, 4])
    #expect(DERReader.objectIdentifier == 6 && DERReader.sequence == 0x30)
    #expect((UInt8(0)...3).map(DERReader.context) == [0xA0, 0xA1, 0xA2, 0xA3])
  }
}
