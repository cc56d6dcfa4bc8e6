// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import NIOCore
internal import NIOHTTP1

/// From the addresses to the verdict.
extension CheckRun {
  // MARK: The connection

  func connect(_ method: SiteConfiguration.Method) {
    precondition(race == nil && exchange == nil, "One connection at a time")
    begin(.connect)
    let race = ConnectionRace(
      routes, isOpen: mayGetMoreRoutes, port: port, interface: configuration.interface, loop
    ) { [self] result, last in
      self.race = nil
      route = last
      switch result {
      case .success((let channel, let winner)):
        // A proxy's tunnel is a part of the connection.
        if proxy == nil || !url.isSecure { timings.connect = begin(url.isSecure ? .tls : .request) }
        // A second request goes where the first one went.
        routes = [winner] + routes.filter { $0.address != winner.address }
        start(Exchange(self, channel, method))
      case .failure(let error): fail(error)
      }
    }
    self.race = race
    race.start()
  }

  private func start(_ exchange: Exchange) {
    self.exchange = exchange
    attempt { try exchange.start() }
  }

  /// Does what a closed connection refuses.
  private func attempt(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      fail(SiteError(losing: error))
    }
  }

  /// The proxy has let us through, or not.
  func tunnelEnded(_ error: SiteError?) {
    if hasEnded { return }
    if let error { return fail(error) }
    timings.connect = begin(.tls)
    attempt { try exchange?.startTLS() }
  }

  func tlsWasAgreedUpon() {
    if hasEnded { return }
    timings.tls = begin(.request)
    certificateExpires = exchange?.certificateExpires
    guard exchange?.hasIdentity ?? false else {
      return end(.intercepted, error: SiteError(.certificateNameMismatch, "the certificate is for another name"))
    }
    if let weakness = exchange?.certificateWeakness { return end(.intercepted, error: weakness) }
    attempt { try exchange?.ask() }
  }

  func tlsFailed(_ error: any Error) {
    if hasEnded { return }
    guard let exchange else { return }
    certificateExpires = exchange.certificateExpires
    let cause = error as? SiteError ?? exchange.tlsError(error)
    if cause.isAboutIdentity { end(.intercepted, error: cause) } else { fail(cause) }
  }

  // MARK: The answer

  /// The request is on its way, or could not be sent.
  func requestEnded(_ result: Result<Void, any Error>) {
    if hasEnded { return }
    switch result {
    // An answer may have come before.
    case .success: if stage == .request { begin(.response) }
    case .failure(let error): if stage == .request { fail(SiteError(losing: error)) }
    }
  }

  func firstByteCame() {
    if !hasEnded { timings.firstByte = begin(.response) }
  }

  func headCame(_ head: HTTPResponseHead) {
    guard !hasEnded, let exchange, exchange.head == nil else { return }
    let status = Int(head.status.code)
    // HTTP/1 it has to be, and a final status: nobody asked to switch protocols (RFC 9110, 15.2.2).
    guard head.version.major == 1, (200...999).contains(status) else {
      return fail(SiteError(.malformedResponse, "what came is no final answer of HTTP/1"))
    }
    // RFC 9110, 15.5.8: it is the proxy that says so.
    if proxy != nil, !url.isSecure, status == 407 {
      begin(.connect)
      return fail(SiteError(.proxyFailed, "the proxy refused to connect to the site (407)"))
    }
    // RFC 9110, 15.6: a proxy says so where it did not reach the site; whether it has, nothing in the answer tells for certain.
    if proxy != nil, !url.isSecure, (500...599).contains(status), status != 511, !rules.expectation.lists(status) {
      begin(.connect)
      return fail(SiteError(.proxyFailed, "the proxy answered \(status): no sign that the site did"))
    }
    let observed = VerdictRules.Head(
      method: exchange.method, status: status, locations: head.headers["Location"],
      contentLength: head.headers.first(name: "Content-Length").flatMap { Int($0) },
      coding: ContentCoding(head.headers[canonicalForm: "Content-Encoding"]))
    exchange.head = observed
    let decision = rules.judge(observed)
    if decision == .readBody {
      begin(.body)
      exchange.body = BodyCollector(rules.expectation.bodyText)
    }
    act(on: decision, status)
  }

  func bodyCame(_ bytes: ByteBuffer) { bodyChanged { $0.append(bytes) } }

  func bodyEnded() { bodyChanged { $0.end() } }

  private func bodyChanged(_ change: (inout BodyCollector) -> Void) {
    guard !hasEnded, let exchange, let head = exchange.head, var collector = exchange.body else { return }
    exchange.body = nil
    change(&collector)
    exchange.body = collector
    act(on: rules.judge(head, collector.body), head.status)
  }

  private func act(on decision: VerdictRules.Decision, _ status: Int) {
    switch decision {
    case .readBody: break
    case .unreadableBody(.failed, let error):
      begin(.body)
      fail(error)
    case .unreadableBody(let kind, let error): end(kind, status: status, error: error)
    case .verdict(let kind, let location):
      end(kind, status: status, location: location, error: kind == .unexpectedResponse ? hint(status) : nil)
    case .askAgain:
      timings.connect = nil
      timings.tls = nil
      timings.firstByte = nil
      // Held until then: who ends the check meanwhile waits for it too.
      exchange?.close { [self] in
        if hasEnded { return }
        exchange = nil
        connect(.get)
      }
    }
  }

  /// What may be behind an answer that was not expected.
  private func hint(_ status: Int) -> SiteError? {
    // Servers that know GET alone do not always say 405 or 501 (RFC 9110, 9.1).
    if exchange?.method == .head, [400, 403, 404].contains(status) {
      return SiteError(.headRefused, "HEAD was answered so; the site may answer GET otherwise")
    }
    return nil
  }

  /// The connection brought an error instead of an answer.
  func lost(_ error: any Error) {
    let cause = error as? SiteError ?? SiteError(losing: error)
    if !hasEnded, cause.code == .tlsFailed { begin(.tls) }
    fail(cause)
  }

  /// The connection is closed.
  func connectionClosed() {
    fail(SiteError(.connectionLost, "the connection was closed before the answer was complete"))
  }
}
