// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import NetworkLab
import TestSupport
import Testing

@testable import Dialtone

/// What nl80211 and the switches of radios say, on a machine that has neither: files in place of `/dev` and of
/// `/sys/class`, and answers made by hand.
@Suite(.enabled(if: NetworkLab.isAvailable, "needs network namespaces"), .timeLimit(.minutes(5)))
struct WirelessEdgesTests {
  typealias Fields = BuiltMessages.LinkFields

  // MARK: nl80211

  /// CTRL_CMD_NEWFAMILY with CTRL_ATTR_FAMILY_ID (linux/genetlink.h) if the index is 0; NL80211_CMD_NEW_INTERFACE with
  /// NL80211_ATTR_IFINDEX and NL80211_ATTR_WIPHY (linux/nl80211.h); or else an error.
  private static func answer(_ index: UInt32?, _ radio: UInt32?, _ sequence: UInt32) -> [UInt8] {
    var builder = NetlinkRequestBuilder()
    builder.begin(NetlinkMessageType(rawValue: index.map { $0 == 0 ? 16 : 35 } ?? 2), [], sequence: sequence)
    if let index {
      builder.appendGenericHeader(command: index == 0 ? 1 : 7, version: 1)
      if index == 0 { builder.append(1, UInt16(35)) } else { builder.append(3, index) }
      if let radio { builder.append(1, radio) }
    } else {
      builder.store(-ENOENT, at: builder.appendHeader(byteCount: 20))
    }
    builder.end()
    return builder.bytes
  }

  /// A link with the index 3, the indices of the answers, the types of the requests, and what the link is.
  private static let rows: [(link: Fields, answers: [UInt32?], radio: UInt32?, types: [UInt16], kind: InterfaceKind)] =
    [
      (Fields(), [0, 3], 2, [16, 35], .wifi), (Fields(), [0, 3], nil, [16, 35], .wifi),
      (Fields(), [0, 4], 2, [16, 35], .wired), (Fields(), [0, nil], nil, [16, 35], .wired),
      (Fields(), [0], nil, [16, 35], .wired), (Fields(), [nil], nil, [16], .wired), (Fields(), [], nil, [16], .wired),
      (Fields(infoKind: "veth"), [], nil, [], .wired), (Fields(deviceType: .infiniband), [], nil, [], .wired),
      (Fields(deviceType: .ppp), [], nil, [], .tunnel), (Fields(), [0, 3], 7, [16, 35], .wifi),
    ]

  /// The process's sockets of generic netlink (socket(7), SO_DOMAIN and SO_PROTOCOL).
  private static var genericSockets: Set<CInt> {
    func option(_ descriptor: CInt, _ name: CInt) -> CInt {
      var (value, length) = (CInt(-1), socklen_t(MemoryLayout<CInt>.size))
      // The call writes both.
      return unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : -1
    }
    return Set((0..<256).filter { option($0, SO_DOMAIN) == AF_NETLINK && option($0, SO_PROTOCOL) == 16 })
  }

  private static func classify(isAsked: Bool) throws {
    let others = genericSockets
    let classifier = LinkClassifier()
    let sockets = genericSockets.subtracting(others)
    let socket = try ScriptedSocket(inPlaceOf: try #require(sockets.count == 1 ? sockets.first : nil))
    // The first number that a client gives.
    var sequence: UInt32 = 1
    for (position, row) in rows.enumerated() where isAsked || row.kind != .wifi {
      let types = isAsked ? row.types : []
      for (number, index) in zip(sequence..., row.answers) where isAsked {
        socket.say(answer(index, index == 0 ? nil : row.radio, number))
      }
      let found = classifier.classify(try BuiltMessages.link(row.link))
      #expect(found.kind == row.kind && found.radio == (row.kind == .wifi ? row.radio : nil), "row \(position)")
      for type in types {
        let request = socket.heard()
        let header = unsafe NetlinkHeader(in: request.span.bytes, at: 0)
        #expect(header?.type.rawValue == type && header?.length == UInt32(request.count), "row \(position)")
        sequence += 1
      }
      #expect(socket.heard().isEmpty, "row \(position)")
    }
  }

  /// A question for a family that does not exist makes the kernel load its module (genl_ctrl, net/netlink/genetlink.c).
  @Test("nl80211 is asked about Ethernet links, where cfg80211 is loaded or sysfs does not say")
  func wirelessLinksAreAskedAbout() async {
    await #expect(processExitsWith: .success) {
      let lab = try NetworkLab(ownMounts: true)
      let files = try FileTree(folders: ["none", "both", "both/net", "both/ieee80211", "wired", "wired/net"])
      for (folder, isAsked) in [("none", true), ("both", true), ("wired", false)] {
        try lab.bindMount("\(files.path)/\(folder)", over: "/sys/class")
        try lab.run { try Self.classify(isAsked: isAsked) }
      }
      withExtendedLifetime(files) {}
    }
  }

  // MARK: The switches of radios

  /// A `struct rfkill_event` (linux/rfkill.h: index, type, operation, soft, hard) with more behind it, so that each
  /// read(2) of 64 bytes gives one. RFKILL_TYPE_WLAN is 1, RFKILL_TYPE_WWAN 5; RFKILL_OP_ADD is 0, RFKILL_OP_CHANGE 2.
  private static func tell(_ file: CInt, _ index: UInt32, type: UInt8, operation: UInt8 = 2, soft: UInt8 = 0) {
    var index = index
    let event = unsafe withUnsafeBytes(of: &index) { unsafe Array($0) } + [type, operation, soft, 0]
    let count = unsafe write(file, event + [UInt8](repeating: 0, count: 56), 64)
    #expect(count == 64)
  }

  /// Runs `body` where switches are told through a FIFO. Of switch 3 sysfs shows what it is set to, and that it is
  /// radio 2's; of switch 5 that it is radio 7's; of others nothing.
  private func withSwitches(_ body: @escaping @Sendable (_ lab: NetworkLab, FileTree, _ file: CInt) throws -> Void)
    throws
  {
    let files = try FileTree(
      folders: ["none", "dev", "class", "class/rfkill"]
        + [3, 5].flatMap { ["class/rfkill/rfkill\($0)", "class/rfkill/rfkill\($0)/device"] },
      files: [
        ("dev/rfkill", nil), ("class/rfkill/rfkill3/soft", "0\n"), ("class/rfkill/rfkill3/hard", "0\n"),
        ("class/rfkill/rfkill3/device/index", "2\n"), ("class/rfkill/rfkill5/device/index", "7\n"),
      ])
    let lab = try NetworkLab(ownMounts: true)
    try lab.bindMount("\(files.path)/none", over: "/dev")
    try lab.run { #expect(!RadioSwitches.mayBeRead && RadioSwitches() == nil) }
    try lab.bindMount("\(files.path)/dev", over: "/dev")
    try lab.bindMount("\(files.path)/class", over: "/sys/class")
    try lab.run {
      let file = unsafe csystem_open("/dev/rfkill", O_RDWR | O_NONBLOCK | O_CLOEXEC)
      try #require(file >= 0 && RadioSwitches.mayBeRead)
      defer { _ = close(file) }
      try body(lab, files, file)
    }
  }

  @Test("a radio is blocked as sysfs says of its own switch, or else the last event")
  func switchesAreFollowed() throws {
    var network = BuiltNetwork()
    for (index, radio) in [(3, 2), (4, 7)] as [(UInt32, UInt32)] {
      try network.add(Fields(index: index, name: "wlan\(index)"), .init(isWireless: true), radio: radio)
    }
    try network.add(Fields(index: 5, name: "wwan0"), .init(deviceType: "wwan"))
    try withSwitches { [links = network.links.all] _, files, file in
      Self.tell(file, 3, type: 1, operation: 0)
      Self.tell(file, 4, type: 5, operation: 0, soft: 1)
      // Those that are there are read at once.
      let switches = try #require(RadioSwitches())
      func blocked() -> [Bool] { links.map(switches.isBlocked) }
      #expect(switches.isOpen && !switches.read())
      // Of radio 7 nothing is known: the only switch for Wi-Fi counts.
      #expect(blocked() == [false, false, true])
      for (soft, hard) in [("1\n", "0\n"), ("0\n", "1\n"), ("1\n", "1\n")] {
        try files.write("class/rfkill/rfkill3/soft", soft)
        try files.write("class/rfkill/rfkill3/hard", hard)
        #expect(blocked() == [true, true, true], "\(soft) \(hard)")
      }
      Self.tell(file, 5, type: 1, operation: 0)
      Self.tell(file, 4, type: 5)
      #expect(switches.read() && !switches.read() && blocked() == [true, false, false])
      Self.tell(file, 5, type: 1, soft: 1)
      #expect(switches.read() && blocked() == [true, true, false])
      // Somebody closes it, and the number is another file's: that is not read.
      Self.tell(file, 5, type: 1)
      try #require(dup2(file, switches.descriptor) == switches.descriptor)
      #expect(!switches.isOpen && !switches.read() && blocked() == [true, true, false])
      _ = close(switches.descriptor)
    }
  }

  @Test func theSourceFollowsTheSwitches() throws {
    try withSwitches { _, _, file in
      let poll = try EventPoll()
      let (network, polled) = (LinuxNetwork(poll, suspended: { 0 }), LinuxNetwork(suspended: { 0 }))
      func isTouched(_ body: (inout NetworkChange) -> Void) -> Bool {
        var change = NetworkChange()
        body(&change)
        return change.touchesUnreachable
      }
      // All is awaited. At first every descriptor is taken to be readable.
      #expect(network.nextPoll == nil && !isTouched { network.drain(into: &$0) })
      Self.tell(file, 3, type: 1)
      #expect(!isTouched { network.drain(into: &$0) }, "nobody has waited for it")
      #expect(poll.wait() && isTouched { network.drain(into: &$0) })
      Self.tell(file, 3, type: 1, soft: 1)
      #expect(isTouched { network.catchUp(into: &$0) } && !isTouched { network.catchUp(into: &$0) })
      // Without a poll they are read each time.
      #expect(!isTouched { polled.drain(into: &$0) })
      Self.tell(file, 3, type: 1)
      #expect(isTouched { polled.drain(into: &$0) })
    }
  }

  @Test func changesOfLinksAndSwitchesAreAnnounced() throws {
    try withSwitches { lab, _, file in
      let announcements = try #require(InterfaceAnnouncements())
      func readable() -> [Bool] {
        announcements.descriptors.map {
          var wanted = pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
          // The call writes into the structure.
          return unsafe poll(&wanted, 1, 0) == 1
        }
      }
      announcements.drain()
      #expect(readable() == [false, false])
      for mtu in [30_000, 40_000, 50_000] as [UInt32] { try lab.setMTU("lo", mtu) }
      #expect(readable() == [true, false])
      announcements.drain()
      // Nothing but links and switches.
      try lab.addAddress("10.9.0.1/32", "lo")
      #expect(readable() == [false, false])
      for soft: UInt8 in [1, 0] { Self.tell(file, 3, type: 1, soft: soft) }
      #expect(readable() == [false, true])
      announcements.drain()
      #expect(readable() == [false, false])
    }
  }
}
#endif
