// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import DialtoneNIO
import Testing

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What sockets say of themselves, and what is set on them, by the numbers of asm-generic/socket.h, linux/in.h,
/// linux/in6.h and linux/tcp.h.
struct SocketSettingsTests {
  private static let (markOption, deviceOption): (CInt, CInt) = (36, 25)
  private static let (ip, tcp, ipv6): (CInt, CInt, CInt) = (0, 6, 41)
  private static let (transparent, transparent6): (CInt, CInt) = (19, 75)
  private static let (idle, interval, count): (CInt, CInt, CInt) = (4, 5, 6)

  /// A socket, closed with the last who holds it.
  private final class Socket {
    let descriptor: CInt

    /// SOCK_STREAM is 1, SOCK_DGRAM 2.
    init?(_ family: CInt, _ kind: CInt) {
      descriptor = socket(family, kind, 0)
      if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    func set(_ level: CInt, _ option: CInt, _ value: CInt) -> Bool {
      var value = value
      // The kernel reads as many bytes as an integer has.
      return unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size)) == 0
    }

    func get(_ level: CInt, _ option: CInt) -> CInt? {
      var value: CInt = 0
      var length = socklen_t(MemoryLayout<CInt>.size)
      // The kernel writes at most `length` bytes.
      return unsafe getsockopt(descriptor, level, option, &value, &length) == 0 ? value : nil
    }

    func bind(to interface: String) -> Bool {
      let name = Array(interface.utf8) + [0]
      // The kernel reads as many bytes as the array has.
      return unsafe setsockopt(descriptor, SOL_SOCKET, deviceOption, name, socklen_t(name.count)) == 0
    }
  }

  /// Whether this process may set an option: some need CAP_NET_ADMIN.
  private static func may(_ body: (Socket) -> Bool) -> Bool { Socket(AF_INET, 1).map(body) ?? false }

  private static let mayMark = may { $0.set(SOL_SOCKET, markOption, 7) }
  private static let mayBind = may { $0.bind(to: "lo") }
  private static let mayBeTransparent = may { $0.set(ip, transparent, 1) }

  @Test(arguments: [AF_INET, AF_INET6])
  func aTCPSocketAsksForNothingByItself(family: CInt) {
    // A kernel may be without IPv6.
    guard let socket = Socket(family, 1) else { return }
    #expect(SocketRouting(descriptor: socket.descriptor) == SocketRouting())
    #expect(SocketRouting().mark == 0 && SocketRouting().interface == nil)
  }

  @Test(arguments: [(AF_INET, 2), (AF_UNIX, 1), (AF_UNIX, 2)] as [(CInt, CInt)])
  func routesDoNotTellAboutAnotherSocket(family: CInt, kind: CInt) throws {
    let socket = try #require(Socket(family, kind))
    #expect(SocketRouting(descriptor: socket.descriptor) == nil)
  }

  @Test func aClosedSocketSaysNothing() {
    #expect(SocketRouting(descriptor: -1) == nil)
    #expect(SocketRouting.integer(-1, SOL_SOCKET, SO_KEEPALIVE) == nil)
    #expect(KeepaliveSettings(probing: -1) == nil)
    #expect(SocketProgress(descriptor: -1) == nil)
  }

  @Test(.enabled(if: mayMark, "needs CAP_NET_ADMIN"), arguments: [1, 7, -1] as [CInt])
  func theMarkIsWhatWasSet(mark: CInt) throws {
    let socket = try #require(Socket(AF_INET, 1))
    #expect(socket.set(SOL_SOCKET, Self.markOption, mark))
    #expect(SocketRouting(descriptor: socket.descriptor)?.mark == UInt32(bitPattern: mark))
  }

  @Test(.enabled(if: mayBind, "refused here")) func theInterfaceIsWhatItWasBoundTo() throws {
    let socket = try #require(Socket(AF_INET, 1))
    #expect(socket.bind(to: "lo"))
    let routing = try #require(SocketRouting(descriptor: socket.descriptor))
    #expect(routing.interface == "lo" && routing.mark == 0)
  }

  /// Their local address is another machine's.
  @Test(.enabled(if: mayBeTransparent, "needs CAP_NET_ADMIN"))
  func routesDoNotTellAboutATransparentSocket() throws {
    let options = [(AF_INET, Self.ip, Self.transparent), (AF_INET6, Self.ipv6, Self.transparent6)]
    for (family, level, option) in options {
      guard let socket = Socket(family, 1) else { continue }
      #expect(SocketRouting(descriptor: socket.descriptor) != nil)
      #expect(socket.set(level, option, 1))
      #expect(SocketRouting(descriptor: socket.descriptor) == nil)
      #expect(socket.set(level, option, 0))
      #expect(SocketRouting(descriptor: socket.descriptor) != nil)
    }
  }

  /// TCP_KEEPCNT is 127 at most (MAX_TCP_KEEPCNT, include/net/tcp.h), the times a second at least.
  @Test(arguments: [0, 1] as [CInt]) func probingIsAsQuickAsTheKernelPermitsAndThenTakenBack(isOn: CInt) throws {
    let socket = try #require(Socket(AF_INET, 1))
    let options = [
      (SOL_SOCKET, SO_KEEPALIVE), (Self.tcp, Self.idle), (Self.tcp, Self.interval), (Self.tcp, Self.count),
    ]
    let own = [isOn, 77, 33, 5]
    for ((level, option), value) in zip(options, own) { #expect(socket.set(level, option, value)) }
    let settings = try #require(KeepaliveSettings(probing: socket.descriptor))
    #expect(options.map { socket.get($0.0, $0.1) } == [1, 1, 1, 127])
    settings.restore(socket.descriptor)
    #expect(options.map { socket.get($0.0, $0.1) } == own)
  }

  @Test func whatIsNotTCPIsNotProbed() throws {
    let socket = try #require(Socket(AF_INET, 2))
    #expect(KeepaliveSettings(probing: socket.descriptor) == nil)
    #expect(socket.get(SOL_SOCKET, SO_KEEPALIVE) == 0)
    #expect(SocketProgress(descriptor: socket.descriptor) == nil)
  }

  @Test func aSocketThatNeverConnectedMadeNoProgress() throws {
    let socket = try #require(Socket(AF_INET, 1))
    let progress = try #require(SocketProgress(descriptor: socket.descriptor))
    #expect(!progress.isOutstanding && progress.bytesReceived == 0)
    #expect(progress.segmentsIn == 0 && progress.segmentsOut == 0)
  }

  @Test func anOptionIsReadAsItIs() throws {
    let socket = try #require(Socket(AF_INET, 1))
    #expect(SocketRouting.integer(socket.descriptor, SOL_SOCKET, SO_KEEPALIVE) == 0)
    #expect(socket.set(SOL_SOCKET, SO_KEEPALIVE, 1))
    #expect(SocketRouting.integer(socket.descriptor, SOL_SOCKET, SO_KEEPALIVE) == 1)
    // There is no option of such a number.
    #expect(SocketRouting.integer(socket.descriptor, SOL_SOCKET, 9999) == nil)
  }
}
#endif
