// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneSites
import Glibc
import NIOCore
import NIOPosix
import SiteLab
import Testing

@testable import Dialtone
@testable import DialtoneDiagnosis

/// What connections to this machine itself tell: the kernel takes, resets or leaves them without delay.
struct LoopbackProbeTests {
  private static let loopback = IPAddress(ipv4: 0x7F00_0001)
  private static let second: Int64 = 1_000_000_000

  /// Longer than any test takes; what is waited for is there at once.
  private static func patience(_ rest: Int64 = 3_600 * second) -> Patience {
    Patience(until: TimeSource.system.now() + rest)
  }

  /// A port that listens.
  private final class Port: Sendable {
    private let channel: any Channel
    let number: UInt16

    init() async throws {
      channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .bind(host: "127.0.0.1", port: 0).get()
      number = UInt16(channel.localAddress?.port ?? 0)
    }

    deinit { channel.close(promise: nil) }
  }

  /// A port that is taken and does not listen, as another connection goes out by it: connections to it are reset (RFC
  /// 9293, 3.10.7.1).
  private struct ClosedPort {
    private let deaf: DeafListener
    private let socket: ProbeSocket
    let number: UInt16

    init() throws {
      deaf = try DeafListener()
      socket = ProbeSocket(loopback, port: UInt16(deaf.port), isStream: true, interface: nil)
      number = try #require(socket.flow).endpoints.sourcePort
    }
  }

  private static func trace(_ port: UInt16, _ hops: [CInt] = HopTrace.hops) -> HopTrace {
    HopTrace(to: loopback, port: port, hops: hops, interface: nil, gateway: nil)
  }

  // MARK: Traces

  /// What takes the connection that dies behind two routers is near, and is not what was asked for.
  @Test func whoTakesAllConnectionsIsNear() async throws {
    let port = try await Port()
    defer { withExtendedLifetime(port) {} }
    var trace = Self.trace(port.number)
    #expect(trace.descriptors.isEmpty && HopTrace.result([trace]) == nil && trace.family == .ipv4)
    trace.begin()
    #expect(trace.descriptors.count == 3 && !trace.hasDiedBeyond && !trace.hasDiedAtRouter)
    // Another's descriptor is none of its own.
    trace.take(-1)
    #expect(trace.descriptors.count == 3)
    let isLed = trace.isLed(Self.patience(), upTo: 60_000, waitsForAll: true)
    #expect(isLed && trace.descriptors.isEmpty && !trace.hasDiedBeyond && !trace.hasDiedAtRouter)
    #expect(trace.stop == nil && trace.barrier == nil && HopTrace.result([trace]) == nil)
  }

  /// One that takes a connection further away is who was asked for.
  @Test(arguments: [[64], [3]] as [[CInt]])
  func whoTakesAConnectionFurtherAwayLeadsOn(hops: [CInt]) async throws {
    let port = try await Port()
    defer { withExtendedLifetime(port) {} }
    var trace = Self.trace(port.number, hops)
    let isLed = trace.leadsBeyond(Self.patience(), upTo: 60_000)
    #expect(isLed && trace.stop == nil && trace.barrier == nil && !trace.hasDiedBeyond)
    for areRefused in [true, false] {
      #expect(HopTrace.result([trace], areRefused: areRefused) == .leadsOn(Self.loopback))
    }
    // Of several, one that has arrived is enough.
    var none = Self.trace(port.number, [])
    none.begin()
    #expect(HopTrace.result([none, trace]) == .leadsOn(Self.loopback))
  }

  /// A reset may be the router's: it leads nobody on. Near, it stops all; a little further, it is a barrier.
  @Test(
    arguments: [
      ([2, 3, 64], .reset, .reset, .silent), ([2], .reset, nil, .silent), ([3], nil, .reset, .leadsOn(loopback)),
      ([64], nil, nil, .leadsOn(loopback)),
    ] as [([CInt], ConnectionFinding.Outcome?, ConnectionFinding.Outcome?, BeyondFinding.Trace)])
  func aResetLeadsNobodyOn(
    hops: [CInt], stop: ConnectionFinding.Outcome?, barrier: ConnectionFinding.Outcome?, refused: BeyondFinding.Trace
  ) throws {
    let port = try ClosedPort()
    defer { withExtendedLifetime(port) {} }
    var trace = Self.trace(port.number, hops)
    let isLed = trace.leadsBeyond(Self.patience(), upTo: 60_000)
    #expect(!isLed && trace.descriptors.isEmpty && trace.stop == stop && trace.barrier == barrier)
    #expect(HopTrace.result([trace]) == .leadsOn(Self.loopback))
    #expect(HopTrace.result([trace], areRefused: true) == refused)
  }

  @Test func withoutAConnectionNothingIsKnown() async throws {
    let port = try await Port()
    defer { withExtendedLifetime(port) {} }
    var trace = Self.trace(port.number, [])
    let isLed = trace.leadsBeyond(Self.patience(), upTo: 60_000)
    #expect(!isLed && trace.stop == .silent && trace.barrier == nil)
    #expect(HopTrace.result([trace]) == .silent && HopTrace.result([trace, Self.trace(port.number)]) == .silent)
    #expect(HopTrace.result([]) == nil && HopTrace.result([Self.trace(port.number)], areRefused: true) == nil)
  }

  /// A diagnosis that is cancelled waits for nobody.
  @Test func aCancelledTraceEnds() throws {
    let deaf = try DeafListener()
    defer { withExtendedLifetime(deaf) {} }
    var trace = HopTrace(to: Self.loopback, port: UInt16(deaf.port), interface: nil, gateway: nil)
    let patience = Self.patience()
    patience.cancel()
    let isLed = trace.leadsBeyond(patience, upTo: 60_000)
    #expect(!isLed && trace.descriptors.count == 3 && HopTrace.result([trace]) == .silent)
  }

  // MARK: Connections

  private static func connector(_ ports: [UInt16], _ patience: Patience = patience()) -> Connector {
    Connector([loopback], ports: ports, interface: nil, patience)
  }

  @Test func whatTakesAConnectionAndWhatResetsItIsToldApart() async throws {
    let (open, closed) = (try await Port(), try ClosedPort())
    defer { withExtendedLifetime((open, closed)) {} }
    let connector = Self.connector([closed.number, open.number])
    connector.wait(upTo: 60_000)
    let results = connector.results(.ipv4)
    #expect(results.map(\.port) == [closed.number, open.number] && results.map(\.isAccepted) == [false, true])
    #expect(results.first?.tries == [.reset] && results.allSatisfy { $0.address == Self.loopback })
    #expect(connector.isConnected(.ipv4) && !connector.isConnected(.ipv6) && connector.results(.ipv6).isEmpty)
    #expect(!connector.isSilent(.ipv4) && connector.isSilent(.ipv6) && !connector.isHurried)
    guard case .accepted(let milliseconds)? = results.last?.outcome else {
      Issue.record("\(results)")
      return
    }
    #expect(milliseconds >= 0 && milliseconds <= Double(connector.elapsed) + 1)
  }

  @Test func whoResetsAllRefusesOnTheWay() throws {
    let closed = try ClosedPort()
    defer { withExtendedLifetime(closed) {} }
    let connector = Self.connector([closed.number])
    connector.wait(upTo: 60_000)
    #expect(!connector.isConnected(.ipv4) && !connector.isSilent(.ipv4))
  }

  /// Nobody answers: who is waited for no longer, as the time is up, as enough is known, or as it was so long.
  @Test func whoDoesNotAnswerIsSilent() throws {
    let deaf = try DeafListener()
    defer { withExtendedLifetime(deaf) {} }
    let port = UInt16(deaf.port)
    let over = Self.connector([port], Self.patience(-1))
    over.wait(upTo: 60_000)
    #expect(over.isHurried && over.isSilent(.ipv4))
    let decided = Self.connector([port])
    decided.wait(upTo: 60_000) { true }
    #expect(!decided.isHurried && decided.isSilent(.ipv4))
    let short = Self.connector([port])
    short.wait(upTo: 0)
    #expect(!short.isHurried && short.isSilent(.ipv4) && !short.isConnected(.ipv4))
    #expect(short.results(.ipv4).map(\.tries) == [[.silent]])
  }

  /// ip(7), tcp(7): TCP connects to one host, and neither to all nor to a group.
  @Test(arguments: [0xFFFF_FFFF, 0xE000_0001] as [UInt32])
  func manyTakeNoConnection(address: UInt32) {
    let connector = Connector([IPAddress(ipv4: address)], ports: [9], interface: nil, Self.patience())
    connector.wait(upTo: 60_000)
    #expect(connector.results(.ipv4).map(\.tries) == [[.failed(ENETUNREACH)]])
    #expect(!connector.isSilent(.ipv4) && !connector.isHurried)
  }

  // MARK: Sockets

  /// RFC 791 and RFC 4291: 4 and 16 bytes in network order.
  @Test func addressesHaveTheirBytes() {
    #expect(IPAddress(ipv4: 0xCB00_710A).networkBytes == [203, 0, 113, 10])
    let six = IPAddress(IPAddressBits(ipv6High: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10))
    #expect(six.networkBytes == (1...16).map { UInt8($0) })
  }

  /// A socket knows both ends of what it sends, by which a witness tells its packets.
  @Test(arguments: [true, false])
  func aSocketKnowsItsEnds(isStream: Bool) async throws {
    let port = try await Port()
    defer { withExtendedLifetime(port) {} }
    let socket = ProbeSocket(Self.loopback, port: port.number, isStream: isStream, interface: nil)
    #expect(socket.descriptor >= 0 && socket.address == Self.loopback)
    #expect(isStream ? [0, EINPROGRESS].contains(socket.start) : socket.start == 0)
    let flow = try #require(socket.flow)
    #expect(flow.isStream == isStream && flow.endpoints.sourcePort != 0)
    #expect(flow.endpoints.source == Self.loopback.bits && flow.endpoints.destination == Self.loopback.bits)
    #expect(flow.endpoints.destinationPort == port.number && socket.takeError() == 0)
    if isStream {
      _ = Self.patience().wait([(socket.descriptor, wantsWriting: true)], until: .max)
      #expect(socket.isConnected && socket.takeRefusal() == nil)
    }
  }

  @Test func timeThatIsLeftEnds() {
    let now = TimeSource.system.now()
    let patience = Patience(until: now + 3_600 * Self.second)
    #expect(patience.moment(in: 0) >= now && patience.moment(in: 3_600_000) == now + 3_600 * Self.second)
    // That many milliseconds from the moment of the call.
    let later = patience.moment(in: 1_000)
    #expect(later >= now + Self.second && later <= TimeSource.system.now() + Self.second)
    #expect(patience.wait([], until: now - 1)?.isEmpty == true && !patience.isOver)
    let over = Patience(until: now)
    #expect(over.rest == 0 && over.isOver && over.moment(in: 5) == now)
  }

  /// proc_net_tcp.rst: the state 0A listens; anything else, and a line that is cut, does not.
  @Test func linesThatAreNoListenersAreLeftOut() {
    func count(_ line: String) -> Int { LocalListeners.listeners(in: line, port: 8_080).count }
    #expect(count("0: 0100007F:1F90 00000000:0000 0A 00000000:00000000") == 1)
    #expect(count("0: 0100007F:1F90 00000000:0000 01 00000000:00000000") == 0)
    #expect(count("0: 0100007F:1F90 00000000:0000 0A") == 0 && count("") == 0 && count("0: x 0 0A 0:0") == 0)
    #expect(count("0: 0100007F:1F91 00000000:0000 0A 00000000:00000000") == 0)
    #expect(count("0: 0100007F:1F90:0 00000000:0000 0A 00000000:00000000") == 0)
    #expect(count("0: 0100:1F90 00000000:0000 0A 00000000:00000000") == 0)
  }
}
#endif
