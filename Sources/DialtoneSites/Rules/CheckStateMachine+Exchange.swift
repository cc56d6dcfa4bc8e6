// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// From the connection to the answer.
extension CheckStateMachine {
  // MARK: The connection

  mutating func connect(_ method: SiteCheckConfiguration.Method) -> [Action] {
    clock.begin(.connect, at: moment.uptime)
    state = .connecting(method)
    return [.race(search.routes, isOpen: search.isOpen)]
  }

  mutating func connected(_ winner: Route, _ method: SiteCheckConfiguration.Method) -> [Action] {
    route = winner
    search.prefer(winner)
    state = .exchanging(ExchangeState(method: method))
    if let proxy, url.isSecure || proxy.socks != nil { return [.openTunnel] }
    return connectionIsMade(method)
  }

  /// There is a connection to the site; a proxy's tunnel is part of it.
  private mutating func connectionIsMade(_ method: SiteCheckConfiguration.Method) -> [Action] {
    clock.timings.connect = clock.begin(url.isSecure ? .tls : .request, at: moment.uptime)
    if !url.isSecure { return askIfWanted(method) }
    if let trustError { return fail(trustError) }
    return [.startTLS]
  }

  private mutating func askIfWanted(_ method: SiteCheckConfiguration.Method) -> [Action] {
    if inspection?.endsWithConnection ?? false { return end(.available) }
    clock.begin(.request, at: moment.uptime)
    return [.ask(method)]
  }

  mutating func handle(_ event: Event, _ exchange: ExchangeState) -> [Action] {
    if let next = exchange.next {
      if case .connectionClosed = event { return connect(next) }
      return []
    }
    switch event {
    case .tunnelOpened: return connectionIsMade(exchange.method)
    case .tlsAgreed(let certificate): return tlsAgreed(certificate, exchange.method)
    case .tlsFailed(let error, let expires):
      certificateExpires = expires
      return error.isAboutIdentity ? end(.intercepted, error: error) : fail(error)
    case .certificateIsTrusted: return connectAgain(exchange.method)
    // An answer may have come before.
    case .requestSent:
      if clock.stage == .request { clock.begin(.response, at: moment.uptime) }
      return []
    case .requestNotSent(let error): return clock.stage == .request ? fail(error) : []
    case .firstByte:
      clock.timings.firstByte = clock.begin(.response, at: moment.uptime)
      return []
    case .head(let head, let isHTTP): return take(head, isHTTP: isHTTP, exchange)
    case .body(let body): return exchange.head.map { take(body, of: $0) } ?? []
    case .lost(let error):
      // In TLS 1.3 a refusal may come as late as that.
      if error.code == .tlsFailed { clock.begin(.tls, at: moment.uptime) }
      return fail(error)
    default: return []
    }
  }

  private mutating func tlsAgreed(_ certificate: PeerCertificate, _ method: SiteCheckConfiguration.Method) -> [Action] {
    clock.timings.tls = clock.begin(.request, at: moment.uptime)
    certificateExpires = certificate.expires
    guard certificate.isForSite else {
      var error = SiteError(.certificateNameMismatch, "the certificate is for another name")
      if !certificate.hasNames {
        error = SiteError(.certificateNameMismatch, "the certificate has no subjectAltName, which browsers demand")
        error.isInDispute = true
      }
      return end(.intercepted, error: error)
    }
    if let weakness = certificate.weakness { return end(.intercepted, error: weakness) }
    return askIfWanted(method)
  }

  // MARK: The answer

  private mutating func take(_ head: VerdictRules.Head, isHTTP: Bool, _ exchange: ExchangeState) -> [Action] {
    if exchange.head != nil { return [] }
    // It has to be a version that was asked for and a final status: nobody asked to switch (RFC 9110, 15.2.2).
    guard isHTTP, (200...999).contains(head.status) else {
      return fail(SiteError(.malformedResponse, "what came is no final answer of HTTP/1"))
    }
    if let proxy, proxy.socks == nil, !url.isSecure, let error = rules.proxyError(head.status) {
      clock.begin(.connect, at: moment.uptime)
      return fail(error)
    }
    var exchange = exchange
    exchange.head = head
    state = .exchanging(exchange)
    let decision = rules.judge(head)
    if decision != .readBody, !isInspected(head) { return act(on: decision, head) }
    clock.begin(.body, at: moment.uptime)
    return [.readBody]
  }

  /// Whether the body is read, no matter what the head says.
  private func isInspected(_ head: VerdictRules.Head) -> Bool {
    guard let inspection, head.method == .get else { return false }
    let isFollowed = [301, 302, 303, 307, 308].contains(head.status) && head.locations.contains { !$0.isEmpty }
    return !(inspection.skipsBodyOfRedirects && isFollowed)
  }

  private mutating func take(_ body: VerdictRules.Body, of head: VerdictRules.Head) -> [Action] {
    if isInspected(head), !body.hasEnded, !(body.isComplete && inspection?.readsBeginning ?? false) { return [] }
    let decision = rules.judge(head)
    return act(on: decision == .readBody ? rules.judge(head, body) : decision, head)
  }

  private mutating func act(on decision: VerdictRules.Decision, _ head: VerdictRules.Head) -> [Action] {
    switch decision {
    case .readBody: return []
    case .verdict(let kind, let location):
      let error = kind == .unexpectedResponse ? rules.hint(head) : nil
      return end(kind, status: head.status, location: location, error: error)
    case .unreadableBody(let error):
      clock.begin(.body, at: moment.uptime)
      return fail(error)
    case .askAgain: return connectAgain(.get)
    }
  }

  private mutating func connectAgain(_ method: SiteCheckConfiguration.Method) -> [Action] {
    guard case .exchanging(var exchange) = state else { return [] }
    clock.forgetConnection()
    exchange.next = method
    state = .exchanging(exchange)
    return [.closeConnection]
  }
}
