// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import NIOCore
internal import NIOHTTP1

/// One connection: reads a request, has it answered, and so on. Belongs to its event loop.
///
/// Invariant: there is a deadline, except while an answer is being found, which has one of its own: so nobody holds a
/// connection by being slow. A timer ends at the deadline or before.
final class RequestHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// The server ends, or needs room: a connection without a request is closed, another after its answer.
  struct Stop: Sendable {
    /// Whether a request that has not come whole or has not begun is given up, too, and an answer that is not taken.
    var makesRoom = false
  }

  /// No request needs a body.
  private static let bodyLimit = 65_536

  private let exporter: Exporter
  private let patience: ExporterServer.Patience
  private let executor: LoopExecutor
  /// Whether requests are answered.
  var isWelcome = true
  private var context: ChannelHandlerContext?
  private var head: HTTPRequestHead?
  private var bodyLength = 0
  private var task: Task<Void, Never>?
  private var deadline: NIODeadline?
  private var timer: (end: NIODeadline, task: Scheduled<Void>)?
  let waiting = Waiting()
  private var isLast = false
  /// Whether an answer ends just now, so that what comes was sent before.
  private var isEnding = false

  /// What a connection waits for, and since when. Others may read it.
  final class Waiting: Sendable {
    enum Phase: Sendable {
      case firstRequest, restOfRequest, turn, answer, client, nextRequest
    }

    private let value = Lock((phase: Phase.firstRequest, since: NIODeadline.now()))

    var now: (phase: Phase, since: NIODeadline) { value.withLock { $0 } }
    var phase: Phase { now.phase }
    /// Whether no byte of a request has come.
    var isForRequest: Bool { phase == .firstRequest || phase == .nextRequest }

    fileprivate func begin(_ phase: Phase) { value.withLock { $0 = (phase, .now()) } }
  }

  init(_ exporter: Exporter, _ patience: ExporterServer.Patience, _ loop: any EventLoop) {
    self.exporter = exporter
    self.patience = patience
    executor = LoopExecutor(loop)
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelActive(context: ChannelHandlerContext) {
    close(in: patience.request)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.task.cancel()
    // Nobody waits for it any more.
    task?.cancel()
    context.fireChannelInactive()
  }

  /// Closes the connection after that time, unless another one is set before. A timer that is early is let be: each
  /// answer sets two times.
  private func close(in time: Duration) {
    guard let loop = context?.eventLoop else { return }
    let deadline = loop.now + .nanoseconds(time.nanosecondsClamped)
    self.deadline = deadline
    if let timer, timer.end <= deadline { return }
    timer?.task.cancel()
    setTimer(deadline, loop)
  }

  private func setTimer(_ end: NIODeadline, _ loop: any EventLoop) {
    let task = loop.assumeIsolated().scheduleTask(deadline: end) { [self] in
      timer = nil
      guard let context, let deadline else { return }
      if deadline <= loop.now { context.close(promise: nil) } else { setTimer(deadline, loop) }
    }
    timer = (end, task)
  }

  /// Bytes have come, and are read: a request that has begun has to end soon. Mostly it has ended.
  func bytesCame() {
    guard waiting.isForRequest, task == nil else { return }
    waiting.begin(.restOfRequest)
    close(in: patience.request)
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      self.head = head
      bodyLength = 0
      // RFC 9110, 10.1.1: a client may send its body only then.
      if head.version == .http1_1, head.headers["expect"].contains(where: { ASCII.areSame($0, "100-continue") }) {
        let interim = HTTPResponseHead(version: .http1_1, status: .continue)
        context.writeAndFlush(wrapOutboundOut(.head(interim)), promise: nil)
      }
    case .body(let bytes):
      bodyLength += bytes.readableBytes
      if bodyLength > Self.bodyLimit { context.close(promise: nil) }
    case .end:
      guard let head else { return }
      self.head = nil
      if !isEnding { return begin(head) }
      deadline = nil
      waiting.begin(.turn)
      let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
      exporter.turns.wait(on: context.eventLoop) { handler.value.begin(head) }
    }
  }

  private func begin(_ head: HTTPRequestHead) {
    // It may have been closed while the request waited for its turn.
    guard let loop = context?.eventLoop else { return }
    deadline = nil
    waiting.begin(.answer)
    if !head.isKeepAlive { isLast = true }
    guard isWelcome else {
      isLast = true
      return write(
        Exporter.Response(
          status: 503, fields: [("Retry-After", "1")], body: "Too many connections are open; ask again later.\n"),
        to: head.method)
    }
    // RFC 9112, 3.2: a server refuses a request of HTTP/1.1 without its host, or with several.
    if head.version == .http1_1, head.headers["host"].count != 1 {
      isLast = true
      return write(Exporter.Response(status: 400, body: "A request has one field Host.\n"), to: head.method)
    }
    let request = Exporter.Request(
      method: head.method.rawValue, target: Self.originForm(head.uri),
      format: Exposition(accept: head.headers["accept"].joined(separator: ",")),
      // Without the space around it.
      scrapeTimeout: head.headers[canonicalForm: "x-prometheus-scrape-timeout-seconds"].first.map(String.init))
    let handler = NIOLoopBound(self, eventLoop: loop)
    task = Task(executorPreference: executor) { [exporter] in
      let response = await exporter.answer(request)
      handler.value.write(response, to: head.method)
    }
  }

  /// The path and the query: clients of proxies name the host, too (RFC 9112, 3.2.2).
  private static func originForm(_ target: String) -> String {
    guard !target.hasPrefix("/"), let host = target.firstRange(of: "://")?.upperBound else { return target }
    let path = target[host...].drop { $0 != "/" && $0 != "?" }
    return path.hasPrefix("/") ? String(path) : "/\(path)"
  }

  /// `method` is the one of the request; `nil` if it could not be read.
  private func write(_ response: Exporter.Response, to method: HTTPMethod?) {
    task = nil
    waiting.begin(.client)
    guard let context else { return }
    close(in: patience.answer)
    var body = context.channel.allocator.buffer(capacity: response.body.utf8.count)
    body.writeString(response.body)
    var headers = HTTPHeaders(response.fields.map { ($0.name, $0.value) })
    headers.add(name: "Date", value: exporter.date)
    headers.add(name: "Content-Type", value: response.type)
    headers.add(name: "Content-Length", value: String(body.readableBytes))
    headers.add(name: "X-Content-Type-Options", value: "nosniff")
    if isLast { headers.add(name: "Connection", value: "close") }
    let head = HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if method == .HEAD { body.clear() }
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(body)))).assumeIsolated()
      .whenComplete { [self] _ in end() }
  }

  /// The system has taken an answer. Its end, which has no bytes, lets the next request in: so answers do not pile up
  /// for who does not take them.
  private func end() {
    guard let context else { return }
    // What comes next may be the last, or nothing that can be read, and is answered, too.
    let closes = isLast
    isEnding = true
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    isEnding = false
    if closes {
      context.close(promise: nil)
    } else if task == nil, waiting.phase != .turn {
      waiting.begin(.nextRequest)
      close(in: patience.nextRequest)
    }
  }

  // MARK: Ends

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if let stop = event as? Stop {
      isLast = true
      if waiting.isForRequest || stop.makesRoom && waiting.phase != .answer { context.close(promise: nil) }
    } else {
      context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The connection is of no use any more.
    isLast = true
    guard let error = error as? HTTPParserError else { return context.close(promise: nil) }
    // RFC 9112, 9.6: what comes behind a request that was the last is no request. The answer to that one closes.
    if error == .closedConnection { return }
    let (status, body) =
      switch error {
      // RFC 9110, 9.1.
      case .invalidMethod: (501, Exporter.methods)
      // RFC 6585, 5.
      case .headerOverflow: (431, "The request's target or its fields are too long.\n")
      default: (400, "This is no request of HTTP/1.1.\n")
      }
    write(Exporter.Response(status: status, body: body), to: nil)
  }
}

/// Requests that came before the one before them was answered, one at a time, each only once its loop has looked for
/// what others have sent: a loop reads nothing as long as it has something to do.
final class RequestTurns: Sendable {
  private let waiting = Lock(CircularBuffer<(loop: any EventLoop, work: @Sendable () -> Void)>())

  func wait(on loop: any EventLoop, _ work: @escaping @Sendable () -> Void) {
    let isFirst = waiting.withLock { waiting in
      waiting.append((loop, work))
      return waiting.count == 1
    }
    if isFirst { next() }
  }

  private func next() {
    guard let (loop, work) = waiting.withLock({ $0.first }) else { return }
    // What is to be done later lets the loop look, however little later that is.
    loop.scheduleTask(in: .microseconds(50)) { [self] in
      work()
      // Behind what that gives the loop to do.
      loop.execute { [self] in
        waiting.withLock { _ = $0.removeFirst() }
        next()
      }
    }
  }
}

/// Runs tasks on an event loop. What they wait for there wakes no other thread.
private final class LoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // It is run once, as a job must be, by the executor that it was given to.
    loop.execute { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

/// Stands before the decoder, and tells when it has bytes.
final class FirstByteHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let handler: RequestHandler

  init(_ handler: RequestHandler) { self.handler = handler }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    context.fireChannelRead(data)
    handler.bytesCame()
  }
}
