// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// Where messages of name servers and files of the resolver are as long, or as odd, as they may be.
struct MessageEdgesTests {
  private static let head: [UInt8] = [0x12, 0x34, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]
  private static let address = IPAddress(ipv4: 0xCB00_710A)

  /// RFC 1035, 4.1.1: RD is the lowest bit of the third byte, and nothing else is set in a question.
  @Test(arguments: [(true, 1), (false, 0)] as [(Bool, UInt8)])
  func recursionIsAskedForIfItIsWanted(wantsRecursion: Bool, flags: UInt8) {
    let question = DNSMessage.question("", .nameServer, id: 0xFF01, wantsRecursion: wantsRecursion)
    #expect(question == [0xFF, 0x01, flags, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1])
  }

  /// RFC 1035, 2.3.4: a label has at most 63 octets, a name 255 with its lengths and the root.
  @Test func aNameHasAtMost255Octets() {
    func label(_ count: Int) -> String { String(repeating: "a", count: count) }
    func count(_ name: String) -> Int? { DNSMessage.question(name, .a, id: 1)?.count }
    #expect(count(label(63)) == 12 + 65 + 4 && count(label(64)) == nil)
    let long = [label(63), label(63), label(63)].joined(separator: ".")
    // Three labels of 64 octets, one of 62, and the root: 255.
    #expect(count("\(long).\(label(61))") == 12 + 255 + 4)
    #expect(count("\(long).\(label(62))") == nil)
  }

  /// RFC 3596, 2.2: an AAAA record has 16 bytes in network order. One of another length is none.
  @Test func readsAddressesOfIPv6() throws {
    let question: [UInt8] = [1, 97, 0, 0, 28, 0, 1]
    let six: [UInt8] = [0x20, 1, 0x0D, 0xB8, 0, 1, 0, 2, 0x80, 0, 0, 3, 0, 4, 0, 5]
    func addresses(_ type: UInt8, _ data: [UInt8]) -> [String]? {
      let record: [UInt8] = [0xC0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, UInt8(data.count)] + data
      return DNSMessage.answer(Self.head + question + record, to: "a", .aaaa)?.addresses.map(\.description)
    }
    #expect(addresses(28, six) == ["2001:db8:1:2:8000:3:4:5"])
    // What was not asked for is no answer, as getaddrinfo(3) sees it.
    #expect(addresses(1, [203, 0, 113, 10]) == [])
    #expect(addresses(28, six.dropLast()) == [] && addresses(1, six) == [] && addresses(28, [203, 0, 113, 10]) == [])
  }

  /// A server may send a record twice: programs try each address once.
  @Test func anAddressThatComesTwiceCountsOnce() {
    let record: [UInt8] = [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 203, 0, 113]
    var head = Self.head
    head[7] = 3
    let bytes = head + [1, 97, 0, 0, 1, 0, 1] + record + [10] + record + [10] + record + [11]
    #expect(DNSMessage.answer(bytes, to: "a", .a)?.addresses == [Self.address, IPAddress(ipv4: 0xCB00_710B)])
  }

  /// RFC 1035, 3.2.1: the length of a record's data may be 0, also of the last one.
  @Test func aRecordMayBeEmpty() {
    let empty: [UInt8] = [0xC0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, 0]
    let answer = DNSMessage.answer(Self.head + [1, 97, 0, 0, 1, 0, 1] + empty, to: "a", .a)
    #expect(answer?.isToQuestion == true && answer?.addresses == [] && answer?.hasNameServer == false)
  }

  /// RFC 1035, 4.1.4: labels begin with 00, pointers with 11; 01 and 10 are reserved.
  @Test(arguments: [0x40, 0x80, 0xBF] as [UInt8])
  func reservedLabelsAreNone(length: UInt8) {
    let head: [UInt8] = [0x12, 0x34, 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0]
    // As many bytes as there would be if it were a label of that length, and the end of a name.
    let body = [length] + [UInt8](repeating: 97, count: Int(length)) + [0, 0, 1, 0, 1]
    #expect(DNSMessage.answer(head + body, to: "a", .a) == nil)
  }

  /// RFC 1035, 2.3.4: a name of 255 octets has at most 127 labels.
  @Test(arguments: [(127, true), (129, false)])
  func aNameHasAtMost127Labels(count: Int, isRead: Bool) {
    let head: [UInt8] = [0x12, 0x34, 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0]
    let labels = [[UInt8]](repeating: [1, 97], count: count).flatMap(\.self)
    let name = [String](repeating: "a", count: count).joined(separator: ".")
    let answer = DNSMessage.answer(head + labels + [0, 0, 1, 0, 1], to: name, .a)
    #expect((answer?.isToQuestion == true) == isRead && (answer == nil) == !isRead)
  }

  /// RFC 1035, 4.1.1: QR tells an answer from a question, such as one that comes back as it was sent.
  @Test func aQuestionIsNoAnswer() throws {
    let question = try #require(DNSMessage.question("a", .a, id: 0x1234))
    #expect(DNSMessage.answer(question, to: "a", .a) == nil)
    var echoed = question
    echoed[2] |= 0x80
    #expect(DNSMessage.answer(echoed, to: "a", .a)?.isToQuestion == true)
  }

  /// RFC 9609: the first record of a root's answer is one of its name servers.
  @Test func aRootAnswersWithItsNameServers() {
    func isOfRoot(type: UInt8, code: UInt8, answers: UInt8 = 1) -> Bool? {
      let header: [UInt8] = [0x12, 0x34, 0x84, code, 0, 1, 0, answers, 0, 0, 0, 0, 0, 0, 2, 0, 1]
      // 518,400 seconds are six days: 0x7E900.
      return DNSMessage.isOfRoot(header + [0, 0, type, 0, 1, 0, 7, 0xE9, 0, 0, 3, 1, 97, 0], id: 0x1234)
    }
    #expect(isOfRoot(type: 2, code: 0) == true)
    #expect(isOfRoot(type: 16, code: 0) == false && isOfRoot(type: 2, code: 5) == false)
    // A header and a question, and no record at all.
    let none: [UInt8] = [0x12, 0x34, 0x84, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1]
    #expect(DNSMessage.isOfRoot(none, id: 0x1234) == false)
  }

  /// RFC 1034, 4.3.1: without authority (AA) and recursion (RA), a server without an answer only says whom else to ask.
  @Test(
    arguments: [([0x81, 0], true), ([0x85, 0], false), ([0x81, 0x80], false), ([0x81, 3], false)] as [([UInt8], Bool)])
  func tellsAReferral(flags: [UInt8], isReferral: Bool) {
    let head: [UInt8] = [0x12, 0x34] + flags + [0, 1, 0, 0, 0, 0, 0, 0, 1, 97, 0, 0, 1, 0, 1]
    let code = DNSMessage.answer(head, to: "a", .a)?.code
    #expect((code == .referral) == isReferral && (isReferral || code?.number == flags[1] & 0xF))
  }

  // MARK: Numbers

  @Test func readsNumbersInNetworkOrderUntilTheEnd() {
    let bytes: [UInt8] = [0xFF, 1, 2, 3, 4, 5, 6, 7]
    var reader = NetworkByteReader(bytes[...])
    let (one, two) = (reader.uint8(), reader.uint16())
    #expect(one == 0xFF && two == 0x0102 && reader.count == 5)
    // What does not fit is not taken.
    let (tooMany, isSkipped, isTakenBack) = (reader.bytes(6), reader.skip(6), reader.skip(-1))
    #expect(tooMany == nil && !isSkipped && !isTakenBack && reader.count == 5)
    let (four, none) = (reader.uint32(), reader.uint16())
    #expect(four == 0x0304_0506 && none == nil && reader.count == 1)
    let (nothing, last, end, behind) = (reader.skip(0), reader.skip(1), reader.uint8(), reader.address(isIPv6: false))
    #expect(nothing && last && end == nil && behind == nil && reader.count == 0)
  }

  @Test func readsAddressesInNetworkOrder() {
    let bytes = (1...20).map { UInt8($0) }
    var reader = NetworkByteReader(bytes[...])
    let (four, six) = (reader.address(isIPv6: false), reader.address(isIPv6: true))
    #expect(four == IPAddress(ipv4: 0x0102_0304).bits && reader.count == 0)
    #expect(six == IPAddressBits(ipv6High: 0x0506_0708_090A_0B0C, low: 0x0D0E_0F10_1112_1314))
    var short = NetworkByteReader(bytes[..<15])
    let none = short.address(isIPv6: true)
    #expect(none == nil && short.count == 15)
    #expect(DNSMessage.number([1, 2], 0) == 0x0102 && DNSMessage.number([1, 2], 1) == nil)
  }

  // MARK: Files

  #if os(Linux)
  /// glibc, res_init.c: a line ends with LF, and an address with a space. Without a server, this machine is asked.
  @Test(arguments: ["192.0.2.54\r", "192.0.2.54#53", "192.0.2.54\u{B}", "192.0.2.54\u{2028}"])
  func aServerThatLibcCannotReadIsNone(address: String) {
    #expect(ResolverConfiguration(resolver: "nameserver \(address)\n").servers == [IPAddress(ipv4: 0x7F00_0001)])
    let two = ResolverConfiguration(resolver: "nameserver \(address)\nnameserver 192.0.2.53 x\n")
    #expect(two.servers == [IPAddress(ipv4: 0xC000_0235)])
  }

  /// resolv.conf(5): ndots is 1 unless an option says so, 15 at most; what is no number means the default.
  @Test(arguments: [
    ("", 1), ("options ndots:0", 0), ("options ndots:3 rotate", 3), ("options ndots:20", 15),
    ("options ndots:15", 15), ("options ndots:x", 1), ("options rotate", 1),
  ])
  func readsHowManyDotsMakeANameWhole(line: String, dots: Int) {
    let configuration = ResolverConfiguration(resolver: "search s.example\n\(line)\n")
    #expect(configuration.dots == dots && !configuration.usesTCP)
    for count in [dots - 1, dots] where count >= 0 {
      let name = [String](repeating: "a", count: count + 1).joined(separator: ".")
      let names = [name, "\(name).s.example"]
      #expect(configuration.candidates(for: name) == (count >= dots ? names : names.reversed()), "\(name)")
    }
  }

  /// resolv.conf(5): words are parted by spaces and tabs; a domain may end with the root's dot.
  @Test func readsWordsBetweenSpacesAndTabs() {
    let configuration = ResolverConfiguration(
      resolver: "search\ta.example.\t b.example\n# search c.example\nsearched d.example\n search e.example\n",
      switching: "#hosts: nothing\n\thosts:\tdns  files\n",
      hosts: "203.0.113.10\tsite  other\n# 203.0.113.11 site\n203.0.113.10 site\n203.0.113.12 site\nx site\n")
    #expect(configuration.searchDomains == ["a.example", "b.example"] as [String])
    #expect(configuration.candidates(for: "w") == ["w.a.example", "w.b.example", "w"])
    #expect(configuration.sources == ["dns", "files"] as [String] && !configuration.asksHostsFirst)
    #expect(configuration.hostsAddresses(of: "site").map(\.description) == ["203.0.113.10", "203.0.113.12"])
    #expect(configuration.hostsAddresses(of: "other").map(\.description) == ["203.0.113.10"])
    #expect(configuration.hostsAddresses(of: "203.0.113.10").isEmpty)
    // No line says so: the defaults of nsswitch.conf(5), and this machine itself (resolv.conf(5)).
    let none = ResolverConfiguration(resolver: "")
    #expect(none.sources == ["files", "dns"] as [String] && none.asksServers && none.asksHostsFirst)
    #expect(none.candidates(for: "w") == ["w"] && none.servers == [IPAddress(ipv4: 0x7F00_0001)])
  }

  /// nsswitch.conf(5): a file that is not asked knows nobody.
  @Test func aHostsFileThatIsNotAskedKnowsNobody() {
    let line = "203.0.113.10 site\n"
    func addresses(_ sources: String) -> [IPAddress] {
      ResolverConfiguration(resolver: "", switching: "hosts: \(sources)\n", hosts: line).hostsAddresses(of: "site")
    }
    #expect(addresses("dns") == [] && addresses("dns files") == [Self.address])
    func asks(_ sources: String) -> Bool {
      ResolverConfiguration(resolver: "", switching: "hosts: \(sources)\n").asksServers
    }
    #expect(!asks("files myhostname") && asks("files resolve") && asks("mdns4") && !asks("myhostname"))
  }
  #endif
}
