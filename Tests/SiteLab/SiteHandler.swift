// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NIOCore

/// Performs the steps of one connection, one after another. Only on its event loop.
final class SiteHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private enum Waiting {
    /// Waits for the end of the step that runs.
    case no
    case request
    case bytes
    /// Waits for the client to close.
    case end
  }

  private let behaviour: SiteBehaviour
  private let record: SiteServerRecord
  private let number: Int
  private var steps: ArraySlice<SiteStep> = []
  private var waiting = Waiting.no
  /// Bytes received that are not yet part of a request.
  private var pending: [UInt8] = []
  private var isActive = false

  init(_ behaviour: SiteBehaviour, record: SiteServerRecord, number: Int) {
    self.behaviour = behaviour
    self.record = record
    self.number = number
  }

  func channelActive(context: ChannelHandlerContext) {
    isActive = true
    steps = behaviour.opening[...]
    next(context)
  }

  func channelInactive(context: ChannelHandlerContext) { isActive = false }

  /// Errors are expected: a client may go at any time.
  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = Array(unwrapInboundIn(data).readableBytesView)
    record.update(number) { connection in
      connection.received += bytes.prefix(SiteConnection.capacity - connection.received.count)
    }
    pending = (pending + bytes).suffix(SiteConnection.capacity)
    switch waiting {
    case .no, .end: break
    case .bytes: next(context)
    case .request: takeRequest(context)
    }
  }

  private func next(_ context: ChannelHandlerContext) {
    guard isActive else { return }
    waiting = .no
    guard let step = steps.popFirst() else {
      waiting = .request
      return takeRequest(context)
    }
    switch step {
    case .send(let bytes): send(bytes, context) { $0.next($1) }
    case .sendForEver(let bytes): sendForEver(bytes, context)
    case .drip(let bytes, let pause): drip(bytes, every: pause, context)
    case .pause(let pause): after(pause, context) { $0.next($1) }
    case .hold(let mayGoOn): hold(until: mayGoOn, context)
    case .perform(let body):
      body()
      next(context)
    case .awaitRequest: waiting = .request
    case .awaitBytes: if pending.isEmpty { waiting = .bytes } else { next(context) }
    case .stall: waiting = .end
    case .close: context.close(promise: nil)
    case .reset: SiteReset.reset(context.channel)
    }
  }

  private func takeRequest(_ context: ChannelHandlerContext) {
    let end: [UInt8] = [13, 10, 13, 10]
    guard let index = pending.indices.first(where: { pending[$0...].starts(with: end) }) else { return }
    let head = Array(pending[..<(index + end.count)])
    pending.removeFirst(head.count)
    guard let request = SiteRequest(head: head) else { return context.close(promise: nil) }
    record.update(number) { $0.requests.append(request) }
    steps = behaviour.answer(request)[...]
    next(context)
  }

  private func send(
    _ bytes: [UInt8], _ context: ChannelHandlerContext,
    then: @escaping (SiteHandler, ChannelHandlerContext) -> Void
  ) {
    let loopBound = NIOLoopBound((self, context, then), eventLoop: context.eventLoop)
    let (record, number) = (record, number)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes))).whenSuccess {
      record.update(number) { $0.sentCount += bytes.count }
      let (handler, context, then) = loopBound.value
      then(handler, context)
    }
  }

  private func sendForEver(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
    guard isActive else { return }
    send(bytes, context) { handler, context in
      // In a new turn of the loop: otherwise a client that takes everything at once would make this a recursion.
      handler.after(.zero, context) { $0.sendForEver(bytes, $1) }
    }
  }

  private func drip(_ bytes: [UInt8], every pause: Duration, _ context: ChannelHandlerContext) {
    guard isActive else { return }
    send(bytes, context) { handler, context in
      handler.after(pause, context) { $0.drip(bytes, every: pause, $1) }
    }
  }

  private func hold(until mayGoOn: @escaping @Sendable () -> Bool, _ context: ChannelHandlerContext) {
    if mayGoOn() { return next(context) }
    after(.milliseconds(5), context) { $0.hold(until: mayGoOn, $1) }
  }

  private func after(
    _ pause: Duration, _ context: ChannelHandlerContext,
    _ body: @escaping (SiteHandler, ChannelHandlerContext) -> Void
  ) {
    let loopBound = NIOLoopBound((self, context, body), eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: TimeAmount(pause)) {
      let (handler, context, body) = loopBound.value
      if handler.isActive { body(handler, context) }
    }
  }
}
#endif
