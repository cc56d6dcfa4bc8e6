// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialtone
@testable import DialtoneCLI

/// An interface as the kernel may tell of it.
struct PlayedInterface {
  var name = "eth0"
  var kind = InterfaceKind.wired
  var isUp = true
  var reason: Reachability.Reason?
  var addresses: [(String, Int)] = []

  var status: InterfaceStatus {
    get throws {
      InterfaceStatus(
        interface: try #require(NetworkInterface(name: name, index: 7, kind: kind)), alternativeNames: [], isUp: isUp,
        isOperating: isUp && reason == nil, reason: reason,
        addresses: try addresses.map {
          InterfaceStatus.Address(address: try #require(IPAddress($0.0)), prefixLength: $0.1)
        })
    }
  }
}

/// The table of `interfaces`. The expected tables are laid out by hand, as the help describes them.
struct InterfaceTableTests {
  private static func ethernet() throws -> InterfaceFacts {
    let played = PlayedInterface(addresses: [("192.0.2.7", 24), ("2001:db8::7", 64), ("fe80::1", 64)])
    return InterfaceFacts(
      status: try played.status, isDefault: true, gateways: [try #require(IPAddress("192.0.2.1"))], speed: 1000)
  }

  private static func loopback() throws -> InterfaceFacts {
    InterfaceFacts(status: try PlayedInterface(name: "lo", kind: .loopback, addresses: [("127.0.0.1", 8)]).status)
  }

  private func table(_ facts: [InterfaceFacts], _ columns: Int?, showsAll: Bool = false, isColoured: Bool = false)
    -> String
  {
    let screen = Screen(columns: columns, style: Style(isColoured: isColoured))
    return InterfaceFormatter(screen: screen, showsAll: showsAll).lines(for: facts).joined(separator: "\n")
  }

  @Test func hasOneLineEachInAFile() throws {
    let facts = [try Self.ethernet(), try Self.loopback()]
    #expect(
      table(facts, nil) == """
        NAME    KIND      STATE  SPEED     GATEWAY    ADDRESSES
        eth0 *  wired     up     1 Gbit/s  192.0.2.1  192.0.2.7/24 2001:db8::7/64
        lo      loopback  up     -         -          127.0.0.1/8
        """)
    #expect(table([facts[0]], nil, showsAll: true).hasSuffix("  192.0.2.7/24 2001:db8::7/64 fe80::1/64"))
    #expect(InterfaceFormatter(screen: Screen(columns: nil)).lines(for: facts).count == 3)
    #expect(InterfaceFormatter(screen: Screen(columns: nil)).lines(for: facts)[1].hasSuffix(" 2001:db8::7/64"))
  }

  @Test func leavesOutColumnsOfWhichNothingIsKnown() throws {
    let down = InterfaceFacts(status: try PlayedInterface(name: "dummy0", kind: .other, isUp: false).status)
    for columns in [nil, 80] {
      #expect(table([down], columns) == "NAME    KIND   STATE\ndummy0  other  link-down")
    }
    var fast = down
    fast.speed = 10_000
    #expect(table([fast], nil) == "NAME    KIND   STATE      SPEED\ndummy0  other  link-down  10 Gbit/s")
    #expect(table([], nil) == "" && table([], 80) == "")
  }

  /// The columns before the addresses take 20, and the longest address 14.
  @Test func givesEachAddressALineOnATerminal() throws {
    let played = PlayedInterface(addresses: [("192.0.2.7", 24), ("2001:db8::7", 64)])
    let facts = [InterfaceFacts(status: try played.status)]
    let beside = """
      NAME  KIND   STATE  ADDRESSES
      eth0  wired  up     192.0.2.7/24
                          2001:db8::7/64
      """
    let below = "NAME  KIND   STATE\neth0  wired  up\n    192.0.2.7/24\n    2001:db8::7/64"
    #expect(table(facts, 80) == beside && table(facts, 34) == beside)
    #expect(table(facts, 33) == below && table(facts, 18) == below)
    // Where not even the columns before the addresses have room, there is no header.
    #expect(table(facts, 17) == "eth0  wired  up\n    192.0.2.7/24\n    2001:db8::7/\n      64")
    #expect(table(facts, 14).hasPrefix("eth0  wired\n  up\n    192.0.2.7/\n      24\n"))
  }

  /// There, what is not known is left out, and an address goes on with an indent of six.
  @Test func breaksAddressesOnANarrowTerminal() throws {
    let long = "2001:db8:1234:5678:9abc:def0:1234:5678"
    let plain = InterfaceFacts(status: try PlayedInterface(addresses: [(long, 128)]).status)
    let fast = InterfaceFacts(
      status: try PlayedInterface(name: "eth1").status, gateways: [try #require(IPAddress("192.0.2.1"))], speed: 1000)
    #expect(
      table([plain, fast], 20) == """
        eth0  wired  up
            2001:db8:1234:
              5678:9abc:
              def0:1234:
              5678/128
        eth1  wired  up  1
          Gbit/s  192.0.2.1
        """)
  }

  /// The state in words, and its look (SGR): green, yellow, red, faint.
  @Test(
    arguments: [
      (true, nil, false, false, "up", "32"), (true, .noCarrier, false, true, "idle", "2"),
      (true, .noCarrier, true, true, "idle", "2"), (true, .noCarrier, true, false, "no-carrier", "31"),
      (true, .noCarrier, false, false, "no-carrier", "33"), (true, .dormant, false, true, "dormant", "33"),
      (false, .linkDown, false, false, "link-down", "2"), (false, .linkDown, true, false, "link-down", "31"),
      (false, nil, false, true, "link-down", "2"), (false, .radioBlocked, false, false, "radio-blocked", "2"),
    ] as [(Bool, Reachability.Reason?, Bool, Bool, String, String)])
  func saysTheState(
    isUp: Bool, reason: Reachability.Reason?, isDefault: Bool, isBridge: Bool, words: String, look: String
  ) throws {
    var facts = InterfaceFacts(status: try PlayedInterface(isUp: isUp, reason: reason).status, isDefault: isDefault)
    facts.isBridge = isBridge
    let text = table([facts], 80, isColoured: true)
    #expect(text.hasSuffix("\u{1B}[\(look)m\(words)\u{1B}[0m"), "\(text.debugDescription)")
    #expect(text.contains("eth0 *") == isDefault)
    #expect(text.split(separator: "\u{1B}").count == 3, "the state alone has a look")
  }

  @Test func isNotOperatingWithoutAReason() throws {
    let status = InterfaceStatus(
      interface: try #require(NetworkInterface(name: "e", index: 1, kind: .wired)), alternativeNames: [], isUp: true,
      isOperating: false, reason: nil, addresses: [])
    #expect(table([InterfaceFacts(status: status)], nil) == "NAME  KIND   STATE\ne     wired  not-operating")
  }

  @Test(arguments: [
    (0, "0 Mbit/s"), (999, "999 Mbit/s"), (1099, "1 Gbit/s"), (1100, "1.1 Gbit/s"), (1999, "1.9 Gbit/s"),
  ])
  func roundsSpeedsDown(speed: UInt32, words: String) { #expect(InterfaceFormatter.words(speed) == words) }

  @Test func hasAllKeysAsJSON() throws {
    #expect(
      InterfaceFormatter.json(for: try Self.ethernet())
        == #"{"name":"eth0","index":7,"kind":"wired","up":true,"operating":true,"reason":null,"default":true,"#
        + #""gateways":["192.0.2.1"],"speed":1000,"addresses":["192.0.2.7/24","2001:db8::7/64","fe80::1/64"]}"#)
    let down = InterfaceFacts(status: try PlayedInterface(kind: .tunnel, isUp: false, reason: .linkDown).status)
    #expect(
      InterfaceFormatter.json(for: down)
        == #"{"name":"eth0","index":7,"kind":"tunnel","up":false,"operating":false,"reason":"link-down","#
        + #""default":false,"gateways":[],"speed":null,"addresses":[]}"#)
  }

  // MARK: Interfaces that are not there

  /// Up to eight names are listed, unless one resembles what was given.
  @Test(
    arguments: [
      ("tun0", ["lo"], "there is lo"), ("tun0", ["lo", "eth7"], "there are lo, eth7"),
      ("tun0", [], "dialtone interfaces lists them"),
      ("tun0", ["aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh"], "there are aa, bb, cc, dd, ee, ff, gg, hh"),
      ("tun0", ["aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh", "ii"], "dialtone interfaces lists them"),
      ("eth1", ["lo", "eth0"], "did you mean eth0?"), ("wlan", ["wlan1", "wlan0"], "did you mean wlan0 or wlan1?"),
    ])
  func saysWhatThereIs(name: String, names: [String], end: String) {
    #expect(InterfaceHint.missing(name, among: names) == "there is no interface \"\(name)\"; \(end)")
    #expect(
      InterfaceHint.missing(name, among: names, isAwaited: true) == "there is no interface \"\(name)\" yet; \(end)")
  }

  @Test func showsNoControlCharacterOfAName() {
    let words = #"there is no interface "a\u{7F}"; there is b\u{9}c"#
    #expect(InterfaceHint.missing("a\u{7F}", among: ["b\u{9}c"]) == words)
    #expect(
      InterfaceHint.misplaced("e th")
        == #""e th" is taken for a host name; for the interface of that name, write: --interface 'e th'"#)
  }

  // MARK: Names that resemble each other

  @Test(arguments: [
    ("wlan10", ["wlan23"], ["wlan23"]), ("wlan1", ["wlan23"], []), ("lp", ["io"], []), ("en", ["enp3s0"], ["enp3s0"]),
    ("EN", ["enp3s0"], ["enp3s0"]), ("eth10", ["eth11", "eth1", "eth2"], ["eth1", "eth11"]),
  ])
  func findsNamesOfWhichAThirdDiffers(word: String, names: [String], near: [String]) {
    #expect(EditDistance.nearest(to: word, among: names) == near)
  }

  // MARK: When a wait is given up

  /// A wired link with a carrier, or one that is being let in; a radio that is on.
  @Test(
    arguments: [
      (.wired, true, nil, true), (.wired, true, .noCarrier, false), (.wired, true, .dormant, true),
      (.wired, false, .linkDown, false), (.wifi, true, .noCarrier, true), (.wifi, false, .linkDown, false),
      (.wifi, true, .radioBlocked, false), (.cellular, true, .noSession, true), (.cellular, false, .noCarrier, false),
      (.loopback, true, nil, false), (.tunnel, true, nil, false), (.other, true, nil, false),
    ] as [(InterfaceKind, Bool, Reachability.Reason?, Bool)])
  func knowsWhichLinksBringIt(kind: InterfaceKind, isUp: Bool, reason: Reachability.Reason?, could: Bool) throws {
    let status = try PlayedInterface(kind: kind, isUp: isUp, reason: reason).status
    #expect(EarlyEnd.couldBringTheNetwork(status) == could)
    var end = EarlyEnd(grace: .zero)
    #expect(end.isReached([status], at: .seconds(1)) != could)
  }

  @Test func givesUpAfterTheTimeOfGrace() throws {
    let up = try PlayedInterface().status
    let down = try PlayedInterface(reason: .noCarrier).status
    var end = EarlyEnd(grace: .seconds(5))
    #expect(end.time == nil)
    #expect(!end.isReached([down], at: .seconds(10)) && end.time == .seconds(15))
    #expect(!end.isReached([down], at: .milliseconds(14_999)) && end.time == .seconds(15))
    #expect(!end.isReached([down, up], at: .seconds(15)) && end.time == nil)
    // It begins anew.
    #expect(!end.isReached([down], at: .seconds(16)) && end.time == .seconds(21))
    let isReached = end.isReached([down], at: .seconds(21))
    #expect(isReached)
    var none = EarlyEnd(grace: .seconds(1))
    #expect(!none.isReached([], at: .zero) && none.isReached([], at: .seconds(1)))
  }

  @Test func saysWhatEachLinkLacks() throws {
    #expect(EarlyEnd.words(for: []) == "there is no wired, Wi-Fi or cellular interface")
    let loopback = try PlayedInterface(name: "lo", kind: .loopback).status
    #expect(EarlyEnd.words(for: [loopback]) == "there is no wired, Wi-Fi or cellular interface")
    let links = [
      loopback, try PlayedInterface(reason: .noCarrier).status,
      try PlayedInterface(name: "wlan0", kind: .wifi, isUp: false, reason: .radioBlocked).status,
      try PlayedInterface(name: "wwan0", kind: .cellular, isUp: false).status,
    ]
    let words = "wired (eth0): no carrier; Wi-Fi (wlan0): the radio is blocked; cellular (wwan0): does not operate"
    #expect(EarlyEnd.words(for: links) == words)
    // It is said of the interface itself, not of any of its kind.
    let gone = try PlayedInterface(reason: .noInterface).status
    #expect(EarlyEnd.words(for: [gone]) == "wired (eth0): the interface does not exist")
  }
}
