// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneSites

struct CertificateIdentityTests {
  /// X509_check_host(3): the common name counts where there is no DNS name, and never for an address.
  @Test func othersTakeTheCommonNameWhereThereIsNoOther() throws {
    let host = ("https://a.example/" as SiteURL).host
    let address = ("https://192.0.2.1/" as SiteURL).host
    #expect(!CertificateIdentity.hasNames([], for: host) && CertificateIdentity.hasNames([], for: address))
    #expect(!CertificateIdentity.hasNames([.address([192, 0, 2, 1])], for: host))
    #expect(CertificateIdentity.hasNames([.dns(Array("b.example".utf8))], for: host))
  }

  private func matches(_ url: SiteURL, _ names: CertificateIdentity.AlternativeName...) -> Bool {
    CertificateIdentity.matches(url.host, names)
  }

  private func dns(_ name: String) -> CertificateIdentity.AlternativeName { .dns(Array(name.utf8)) }

  @Test(arguments: [
    ("https://example.com/", "example.com", true), ("https://example.com/", "EXAMPLE.com.", true),
    ("https://example.com/", "other.com", false), ("https://www.example.com/", "*.example.com", true),
    ("https://a.b.example.com/", "*.example.com", false), ("https://example.com/", "*.example.com", false),
    ("https://example.com/", "*.com", false), ("https://example.com/", "*", false),
    ("https://localhost/", "*", false), ("https://www.example.com/", "w*.example.com", false),
    ("https://www.example.com/", "www.*.com", false), ("https://example.com/", "example.com\u{0}.evil", false),
    ("https://bücher.example/", "xn--bcher-kva.example", true), ("https://example.com/", "", false),
    ("https://192.0.2.1/", "192.0.2.1", false),
  ])
  func coversNames(_ url: String, _ name: String, _ isCovered: Bool) throws {
    #expect(matches(try SiteURL(url), dns(name)) == isCovered)
  }

  @Test func coversAddressesOnlyByAddresses() {
    #expect(matches("https://192.0.2.1/", .address([192, 0, 2, 1])))
    #expect(!matches("https://192.0.2.1/", .address([192, 0, 2, 2])))
    #expect(!matches("https://example.com/", .address([192, 0, 2, 1])))
    #expect(matches("https://[2001:db8::1]/", .address([0x20, 1, 0x0D, 0xB8] + Array(repeating: 0, count: 11) + [1])))
    #expect(matches("https://192.0.2.1/", dns("a"), .address([192, 0, 2, 1])))
    #expect(!matches("https://192.0.2.1/"))
  }
}
