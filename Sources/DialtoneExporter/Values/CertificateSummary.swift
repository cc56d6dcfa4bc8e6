// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import DialtoneSites

/// What a certificate says of itself, as Go's crypto/x509 writes it.
struct CertificateSummary: Sendable {
  let subject: String
  let issuer: String
  /// The DNS names among the subject alternative names.
  let names: [String]
  let fingerprint: String

  /// - Parameter bytes: The certificate in DER (RFC 5280, 4.1).
  init(_ bytes: [UInt8]) {
    fingerprint = SHA256.hexadecimalDigest(of: bytes)
    let fields = CertificateFields(bytes)
    subject = DistinguishedName(fields?.subject ?? []).text
    issuer = DistinguishedName(fields?.issuer ?? []).text
    names = fields?.names ?? []
  }
}

/// A distinguished name as Go writes it (pkix.Name.String): RFC 4514, in an order of its own.
private struct DistinguishedName {
  /// The last byte of 2.5.4.x, in the order in which they are written.
  private static let known: [(number: UInt8, key: String)] = [
    (5, "SERIALNUMBER"), (3, "CN"), (11, "OU"), (10, "O"), (17, "POSTALCODE"), (9, "STREET"), (7, "L"), (8, "ST"),
    (6, "C"),
  ]
  private static let prefix: [UInt8] = [0x55, 0x04]

  private var values: [UInt8: [String]] = [:]
  private var others: [String] = []

  init(_ contents: ArraySlice<UInt8>) {
    var sets = DERReader(contents)
    while let set = sets.next() {
      var attributes = DERReader(set.contents)
      while var attribute = attributes.next(DERReader.sequence).map(DERReader.init) {
        guard let type = attribute.next(DERReader.objectIdentifier), let value = attribute.next().map(Self.asUTF8)
        else {
          continue
        }
        let text = Self.escaped(String(decoding: value.contents, as: UTF8.self))
        if type.count == 3, type.starts(with: Self.prefix), let last = type.last,
          Self.known.contains(where: { $0.number == last })
        {
          values[last, default: []].append(text)
        } else {
          others.append("\(Self.dotted(type))=#\(Self.hexadecimal(value))")
        }
      }
    }
  }

  var text: String {
    // A serial number and a common name have one value each, the last.
    let names = Self.known.compactMap { item -> String? in
      guard var list = values[item.number] else { return nil }
      if item.number == 3 || item.number == 5 { list = list.suffix(1) }
      return list.map { "\(item.key)=\($0)" }.joined(separator: "+")
    }
    return (names + others.reversed()).joined(separator: ",")
  }

  /// Texts of UTF-16 (X.680, 41, BMPString) as a UTF8String. Others are bytes that are shown as they are.
  private static func asUTF8(
    _ tag: UInt8, _ contents: ArraySlice<UInt8>
  ) -> (tag: UInt8, contents: ArraySlice<UInt8>) {
    guard tag == 0x1E else { return (tag, contents) }
    let units = stride(from: contents.startIndex, to: contents.endIndex - 1, by: 2).map {
      UInt16(contents[$0]) << 8 | UInt16(contents[$0 + 1])
    }
    return (0x0C, Array(String(decoding: units, as: UTF16.self).utf8)[...])
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    let scalars = Array(text.unicodeScalars)
    for (index, scalar) in scalars.enumerated() {
      let isAtEdge = index == 0 && (scalar == " " || scalar == "#") || index == scalars.count - 1 && scalar == " "
      if isAtEdge || ",+\"\\<>;".unicodeScalars.contains(scalar) { result += "\\" }
      result.unicodeScalars.append(scalar)
    }
    return result
  }

  private static func dotted(_ type: ArraySlice<UInt8>) -> String {
    var numbers: [UInt64] = []
    var value: UInt64 = 0
    for byte in type {
      value = value << 7 | UInt64(byte & 0x7F)
      if byte & 0x80 != 0 { continue }
      numbers += numbers.isEmpty ? [min(value / 40, 2), value - 40 * min(value / 40, 2)] : [value]
      value = 0
    }
    return numbers.map(String.init).joined(separator: ".")
  }

  private static func hexadecimal(_ value: (tag: UInt8, contents: ArraySlice<UInt8>)) -> String {
    // A length of up to 127 is one byte; others follow how many bytes they have (X.690, 8.1.3).
    let (high, low) = (value.contents.count >> 8, UInt8(truncatingIfNeeded: value.contents.count))
    let length: [UInt8] =
      value.contents.count < 128 ? [low] : high == 0 ? [0x81, low] : [0x82, UInt8(truncatingIfNeeded: high), low]
    // Go writes a text anew (asn1.Marshal): as a PrintableString (X.680, 41.4) if it can be one, else as a UTF8String.
    let isText = [0x0C, 0x13, 0x14, 0x16].contains(value.tag)
    let isPrintable = value.contents.allSatisfy {
      (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
        || " '()+,-./:=?".utf8.contains($0)
    }
    return SHA256.hexadecimal([isText ? isPrintable ? 0x13 : 0x0C : value.tag] + length + value.contents)
  }
}
