// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestSupport
import Testing

@testable import DialtoneExporter
@testable import DialtoneSites

/// How long a connection may take, by a clock that a test moves.
@Suite(.timeLimit(.minutes(5)))
struct ConnectionTimeTests {
  /// Takes what is sent, and never says that it has gone.
  private final class Deafness: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    private let isSending: Box<Bool>
    private var promises: [EventLoopPromise<Void>] = []

    init(_ isSending: Box<Bool>) { self.isSending = isSending }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      if let promise { promises.append(promise) }
      isSending.value = true
    }

    func flush(context: ChannelHandlerContext) {}

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
      for promise in promises { promise.fail(ChannelError.ioOnClosedChannel) }
      promises = []
      context.close(mode: mode, promise: promise)
    }
  }

  /// A connection that has been made, with what a server has in it.
  private struct Lab {
    /// Kept: one that is released with something left to do ends the process.
    private static let loops = Box<[NIOAsyncTestingEventLoop]>([])

    let loop: NIOAsyncTestingEventLoop
    let channel: NIOAsyncTestingChannel
    weak let exporter: Exporter?
    /// Whether an answer is sent to a client that takes nothing.
    let isSending = Box(false)

    init(_ perform: SiteEngineProvider.Perform? = nil, isDeaf: Bool = false) async throws {
      let loop = NIOAsyncTestingEventLoop()
      let channel = NIOAsyncTestingChannel(loop: loop)
      (self.loop, self.channel) = (loop, channel)
      Self.loops.update { $0.append(loop) }
      let exporter = Exporter(
        configuration: .usual, policy: .local, watched: try WatchedTargets([]), process: ProcessMetrics(),
        environment: perform.map { SiteEnvironment(perform: $0) })
      self.exporter = exporter
      try await loop.executeInContext { [isSending] in
        let pipeline = channel.pipeline.syncOperations
        if isDeaf { try pipeline.addHandler(Deafness(isSending)) }
        let handler = RequestHandler(exporter, ExporterServer.Patience(), loop)
        try pipeline.addHandler(FirstByteHandler(handler))
        try pipeline.configureHTTPServerPipeline(withErrorHandling: false)
        try pipeline.addHandler(handler)
      }
      try await channel.connect(to: SocketAddress(unixDomainSocketPath: "/client")).get()
    }

    func send(_ text: String) async throws { try await channel.writeInbound(ByteBuffer(string: text)) }

    func ask(_ target: String) async throws { try await send("GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n") }

    /// The answer, once it is there.
    func answer() async throws -> String {
      var text = ""
      var part: ByteBuffer? = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
      while let bytes = part {
        text += String(buffer: bytes)
        part = try await channel.readOutbound(as: ByteBuffer.self)
      }
      return text
    }

    func stop(makesRoom: Bool = false) async throws {
      try await loop.executeInContext { [channel] in
        channel.pipeline.fireUserInboundEventTriggered(RequestHandler.Stop(makesRoom: makesRoom))
      }
    }

    /// Whether it is open until this much time has gone by, and closed then.
    func closes(after seconds: Int64) async throws -> Bool {
      await loop.advanceTime(by: .seconds(seconds) - .milliseconds(1))
      let wasOpen = channel.isActive
      await loop.advanceTime(by: .milliseconds(1))
      return wasOpen && !channel.isActive
    }
  }

  /// A request takes ten seconds from its first byte at most, or from the beginning of the connection.
  @Test func aRequestComesInTime() async throws {
    #expect(try await Lab().closes(after: 10))
    let lab = try await Lab()
    await lab.loop.advanceTime(by: .seconds(5))
    try await lab.send("GET /-/hea")
    await lab.loop.advanceTime(by: .seconds(6))
    // What comes later makes it no longer.
    try await lab.send("lthy HTTP/1.1\r\nHost:")
    #expect(try await lab.closes(after: 4))
  }

  /// Five minutes are between an answer and the next request, which has ten seconds of its own.
  @Test func theNextRequestComesInTime() async throws {
    let lab = try await Lab()
    for seconds in [9, 250] as [Int64] {
      await lab.loop.advanceTime(by: .seconds(seconds))
      try await lab.ask("/-/healthy")
      #expect(try await lab.answer().hasSuffix("Healthy\n"))
      try await lab.loop.executeInContext {}
    }
    #expect(try await lab.closes(after: 300))
    let other = try await Lab()
    try await other.ask("/-/healthy")
    #expect(try await other.answer().hasSuffix("Healthy\n"))
    await other.loop.advanceTime(by: .seconds(299))
    try await other.send("G")
    #expect(try await other.closes(after: 10))
  }

  /// An answer has a deadline of its own. A server that ends waits for it, and closes the connection with it.
  @Test func anAnswerIsWaitedFor() async throws {
    let (wait, end) = AsyncStream<Void>.makeStream()
    let isAsked = Box(false)
    let lab = try await Lab { url, _ in
      isAsked.value = true
      for await _ in wait {}
      return SiteVerdict(url: url, kind: .available, status: 200)
    }
    defer { end.finish() }
    try await lab.ask("/probe?target=a.example")
    try await eventually("the probe is under way") {
      await lab.loop.run()
      return isAsked.value
    }
    await lab.loop.advanceTime(by: .seconds(400))
    #expect(lab.channel.isActive)
    try await lab.stop()
    #expect(lab.channel.isActive)
    end.finish()
    let answer = try await lab.answer()
    #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains("\r\nConnection: close\r\n"))
    try await lab.loop.executeInContext {}
    #expect(!lab.channel.isActive)
    // One without a request is closed at once.
    let idle = try await Lab()
    try await idle.stop()
    #expect(!idle.channel.isActive)
  }

  /// A client has thirty seconds to take its answer.
  @Test func anAnswerIsTakenInTime() async throws {
    let lab = try await Lab(isDeaf: true)
    try await lab.ask("/-/healthy")
    try await eventually("the answer is sent") {
      await lab.loop.run()
      return lab.isSending.value
    }
    try await lab.loop.executeInContext {}
    #expect(try await lab.closes(after: 30))
  }

  /// An answer that is not taken holds a place only until another needs it; a server that ends leaves it its time.
  @Test func anAnswerThatIsNotTakenMakesRoom() async throws {
    let lab = try await Lab(isDeaf: true)
    try await lab.ask("/-/healthy")
    try await eventually("the answer is sent") {
      await lab.loop.run()
      return lab.isSending.value
    }
    try await lab.stop()
    #expect(lab.channel.isActive)
    try await lab.stop(makesRoom: true)
    #expect(!lab.channel.isActive)
  }

  /// What is closed is kept by nothing, not by the time that it had left either.
  @Test func aConnectionThatIsClosedIsReleased() async throws {
    let lab = try await Lab()
    #expect(lab.exporter != nil)
    try await lab.channel.close().get()
    try await eventually("it is released") { lab.exporter == nil }
  }
}
