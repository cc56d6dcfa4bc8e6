// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneExporter

/// Names of certificates in DER (X.690), as Go's crypto/x509 writes them (pkix.Name.String, RFC 4514).
struct CertificateNameTests {
  /// An element of DER (X.690, 8.1): tag, length, contents.
  private static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
    switch contents.count {
    case 0..<0x80: [tag, UInt8(contents.count)] + contents
    case 0x80..<0x100: [tag, 0x81, UInt8(contents.count)] + contents
    default: [tag, 0x82, UInt8(contents.count >> 8), UInt8(contents.count & 0xFF)] + contents
    }
  }

  private static func sequence(_ elements: [UInt8]...) -> [UInt8] { element(0x30, elements.flatMap(\.self)) }

  /// An attribute in a set of its own.
  private static func attribute(_ type: [UInt8], _ tag: UInt8, _ value: [UInt8]) -> [UInt8] {
    element(0x31, sequence(element(0x06, type), element(tag, value)))
  }

  /// Of 2.5.4.
  private static func attribute(_ number: UInt8, _ text: String, _ tag: UInt8 = 0x0C) -> [UInt8] {
    attribute([0x55, 0x04, number], tag, Array(text.utf8))
  }

  /// RFC 5280, 4.1.
  private static func certificate(
    issuer: [UInt8] = [], subject: [UInt8] = [], version: [UInt8] = [0xA0, 3, 2, 1, 2], rest: [UInt8] = []
  ) -> CertificateSummary {
    let body = sequence(
      version, [2, 1, 7], sequence([6, 1, 0x2A]), element(0x30, issuer), sequence([0x17, 0], [0x17, 0]),
      element(0x30, subject), sequence(sequence([6, 1, 0x2A]), [3, 1, 0]), rest)
    return CertificateSummary(sequence(body, sequence([6, 1, 0x2A]), [3, 1, 0]))
  }

  @Test func namesTheIssuerAndTheSubject() {
    for version in [[], [0xA0, 3, 2, 1, 2]] as [[UInt8]] {
      let summary = Self.certificate(
        issuer: Self.attribute(3, "root"), subject: Self.attribute(3, "leaf"), version: version)
      #expect(summary.issuer == "CN=root" && summary.subject == "CN=leaf" && summary.names.isEmpty, "\(version)")
    }
  }

  /// The last of several common names and serial numbers counts; others stand together.
  @Test func namesThatAreThereSeveralTimes() {
    let twice = ([3, 5, 11, 10, 17, 9, 7, 8, 6] as [UInt8]).flatMap {
      Self.attribute($0, "a") + Self.attribute($0, "b")
    }
    #expect(
      Self.certificate(subject: twice).subject == "SERIALNUMBER=b,CN=b,OU=a+OU=b,O=a+O=b,POSTALCODE=a+POSTALCODE=b,"
        + "STREET=a+STREET=b,L=a+L=b,ST=a+ST=b,C=a+C=b")
    // A set of two attributes.
    let pair = Self.element(
      0x31,
      Self.sequence([6, 3, 0x55, 4, 3], [0x0C, 1, 0x78]) + Self.sequence([6, 3, 0x55, 4, 11], [0x0C, 1, 0x79]))
    #expect(Self.certificate(subject: pair).subject == "CN=x,OU=y")
  }

  @Test(arguments: [
    ("a", "a"), ("a b", "a b"), (" a", #"\ a"#), ("a ", #"a\ "#), (" ", #"\ "#), ("  ", #"\ \ "#), ("   ", #"\  \ "#),
    ("#a", "\\#a"), ("a#", "a#"), ("a#b", "a#b"), ("a,b", #"a\,b"#), ("a+b", #"a\+b"#), (#"a"b"#, #"a\"b"#),
    (#"a\b"#, #"a\\b"#), ("<a>", #"\<a\>"#), ("a;b", #"a\;b"#), ("a=b", "a=b"),
    ("é", "é"), (",", #"\,"#), ("#", "\\#"),
  ])
  func escapesAsRFC4514(_ value: String, _ text: String) {
    #expect(Self.certificate(subject: Self.attribute(10, value)).subject == "O=\(text)")
  }

  /// X.690, 8.19: the first byte stands for two numbers, and a number has seven bits in each byte.
  @Test(arguments: [
    ([0x55, 0x04, 0x2A], "2.5.4.42"), ([0x00], "0.0"), ([0x27], "0.39"), ([0x28], "1.0"), ([0x2A], "1.2"),
    ([0x4F], "1.39"), ([0x50], "2.0"), ([0x78], "2.40"), ([0x7F], "2.47"), ([0x81, 0x34, 0x03], "2.100.3"),
    ([0x88, 0x37], "2.999"), ([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x01], "1.2.840.113549.1.9.1"),
    ([0x2A, 0x7F, 0x81, 0x00], "1.2.127.128"), ([0x55, 0x04, 0x03, 0x01], "2.5.4.3.1"),
    ([0x55, 0x05, 0x03], "2.5.5.3"),
    ([0x55, 0x04], "2.5.4"), ([0x2B, 0x04, 0x03], "1.3.4.3"),
  ])
  func writesOtherTypesAsNumbers(_ type: [UInt8], _ text: String) {
    #expect(Self.certificate(subject: Self.attribute(type, 0x13, [0x61])).subject == "\(text)=#130161")
  }

  /// Go writes a text anew: as a PrintableString (X.680, 41.4) if it can be one, else as a UTF8String; nothing else.
  @Test(arguments: [
    (0x0C, "az", "1302617a"), (0x13, "AZ", "1302415a"), (0x14, "09", "13023039"), (0x16, "a b", "1303612062"),
    (0x0C, "'()+,-./:=?", "130b2728292b2c2d2e2f3a3d3f"), (0x13, "a_b", "0c03615f62"), (0x13, "a@", "0c026140"),
    (0x16, "[", "0c015b"), (0x16, "`", "0c0160"), (0x16, "{", "0c017b"), (0x16, "~", "0c017e"), (0x16, ";", "0c013b"),
    (0x16, "*&", "0c022a26"), (0x0C, "é", "0c02c3a9"), (0x13, "", "1300"), (0x02, "\u{5}", "020105"),
    (0x04, "a", "040161"), (0x17, "a", "170161"), (0x18, "a", "180161"), (0x26, "a", "260161"), (0x2C, "a", "2c0161"),
    (0x1E, "\u{0}a", "130161"), (0x1E, "\u{1}\u{2}", "0c02c482"),
  ])
  func writesOtherValuesAsTheirBytes(_ tag: UInt8, _ value: String, _ bytes: String) {
    let subject = Self.attribute([0x2A, 0x03], tag, Array(value.utf8))
    #expect(Self.certificate(subject: subject).subject == "1.2.3=#\(bytes)")
  }

  /// X.680, 41: a BMPString has two bytes for each letter.
  @Test(arguments: [([0, 0x62, 0, 0xFC, 0, 0x63], "b\u{FC}c"), ([], ""), ([0, 0x2B], "\\+")] as [([UInt8], String)])
  func readsTextsOfUTF16(_ value: [UInt8], _ text: String) {
    #expect(Self.certificate(subject: Self.attribute([0x55, 4, 3], 0x1E, value)).subject == "CN=\(text)")
  }

  /// X.690, 8.1.3: the length of 127 bytes has one byte, that of 128 to 255 two, and that of 256 three.
  @Test(arguments: [(126, "137e"), (127, "137f"), (128, "138180"), (129, "138181"), (255, "1381ff"), (256, "13820100")])
  func writesLengths(_ count: Int, _ head: String) {
    let subject = Self.attribute([0x2A, 0x03], 0x0C, Array(repeating: 0x61, count: count))
    let text = Self.certificate(subject: subject).subject
    #expect(text == "1.2.3=#\(head)\(String(repeating: "61", count: count))")
  }

  /// Others stand behind the known, the last of them first.
  @Test func writesOthersLast() {
    let subject =
      Self.attribute([0x2A, 0x03], 0x13, [0x61]) + Self.attribute(3, "x") + Self.attribute([0x2A, 0x04], 0x13, [0x62])
    #expect(Self.certificate(subject: subject).subject == "CN=x,1.2.4=#130162,1.2.3=#130161")
  }

  /// RFC 5280, 4.2.1.6: the names of DNS among the alternative ones; the extension may be critical.
  @Test func namesTheAlternatives() {
    let list = Self.sequence([0x82, 1, 0x61], [0x87, 4, 127, 0, 0, 1], [0x82, 1, 0x62], [0x81, 1, 0x63])
    let value = Self.element(0x04, list)
    let (identifier, other): ([UInt8], [UInt8]) = ([6, 3, 0x55, 0x1D, 0x11], [6, 3, 0x55, 0x1D, 0x12])
    for (extensions, names) in [
      (Self.sequence(identifier, value), ["a", "b"]), (Self.sequence(identifier, [1, 1, 0xFF], value), ["a", "b"]),
      (Self.sequence(other, value), []), (Self.sequence(other, value) + Self.sequence(identifier, value), ["a", "b"]),
      (Self.sequence(identifier, [4, 0]) + Self.sequence(identifier, value), ["a", "b"]),
      (Self.sequence(identifier), []),
      (Self.sequence([5, 0]) + Self.sequence(identifier, value), ["a", "b"]), ([], []),
    ] as [([UInt8], [String])] {
      let rest = Self.element(0xA3, Self.element(0x30, extensions))
      #expect(Self.certificate(rest: rest).names == names)
      // Behind the identifiers of RFC 5280, 4.1.2.8.
      #expect(Self.certificate(rest: [0x81, 1, 0, 0x82, 1, 0] + rest).names == names)
    }
    let extensions = Self.element(0x30, Self.sequence(identifier, value))
    #expect(Self.certificate(rest: Self.element(0xA2, extensions)).names.isEmpty)
  }

  @Test(
    arguments: [[], [0x30], [0x30, 0], [0x30, 2, 0x30, 0], [0x31, 0], [0x30, 0x80], [0x61, 0x62]] as [[UInt8]])
  func saysNothingOfWhatIsNoCertificate(_ bytes: [UInt8]) {
    let summary = CertificateSummary(bytes)
    #expect(summary.subject.isEmpty && summary.issuer.isEmpty && summary.names.isEmpty)
    #expect(summary.fingerprint == SHA256.hexadecimalDigest(of: bytes))
  }
}

/// FIPS 180-4; sha256sum is the judge.
struct SHA256Tests {
  /// The published examples, and a text of each length around the ends of blocks: byte i is 7 i + 3.
  @Test(arguments: [
    (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    (3, "6ab0dba1f4f1dfbb37b4f9eeb092c09fca4900ad32bdcd147d8dde35d6c87c35"),
    (55, "e7313d333c272e639f790978283f9eb392e843d0f29b7016828bb1daa4aac70b"),
    (56, "4324d65f3c103567f5589c710bc08f8523f929a9272e3af36fc968e52abc6c27"),
    (63, "81c80242132f230c3bd41b3e63bbcff16107339549214a99614ff26664625055"),
    (64, "39e3d7b6b5d075d37d053ad89b24b41bef4f3c29760c84447cab3f3be1882241"),
    (65, "aacca6ff74fdbb296d165a45cecfa04e5127bc008770fbbdd48006f2d2fae95e"),
    (119, "9ce7368e4daf32341631b492e80359dc9f594b48453cd0dd5bf0b19279cc177e"),
    (120, "7836b787757e95e58b3ca5aec90b1b004e8deba1e50e9675af9cabf1a13a04b5"),
    (128, "d2742f1f4ac6bb7ca2b239ee18402ba8b3f9f8e652d2a72973c2b9ba11c08cf6"),
    (1_000, "1e9bc38cbf860b9ec31918b065f9b52476c549a782e0e7990bed8ce3868d2371"),
  ])
  func digestsEachLength(_ count: Int, _ digest: String) {
    #expect(SHA256.hexadecimalDigest(of: (0..<count).map { UInt8(truncatingIfNeeded: 7 * $0 + 3) }) == digest)
  }

  @Test(arguments: [
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func digestsThePublishedExamples(_ text: String, _ digest: String) {
    #expect(SHA256.hexadecimalDigest(of: Array(text.utf8)) == digest)
  }

  @Test func writesHexadecimal() {
    #expect(SHA256.hexadecimal([0x00, 0x09, 0x0A, 0x10, 0x9F, 0xA0, 0xFF]) == "00090a109fa0ff")
  }
}
