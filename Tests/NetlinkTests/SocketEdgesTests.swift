// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import Testing

@Suite(.enabled(if: LiveKernel.answers, "netlink is refused here"))
struct SocketEdgesTests {
  private func requests(_ body: (inout NetlinkRequestBuilder) -> Void) -> NetlinkRequestBuilder {
    var builder = NetlinkRequestBuilder()
    body(&builder)
    return builder
  }

  // MARK: The socket

  @Test func noDatagramOfOthersIsCountedAtFirst() throws {
    let socket = try NetlinkSocket(.route)
    let client = try NetlinkClient()
    let counts = [socket.foreignCount, client.socket.foreignCount]
    #expect(counts == [0, 0])
    let isOpen = [socket.isOpen, socket.isMarkedOpen, client.isOpen]
    #expect(isOpen == [true, true, true])
  }

  private static func set(_ descriptor: Int32, _ option: Int32, _ value: Int32) -> Bool {
    var value = value
    // SAFETY: the pointer is to a whole Int32, used only during the call.
    return unsafe setsockopt(descriptor, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
  }

  private static func receiveBuffer(of descriptor: Int32) -> Int32? {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    // SAFETY: the pointers are to a whole Int32 and to its size, used only during the call.
    guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &value, &length) == 0 else { return nil }
    return value
  }

  /// The kernel doubles what it grants (socket(7), SO_RCVBUF). 64 KiB are below the smallest usual limit.
  @Test func theKernelGrantsTheBufferThatIsAskedFor() throws {
    let small = try NetlinkSocket(.route, receiveBuffer: 1 << 16)
    let granted = Self.receiveBuffer(of: small.descriptor)
    #expect(granted == 2 << 16)
    // As much as this process may have: with the privilege all of it, else what SO_RCVBUF cuts it to.
    let large = try NetlinkSocket(.route)
    let other = try NetlinkSocket(.route, receiveBuffer: 1 << 16)
    let isCut = Self.set(other.descriptor, SO_RCVBUF, 1 << 20)
    let cut = Self.receiveBuffer(of: other.descriptor)
    let most = Self.set(other.descriptor, SO_RCVBUFFORCE, 1 << 20) ? 2 << 20 : cut
    let whole = Self.receiveBuffer(of: large.descriptor)
    #expect(isCut && whole != nil && whole == most)
  }

  @Test func twoDatagramsComeIntoBothHalvesOfABuffer() throws {
    let socket = try NetlinkSocket(.route)
    let buffer = NetlinkBuffer(byteCount: 8192)
    let nothing = try socket.receivePair(into: buffer)
    #expect(nothing.isEmpty)
    // The kernel answers in order, each time with ENODEV.
    try socket.send(
      requests {
        $0.appendLinkBarrier(sequence: 71)
        $0.appendLinkBarrier(sequence: 72)
        $0.appendLinkBarrier(sequence: 73)
      })
    let both = try socket.receivePair(into: buffer)
    let first = buffer.withBytes(0..<4096) { NetlinkHeader(in: $0, at: 0) }
    let second = buffer.withBytes(4096..<8192) { NetlinkHeader(in: $0, at: 0) }
    #expect(first?.sequence == 71 && second?.sequence == 72)
    #expect(both == [.datagram(Int(first?.length ?? 0)), .datagram(Int(second?.length ?? 0))])
    let last = try socket.receivePair(into: buffer)
    let third = buffer.withBytes(0..<4096) { NetlinkHeader(in: $0, at: 0) }
    #expect(third?.sequence == 73 && third?.type == .error)
    #expect(last == [.datagram(Int(third?.length ?? 0))])
  }

  @Test func aDatagramThatFillsNoHalfIsTruncated() throws {
    let socket = try NetlinkSocket(.route)
    // Half of it is longer than the refusal, but not than the link.
    let buffer = NetlinkBuffer(byteCount: 400)
    try socket.send(
      requests {
        $0.appendLinkBarrier(sequence: 1)
        $0.appendGetLink(index: 1, sequence: 2)
      })
    let both = try socket.receivePair(into: buffer)
    let length = buffer.withBytes(0..<200) { NetlinkHeader(in: $0, at: 0)?.length }
    #expect(both == [.datagram(Int(length ?? 0)), .truncated])
  }

  @Test func aDatagramIsJudgedByItsSenderAndItsFlags() throws {
    let socket = try NetlinkSocket(.route)
    var datagram = csystem_datagram()
    (datagram.length, datagram.sender, datagram.flags) = (20, 0, 0)
    let kernels = socket.judge(datagram)
    datagram.flags = Int32(MSG_TRUNC)
    let long = socket.judge(datagram)
    (datagram.sender, datagram.flags) = (1, 0)
    let foreign = [socket.judge(datagram), socket.judge(datagram)]
    #expect(kernels == .datagram(20) && long == .truncated && foreign == [.foreign, .foreign])
    let count = socket.foreignCount
    #expect(count == 2)
  }

  /// The kernel grants at least SOCK_MIN_RCVBUF, about 2 KiB: room for one or two links.
  @Test func answersThatTheKernelDroppedAreLost() throws {
    var client = try NetlinkClient()
    let isSmall = Self.set(client.descriptor, SO_RCVBUF, 1)
    var builder = requests { for _ in 0..<16 { $0.appendGetLink(index: 1) } }
    var (indexes, kept, lost): ([Int], Int, Int) = ([], 0, 0)
    try client.exchange(&builder) { index, answer, bytes in
      indexes.append(index)
      if case .message = answer { kept += 1 }
      if answer == .lost(.overrun), bytes.byteCount == 0 { lost += 1 }
    }
    #expect(isSmall && indexes.sorted() == Array(0..<16))
    #expect(kept >= 1 && lost >= 1 && kept + lost == 16)
    // Afterwards it works, and nothing is left of the loss.
    builder = requests { $0.appendLinkBarrier() }
    var errors: [Int32] = []
    try client.exchange(&builder) { _, answer, _ in
      if case .acknowledgement(let acknowledgement) = answer { errors.append(acknowledgement.errno) }
    }
    #expect(errors == [ENODEV])
  }

  // MARK: Memory and descriptors

  @Test func aBufferLendsAllOfItself() {
    let buffer = NetlinkBuffer(byteCount: 64)
    let byteCount = buffer.byteCount
    #expect(byteCount == 64)
    for range in [0..<64, 0..<0, 64..<64, 63..<64, 1..<64] {
      let lent = buffer.withBytes(range) { $0.byteCount }
      #expect(lent == range.count)
    }
  }

  @Test func whatWasNeverOpenedIsNobodys() {
    #expect(FileIdentity(-1) == nil)
    #expect(FileIdentity.marking(-1) == nil)
    let owner = OwnedDescriptor(-1)
    let isOurs = [owner.isOurs, owner.isMarkedAsOurs]
    #expect(isOurs == [false, false])
  }

  @Test func eachSocketIsAnotherFile() throws {
    let first = try NetlinkSocket(.route)
    let second = try NetlinkSocket(.route)
    let (identity, again) = (FileIdentity(first.descriptor), FileIdentity(first.descriptor))
    let other = FileIdentity(second.descriptor)
    #expect(identity != nil && identity == again && identity != other)
    // Another number of the same file.
    let copy = csystem_duplicate(first.descriptor)
    #expect(copy >= 0)
    #expect(FileIdentity(copy) == identity)
    close(copy)
  }

  /// 0 is a number like any other, if nobody else has it (socket(2): the lowest one that is free).
  @Test func theFirstNumberCanBeItsOwn() async {
    await #expect(processExitsWith: .success) {
      let socket = csystem_socket(NetlinkProtocol.route.rawValue)
      guard socket >= 0, dup2(socket, 0) == 0 else { exit(2) }
      let owner = OwnedDescriptor(0)
      if !owner.isOurs || !owner.isMarkedAsOurs { exit(1) }
      // Another file takes its place: it is no longer the same.
      guard dup2(csystem_datagram_socket(AF_INET), 0) == 0 else { exit(2) }
      if owner.isOurs || owner.isMarkedAsOurs { exit(1) }
    }
  }

  // MARK: Dumps

  /// Reads all, and counts the beginnings of attempts.
  private func dump(
    _ client: inout NetlinkClient, _ type: NetlinkMessageType, _ family: KernelAddressFamily, table: UInt32? = nil
  ) throws -> (began: Int, messages: Int, outcome: NetlinkDumpOutcome) {
    var (began, messages) = (0, 0)
    let outcome = try client.dump(type, family: family, table: table) { step, bytes in
      switch step {
      case .began: began += bytes.byteCount == 0 ? 1 : 100
      case .message: messages += 1
      }
    }
    return (began, messages, outcome)
  }

  /// The kernel never says of routes that they changed meanwhile, so one attempt is enough.
  @Test(.enabled(if: LiveKernel.routesLoopback, "the loopback link is down here"))
  func aDumpOfRoutesIsReadOnce() throws {
    var client = try NetlinkClient()
    let checksStrictly = client.socket.checksStrictly
    for _ in 0..<2 {
      let all = try dump(&client, .getRoute, .ipv4)
      #expect(all.began == 1 && all.messages >= 1)
      #expect(all.outcome.attempts == 1 && !all.outcome.wasInterrupted)
      // RT_TABLE_LOCAL is 255 (linux/rtnetlink.h): the one that has the loopback addresses.
      let local = try dump(&client, .getRoute, .ipv4, table: 255)
      #expect(local.began == 1 && local.messages >= 1 && local.outcome.attempts == 1)
      #expect(local.outcome.wasFiltered == checksStrictly)
    }
  }

  @Test func genericFamiliesAreListed() throws {
    var client = try NetlinkClient(.generic)
    var (names, began) = (Set<String>(), 0)
    let outcome = try client.dump(
      "list families",
      request: {
        $0.begin(.genericController, [.request, .dump], sequence: $1)
        $0.appendGenericHeader(command: GenericNetlinkMessage.Controller.getFamily, version: 1)
        $0.end()
      },
      { step, bytes in
        switch step {
        case .began: began += 1
        case .message(let message):
          guard let generic = GenericNetlinkMessage(message, in: bytes) else { return }
          var attributes = NetlinkAttributeCursor(generic.attributes)
          while let attribute = attributes.next(in: bytes) {
            // CTRL_ATTR_FAMILY_NAME.
            if attribute.type == 2, let name = bytes.string(in: attribute.payload) { names.insert(name) }
          }
        }
      })
    #expect(names.contains("nlctrl"))
    #expect(began == outcome.attempts)
  }

  // MARK: Errors

  @Test(
    arguments: [
      (.malformed, 0, nil, "cannot list links: the kernel's answer is malformed"),
      (.noAnswer, 0, nil, "cannot list links: the kernel did not answer"),
      (.overrun, 0, nil, "cannot list links: answers were lost"),
      (.refusedByKernel, 0, nil, "cannot list links: refused"),
      (.refusedByKernel, 0, "no dump here", "cannot list links: refused: no dump here"),
      (.refusedByKernel, ENOENT, nil, "cannot list links: No such file or directory (ENOENT)"),
      (.overrun, EPERM, "why", "cannot list links: Operation not permitted (EPERM): why"),
    ] as [(NetlinkError.Code, Int32, String?, String)])
  func anErrorSaysWhatCannotBeDoneAndWhy(code: NetlinkError.Code, errno: Int32, message: String?, text: String) {
    #expect(NetlinkError(code, errno: errno, operation: "list links", message: message).description == text)
  }

  @Test func anErrorWithoutANameHasItsNumber() {
    #expect(NetlinkError(.sendFailed, errno: 9999, operation: "send").description.hasSuffix(" (errno 9999)"))
  }
}

extension NetlinkSocket {
  /// Receives up to two datagrams, each into one half of the buffer, and returns what became of them.
  func receivePair(into buffer: borrowing NetlinkBuffer) throws(NetlinkError) -> [NetlinkReception] {
    var found: [NetlinkReception] = []
    let size = buffer.byteCount / 2
    let count = try receive(into: buffer, slots: 2, of: size) { start, reception in
      #expect(start == found.count * size)
      found.append(reception)
    }
    #expect(count == found.count)
    return found
  }
}
#endif
