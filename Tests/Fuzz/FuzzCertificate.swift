// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

@testable import Dialtone
@testable import DialtoneSites

/// Reads the bytes as a certificate in DER, and as the names in one.
func fuzzCertificate(_ bytes: [UInt8]) {
  if let fields = CertificateFields(bytes) {
    _ = fields.isForServers
    _ = fields.weakness(isTrusted: false)
  }
  var reader = DERReader(bytes[...])
  var count = 0
  while let element = reader.next() {
    count += 1
    require(element.contents.startIndex >= 0 && element.contents.endIndex <= bytes.count, "an element outside")
  }
  require(count <= bytes.count, "more elements than bytes")
  let name = CertificateIdentity.AlternativeName.dns(bytes)
  for url in [SiteURL("https://www.site.example/"), SiteURL("https://example/"), SiteURL("https://192.0.2.1/")] {
    guard CertificateIdentity.matches(url.host, [name, .address(bytes)]) else { continue }
    switch url.host {
    case .address: require(bytes == [192, 0, 2, 1], "another address's certificate")
    case .name(let host):
      // RFC 9525, 6.3: nothing but the name itself, or a star in place of its whole first label.
      let text = String(decoding: bytes, as: UTF8.self).lowercased()
      let pattern = text.hasSuffix(".") ? String(text.dropLast()) : text
      require(pattern == host.text || pattern == "*.site.example", "a name that is not the site's: \(pattern)")
    }
  }
}
