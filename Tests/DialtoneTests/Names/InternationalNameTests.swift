// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone

/// Names as they are looked up. The reference is Python's package idna 3.13:
/// `idna.encode(name, uts46=True, std3_rules=False, transitional=False)`.
struct InternationalNameTests {
  @Test(arguments: [
    ("bücher.example", "xn--bcher-kva.example"),
    ("BÜCHER.example", "xn--bcher-kva.example"),
    ("日本語.jp", "xn--wgv71a119e.jp"),
    ("한국.example", "xn--3e0b707e.example"),
    ("münchen.de", "xn--mnchen-3ya.de"),
    ("straße.example", "xn--strae-oqa.example"),
    ("faß.de", "xn--fa-hia.de"),
    ("παράδειγμα.δοκιμή", "xn--hxajbheg2az3al.xn--jxalpdlp"),
    ("пример.испытание", "xn--e1afmkfd.xn--80akhbyknj4f"),
    ("правительство.рф", "xn--80aealotwbjpid2k.xn--p1ai"),
    ("مثال.إختبار", "xn--mgbh0fb.xn--kgbechtv"),
    ("例子.测试", "xn--fsqu00a.xn--0zwm56d"),
    ("उदाहरण.परीक्षा", "xn--p1b6ci4b4b3a.xn--11b5bs3a9aj6g"),
    ("உதாரணம்.பரிட்சை", "xn--zkc6cc5bi7f6e.xn--hlcj6aya9esc7a"),
    ("ตัวอย่าง.ไทย", "xn--72c1a1bt4awk9o.xn--o3cw4h"),
    ("उदाहरण.भारत", "xn--p1b6ci4b4b3a.xn--h2brj9c"),
    ("გაკვეთილი.გე", "xn--loddhdlgadn.xn--node"),
    ("հայաստան.հայ", "xn--y9aaa1d0ai1cq.xn--y9a3aq"),
    ("ישראל.קום", "xn--4dbrk0ce.xn--9dbq2a"),
    ("ñandú.cl", "xn--and-6ma2c.cl"),
    ("øre.dk", "xn--re-kka.dk"),
    ("łódź.pl", "xn--d-uga0v4h.pl"),
    ("čeština.cz", "xn--etina-gya30d.cz"),
    ("žluťoučký-kůň.cz", "xn--luouk-k-z2a6lsyxjlexh.cz"),
    ("smörgåsbord.se", "xn--smrgsbord-82a8p.se"),
    ("þorn.is", "xn--orn-ooa.is"),
    ("ÅNGSTRÖM.se", "xn--ngstrm-hua5l.se"),
    ("ΌΣΟΣ.gr", "xn--0xahb7a.gr"),
    ("όσος.gr", "xn--0xagb9a.gr"),
    ("ıstanbul.tr", "xn--stanbul-qfb.tr"),
    ("क्\u{200D}ष.example", "xn--11b2ezcw70k.example"),
    ("l·l.cat", "xn--ll-0ea.cat"),
    ("ευχαριστώ.gr", "xn--mxahn5algcq2e.gr"),
    ("𐌰𐌱.example", "xn--ec8cc.example"),
    ("ㄅㄆ.tw", "xn--5ekc.tw"),
    ("ÿ.example", "xn--wda.example"),
    ("ß.example", "xn--zca.example"),
    ("가.kr", "xn--o39a.kr"),
    ("ö-ä.example", "xn----0fa6c.example"),
  ])
  func isWhatTheReferenceSays(_ name: String, _ ascii: String) throws {
    let host = try HostName(name)
    #expect(host.ascii == ascii)
    #expect(host.text == name)
  }

  /// The reference refuses these, or maps them to other letters. That is not done here: a name has to be in form C.
  @Test(arguments: [
    "ĳsselmeer.nl", "İstanbul.tr", "😀.example", "ﬀ.example", "Ⅻ.example", "①.example", "a\u{200C}b.example",
    "ａｂ.example", "a\u{301}.example", "cafe\u{301}.example", "\u{301}a.example", "Ａ.example", "ﾃｽﾄ.jp",
    "\u{1100}\u{1161}.kr", "-ö.example",
  ])
  func refusesWhatIsNoName(_ name: String) {
    #expect(throws: ReachabilityError(.invalidHost, "")) { try HostName(name) }
  }

  /// Otherwise a name that cannot be looked up would read as one that does not exist, which is a definite answer.
  @Test(arguments: [
    "cafe\u{301}.example", "cafe\u{301}.example:443", "https://cafe\u{301}.example/", "ａｂ.example", "😀.example",
  ])
  func aTargetSaysWhatToWriteInstead(_ text: String) {
    do throws(ReachabilityError) {
      _ = try ReachabilityTarget.host(text)
      Issue.record("taken")
    } catch {
      #expect(error.code == .invalidHost)
      #expect(error.message.contains("normalization form C") && error.message.contains("xn--"))
    }
  }

  @Test func aTargetIsShownAsItWasWritten() throws {
    #expect(try "\(ReachabilityTarget.host("Bücher.example:443"))" == "Bücher.example:443")
  }

  @Test(arguments: [
    ("bücher.example.", "xn--bcher-kva.example"), ("日本語。jp。", "xn--wgv71a119e.jp"),
    ("日本語．example｡jp", "xn--wgv71a119e.example.jp"),
  ])
  func dotsOfOtherScriptsAreDots(_ name: String, _ ascii: String) throws {
    #expect(try HostName(name).ascii == ascii)
  }

  @Test(arguments: [
    ("example.com", "example.com"), ("EXAMPLE.com.", "example.com"), ("_dmarc.example.com", "_dmarc.example.com"),
    ("XN--bcher-kva.example", "xn--bcher-kva.example"),
  ])
  func asciiIsInLowerCase(_ name: String, _ ascii: String) throws { #expect(try HostName(name).ascii == ascii) }

  /// 59 letters and the prefix are 63 bytes, the most (RFC 1035, 2.3.4). The length is that of the name as it is looked
  /// up.
  @Test func isMeasuredAsItIsLookedUp() throws {
    _ = try HostName(String(repeating: "ü", count: 32) + ".example")
    #expect(throws: ReachabilityError.self) { try HostName(String(repeating: "a", count: 62) + "ü.example") }
  }
}
