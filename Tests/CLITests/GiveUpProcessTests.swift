// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NetworkLab
import TestSupport
import Testing

/// What waiting for the network at boot needs: ends early, addresses that count, name servers.
@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct GiveUpProcessTests {
  @Test func givesUpWhereNoLinkHasACarrier() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("v0", "v1")
    try lab.up("v0")
    let result = try await Tool.run(["wait", "--give-up-early", "--grace", "200ms"], in: lab)
    #expect(result.ending == .exited(1))
    let note = result.error.split(separator: "\n").last ?? ""
    #expect(note.hasPrefix("dialtone: gave up: "), "\(result.error)")
    #expect(note.contains("wired (v0): no carrier") && note.contains("wired (v1): the interface is down"), "\(note)")
    #expect(result.output.hasPrefix("internet  unreachable"))
  }

  @Test func goesOnWhileALinkHasACarrier() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    let process = try Tool.start(["wait", "--give-up-early", "--grace", "0"], in: lab)
    #expect(try await process.error.nextLine(within: .seconds(60)).contains("waiting for internet"))
    try lab.addAddress("10.0.0.1/24", "v0")
    try lab.addRoute("default", via: "10.0.0.2")
    #expect(try await process.exit() == .exited(0))
  }

  /// No state changes with it, and nobody looks by the clock: the kernel's announcement alone ends the wait.
  @Test func givesUpOnceTheLastCarrierIsGone() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    let process = try Tool.start(["wait", "--give-up-early", "--grace", "0"], in: lab)
    #expect(try await process.error.nextLine(within: .seconds(60)).contains("waiting for internet"))
    try lab.down("v1")
    #expect(try await process.exit() == .exited(1))
  }

  @Test func saysThatThereIsNoInterfaceAtAll() async throws {
    let result = try await Tool.run(["wait", "--give-up-early", "--grace", "0"], in: try NetworkLab())
    #expect(result.ending == .exited(1))
    #expect(result.error.contains("gave up: there is no wired, Wi-Fi or cellular interface"), "\(result.error)")
  }

  /// Another address of the same link is no change of a state: the wait hears of it all the same.
  @Test func aLinkLocalAddressDoesNotCountIfItShallBeRoutable() async throws {
    let lab = try NetworkLab()
    try lab.addVeth("v0", "v1")
    try lab.up("v0", "v1")
    try lab.addAddress("169.254.0.7/16", "v0")
    let lenient = try await Tool.run(["wait", "local-network"], in: lab)
    #expect(lenient.ending == .exited(0))
    let process = try Tool.start(["wait", "--routable", "local-network"], in: lab)
    #expect(
      try await process.error.nextLine(within: .seconds(60)).contains(
        "waiting for local-network to be reachable from a routable address"))
    try lab.addAddress("10.0.0.1/24", "v0")
    #expect(try await process.exit() == .exited(0))
  }

  @Test func waitsForANameServer() async throws {
    let lab = try NetworkLab()
    try lab.makeB()
    // Nobody answers in this namespace.
    let result = try await Tool.run(["wait", "--dns", "example.com", "--timeout", "1500ms"], in: lab)
    #expect(result.ending == .exited(1))
    #expect(result.error.contains("waiting for a name server for example.com"), "\(result.error)")
    #expect(result.output.hasPrefix("internet  reachable"), "\(result.output)")
  }

  /// Nobody listens at the first server's address: the second one, over IPv6, answers.
  @Test func endsOnceANameServerAnswers() async throws {
    let lab = try NetworkLab(ownMounts: true)
    try lab.makeB()
    let folder = try TemporaryFolder()
    let file = folder.path + "/resolv.conf"
    defer { _ = unsafe unlink(file) }
    try "nameserver 127.0.0.2\nnameserver ::1\n".write(toFile: file, atomically: false, encoding: .utf8)
    try lab.bindMount(file, over: "/etc/resolv.conf")
    let server = try await LabNameServer(in: lab, at: "::1")
    let start = ContinuousClock.now
    let result = try await Tool.run(["wait", "--dns", "www.example.com"], in: lab)
    #expect(result.ending == .exited(0), "\(result)")
    // That none answers is not said before one is missed.
    let isSaid = result.error.contains("no name server answers")
    #expect(!isSaid || start.duration(to: .now) > .milliseconds(250), "\(result)")
    // RFC 1035, 4.1: the header without its number, with one question and recursion desired; the name, A, and IN.
    let name = [3] + Array("www".utf8) + [7] + Array("example".utf8) + [3] + Array("com".utf8) + [0]
    #expect(server.questions.map { Array($0.dropFirst(2)) } == [[1, 0, 0, 1, 0, 0, 0, 0, 0, 0] + name + [0, 1, 0, 1]])
  }

  @Test(arguments: [
    ["wait", "--grace", "5s"], ["wait", "--unreachable", "--give-up-early"], ["wait", "--unreachable", "--routable"],
    ["wait", "--dns", "a..b"], ["wait", "--site", "--dns", "a.test", "http://a.test/"],
  ])
  func refusesWhatMakesNoSense(arguments: [String]) async throws {
    let result = try await Tool.run(arguments, in: try NetworkLab())
    #expect(result.ending == .exited(64), "\(result.error)")
  }
}

/// A name server in a lab, which says that no name exists.
private final class LabNameServer: Sendable {
  private let channel: any Channel
  private let record: NIOLockedValueBox<[[UInt8]]>

  init(in lab: NetworkLab, at host: String) async throws {
    let record = NIOLockedValueBox<[[UInt8]]>([])
    self.record = record
    // Made here: its threads have the network of who asks for it first, and other tests use them.
    let group = MultiThreadedEventLoopGroup.singleton
    // A socket belongs to the namespace of the thread that makes it, which is the one that calls bind.
    let binding = try lab.run {
      DatagramBootstrap(group: group)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Denial(record)) }
        }
        .bind(host: host, port: 53)
    }
    channel = try await binding.get()
  }

  deinit { channel.close(promise: nil) }

  var questions: [[UInt8]] { record.withLockedValue { $0 } }

  private final class Denial: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    private let record: NIOLockedValueBox<[[UInt8]]>

    init(_ record: NIOLockedValueBox<[[UInt8]]>) { self.record = record }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let envelope = unwrapInboundIn(data)
      var bytes = Array(envelope.data.readableBytesView)
      record.withLockedValue { $0.append(bytes) }
      guard bytes.count > 12 else { return }
      // A response, with recursion available: the name does not exist (RFC 1035, 4.1.1).
      (bytes[2], bytes[3]) = (0x81, 0x83)
      context.writeAndFlush(
        wrapOutboundOut(AddressedEnvelope(remoteAddress: envelope.remoteAddress, data: ByteBuffer(bytes: bytes))),
        promise: nil)
    }
  }
}
