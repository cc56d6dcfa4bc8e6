// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import NIOTLS

/// One connection with one request on it.
///
/// Belongs to its event loop. Until `close`, it reports what happens on the connection as events. What comes after that
/// is of no use, such as the body of an answer to HEAD, or an unclean end.
final class Exchange {
  typealias Event = CheckStateMachine.Event

  let channel: any Channel
  private let url: SiteURL
  private let proxy: ProxyServer?
  private let userAgent: String?
  private let inspection: SiteInspection?
  private let offersHTTP2: Bool
  /// Whether the site chose a protocol.
  private var hasChosen = false
  private let time: TimeSource
  private var tell: ((Event) -> Void)?
  private var method = SiteCheckConfiguration.Method.head
  private let normalizer = HeadNormalizerHandler()
  /// What decides something in the head that has come.
  private var fields = DecidingFields()
  private var body: BodyCollector?
  /// What was seen, if there is an inspection.
  private(set) var details = CheckDetails()
  private var firstByte: NIODeadline?
  /// Whether the answer's headers have come.
  private(set) var hasHead = false
  private var trust: TrustContext?
  /// Whether the server's own certificate has to be among the trusted ones.
  private(set) var isPinned = false
  /// How many bytes may come on the connection.
  let connectionLimit: Int

  init(
    _ channel: any Channel, to url: SiteURL, by proxy: ProxyServer?, _ configuration: SiteCheckConfiguration,
    time: TimeSource, tell: @escaping (Event) -> Void
  ) {
    self.channel = channel
    self.url = url
    self.proxy = proxy
    userAgent = configuration.userAgent
    inspection = configuration.inspection
    offersHTTP2 = configuration.offersHTTP2
    connectionLimit =
      inspection == nil
      ? min(Limits.connection, Limits.check - configuration.received) : SiteInspection.connectionLimit
    details.received = configuration.received
    self.time = time
    self.tell = tell
  }

  /// Whether events are still wanted.
  var isOpen: Bool { tell != nil }

  func send(_ event: Event) { tell?(event) }

  func received(_ count: Int) { details.received += count }

  /// Reports that the connection brings no answer, or no more of it.
  func lose(_ error: any Error) {
    noteLoss(error)
    send(.lost(error as? SiteError ?? SiteError(losing: error)))
  }

  /// Closes the connection, over TLS with a close_notify, and calls `done` once it is closed.
  func close(_ done: @escaping () -> Void) {
    tell = nil
    channel.closeFuture.assumeIsolated().whenComplete { _ in done() }
    channel.close(promise: nil)
  }

  /// Notes which packets have not arrived.
  func noteProgress() {
    #if os(Linux)  // the structure is Linux's
    do {
      try channel.withSocket { socket in
        details.progress = StreamProgress(of: socket) ?? details.progress
      }
    } catch {
      // The connection is closed: nothing more is known of it.
    }
    #endif
  }

  /// Does what fails on a closed connection, and reports that.
  private func attempt(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      send(.lost(SiteError(losing: error)))
    }
  }

  // MARK: The way to the site

  /// Asks the proxy for a connection to the site.
  func openTunnel(by proxy: ProxyServer) {
    attempt {
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandler(ByteMeter(limit: connectionLimit, received))
      let conversation: any TunnelConversation =
        if let socks = proxy.socks {
          SocksConversation(to: url, socks)
        } else {
          ConnectConversation(to: url, by: proxy, agent: userAgent)
        }
      try pipeline.addHandler(
        TunnelHandler(conversation) { [weak self] error in self?.send(error.map { .lost($0) } ?? .tunnelOpened) })
    }
  }

  func startTLS(_ trust: TrustContext, isPinned: Bool) {
    self.trust = trust
    self.isPinned = isPinned
    attempt {
      // Only names are announced (RFC 6066, 3). Without one, the certificate has to be for the address.
      var name: String?
      if case .name(let host) = host { name = host.text }
      let pipeline = channel.pipeline.syncOperations
      // With a proxy it is there already.
      if proxy == nil { try pipeline.addHandler(ByteMeter(limit: connectionLimit, received)) }
      try pipeline.addHandler(TLSWatcher(self), position: .last)
      // In place of the library's judgement.
      let judge: NIOSSLCustomVerificationCallback = { chain, promise in
        promise.succeed(chain.first.map(trust.believes) ?? false ? .certificateVerified : .failed)
      }
      try pipeline.addHandler(
        try NIOSSLClientHandler(
          context: trust.tls, serverHostname: name, customVerificationCallback: isPinned ? judge : nil,
          configuration: .init()),
        position: .before(try pipeline.handler(type: TLSWatcher.self)))
    }
  }

  /// Notes whether a connection that is lost may bring an answer over another version of HTTP.
  func noteLoss(_ error: any Error) {
    // Some servers of HTTP/2 alone, as of gRPC, choose nothing, and close (RFC 7301, 3.2, would have them say so).
    let isUnheard = url.isSecure && !offersHTTP2 && !hasChosen && firstByte == nil
    noteVersion(details.isHTTP2 ? SiteError.wantsHTTP1(error) : isUnheard)
  }

  /// Notes, as long as anybody wants to know, whether the site may answer over another version of HTTP.
  private func noteVersion(_ wantsOther: Bool) { if isOpen { details.wantsOtherVersion = wantsOther } }

  /// `chosen`: the protocol that the site chose; `nil` if it did not.
  func tlsWasAgreedUpon(_ chosen: String?) {
    hasChosen = chosen != nil
    details.isHTTP2 = chosen == TrustSource.http2
    let certificate = peerCertificate
    noteTLS(certificate)
    let isVerified = inspection?.verifiesCertificate ?? true
    let names = certificate.map(Self.names) ?? []
    send(
      .tlsAgreed(
        CheckStateMachine.PeerCertificate(
          expires: certificate.map(Self.end), isForSite: !isVerified || CertificateIdentity.matches(host, names),
          hasNames: CertificateIdentity.hasNames(names, for: host),
          weakness: isVerified ? certificate.flatMap { SiteError(judging: $0, isTrusted: isTrusted($0)) } : nil)))
  }

  func tlsFailed(_ error: any Error) {
    noteVersion(!offersHTTP2 && SiteError.wantsAnotherProtocol(error))
    let certificate = peerCertificate
    if !isPinned, SiteError.isUnverified(error), certificate.map(isTrusted) ?? false {
      isPinned = true
      return send(.certificateIsTrusted)
    }
    let now = Int(time.realtime() / 1_000_000_000)
    let cause = error as? SiteError ?? SiteError(handshaking: error, certificate: certificate, now: now)
    send(.tlsFailed(cause, certificateExpires: certificate.map(Self.end)))
  }

  private func isTrusted(_ certificate: NIOSSLCertificate) -> Bool { trust?.believes(certificate) ?? false }

  /// Whom TLS is agreed upon with.
  private var host: SiteURL.Host { inspection?.serverName.map { .name($0.canonical) } ?? url.host }

  private func noteTLS(_ certificate: NIOSSLCertificate?) {
    if inspection == nil { return }
    do {
      details.tlsVersion = try channel.pipeline.syncOperations.nioSSL_tlsVersion()?.name
      details.certificate = try certificate?.toDERBytes()
    } catch {
      // TLS is there, and the certificate was read from these bytes; without either, nothing is told.
    }
  }

  /// The certificate that the peer has shown; `nil` before it has.
  private var peerCertificate: NIOSSLCertificate? {
    do {
      return try channel.pipeline.syncOperations.nioSSL_peerCertificate()
    } catch {
      // There is no TLS on this connection, and so no certificate.
      return nil
    }
  }

  /// When a certificate ends, since 1970.
  private static func end(_ certificate: NIOSSLCertificate) -> UTCTimestamp {
    UTCTimestamp(durationSince1970: .seconds(certificate.notValidAfter))
  }

  /// Whom a certificate is for. Asked before any byte of the request is written.
  private static func names(_ certificate: NIOSSLCertificate) -> [CertificateIdentity.AlternativeName] {
    // NIOSSL gives the names only by this underscored method.
    certificate._subjectAlternativeNames().compactMap { name -> CertificateIdentity.AlternativeName? in
      switch name.nameType {
      case .dnsName: .dns(Array(name.contents))
      case .ipAddress: .address(Array(name.contents))
      default: nil
      }
    }
  }

  // MARK: Request and answer

  /// The generic types of the handlers, made ready once, before any event loop runs. If two threads need one of them
  /// for the first time at the same time, Swift's runtime (6.3.1) may read what the other has not finished, and crash.
  /// This was seen once in some thousand starts of the command (swift_checkMetadataState, called for HTTPPart).
  static let handlerTypes = [
    ObjectIdentifier(HTTPClientRequestPart.self), ObjectIdentifier(HTTPClientResponsePart.self),
    ObjectIdentifier(HTTPResponseDecoder.self), ObjectIdentifier(ByteToMessageHandler<HTTPResponseDecoder>.self),
  ]

  /// Sends the request.
  func ask(_ method: SiteCheckConfiguration.Method) {
    self.method = method
    attempt {
      if details.isHTTP2 { return try askOverHTTP2(requestHead) }
      var decoder = NIOHTTPDecoderLimitConfiguration()
      // The header limit counts bytes, and nothing else is limited.
      decoder.maxHeaderFieldSize = Limits.headers
      decoder.maxHeaderListSize = Limits.headers
      decoder.maxHeaderFieldCount = Limits.headers
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandlers([
        HeaderLimit(self),
        HTTPRequestEncoder(),
        normalizer,
        ByteToMessageHandler(HTTPResponseDecoder(limitConfiguration: decoder)),
        ResponseHandler(self),
      ])
      write(requestHead, to: pipeline)
    }
  }

  /// Sends a request, and reports what comes of it.
  func write(_ head: HTTPRequestHead, to pipeline: ChannelPipeline.SynchronousOperations) {
    let sent = channel.eventLoop.makePromise(of: Void.self)
    sent.futureResult.assumeIsolated().whenComplete { [self] result in
      switch result {
      case .success: send(.requestSent)
      case .failure(let error):
        noteLoss(error)
        send(.requestNotSent(SiteError(losing: error)))
      }
    }
    pipeline.write(NIOAny(HTTPClientRequestPart.head(head)), promise: nil)
    pipeline.writeAndFlush(NIOAny(HTTPClientRequestPart.end(nil)), promise: sent)
  }

  /// The whole request. Nothing in it tells who asks, and nothing is remembered for the next one.
  private var requestHead: HTTPRequestHead {
    var headers = HTTPHeaders([
      ("Host", url.authority), ("Accept", "*/*"), ("Accept-Encoding", "identity"), ("Cache-Control", "no-cache"),
      ("Connection", "close"),
    ])
    if let userAgent { headers.add(name: "User-Agent", value: userAgent) }
    for field in inspection?.fields ?? [] { headers.replaceOrAdd(name: field.name, value: field.value) }
    var target = url.target
    if let proxy, proxy.socks == nil, !url.isSecure {
      // RFC 9112, 3.2.2.
      target = "http://\(url.authority)\(target)"
      if let authorization = proxy.authorization { headers.add(name: "Proxy-Authorization", value: authorization) }
    }
    return HTTPRequestHead(version: .http1_1, method: method == .head ? .HEAD : .GET, uri: target, headers: headers)
  }

  func headCame(_ head: HTTPResponseHead) {
    if details.isHTTP2 {
      // Interim answers come here, too (RFC 9113, 8.1).
      if head.status.code < 200 { return }
      answerBegan()
    }
    hasHead = true
    fields = details.isHTTP2 ? DecidingFields(head.headers) : normalizer.fields
    noteHead(head, isChunked: fields.transferCodings.contains("chunked"))
    let observed = VerdictRules.Head(
      method: method, status: Int(head.status.code), locations: fields.locations,
      contentLength: head.headers.first(name: "Content-Length").flatMap { Int($0) },
      // A transfer coding is applied last, and chunks are read.
      coding: ContentCoding(fields.contentCodings + fields.transferCodings.filter { $0 != "chunked" }),
      charset: fields.charset)
    send(.head(observed, isHTTP: head.version.major == (details.isHTTP2 ? 2 : 1)))
  }

  /// Reports the body from now on, and whether `text` is in it.
  func readBody(lookingFor text: String?) {
    body = BodyCollector(text.flatMap { TextEncoding.encodings(of: $0, charset: fields.charset) } ?? [])
  }

  private func noteHead(_ head: HTTPResponseHead, isChunked: Bool) {
    if inspection == nil { return }
    details.status = Int(head.status.code)
    details.minorVersion = head.version.minor
    details.fields = head.headers.map { SiteInspection.Field(name: $0.name, value: $0.value) }
    // GET has no body with these (RFC 9112, 6.3); of HEAD, the field says how long it would be.
    let isWithoutBody = method != .head && [204, 304].contains(head.status.code)
    details.contentLength =
      isWithoutBody ? 0 : isChunked ? nil : details.value(of: "content-length").flatMap { Int($0) }
    noteTransfer()
  }

  func answerBegan() {
    firstByte = channel.eventLoop.now
    send(.firstByte)
  }

  private func noteTransfer() {
    details.transfer = firstByte.map { .nanoseconds((channel.eventLoop.now - $0).nanoseconds) }
  }

  func bodyCame(_ bytes: ByteBuffer) {
    if let inspection, isOpen {
      details.bodyLength += bytes.readableBytes
      details.body += bytes.readableBytesView.prefix(max(0, inspection.keptBody - details.body.count))
    }
    bodyChanged { $0.append(bytes) }
  }

  func bodyEnded() {
    if inspection != nil, isOpen { noteTransfer() }
    bodyChanged { $0.end() }
  }

  private func bodyChanged(_ change: (inout BodyCollector) -> Void) {
    guard var collector = body else { return }
    // Taken out, so that a change of it copies nothing.
    body = nil
    change(&collector)
    body = collector
    send(.body(collector.body))
  }
}

#if os(Linux)
extension StreamProgress {
  /// What the kernel tells of a connection; `nil` if it tells nothing.
  package init?(of socket: CInt) {
    var progress = csystem_stream_progress()
    // The call fills in the structure.
    guard unsafe csystem_stream_progress(socket, &progress) == 0 else { return nil }
    self.init(
      isUnacknowledged: progress.unacknowledged > 0 && progress.sent_again > 0, hasGap: progress.behind_gap > 0,
      sinceReceived: .milliseconds(Int64(progress.since_received)), resent: Int(progress.sent_again),
      isUnsent: progress.unacknowledged == 0 && progress.unsent > 0)
  }
}
#endif

extension TLSVersion {
  fileprivate var name: String {
    switch self {
    case .tlsv1: "TLS 1.0"
    case .tlsv11: "TLS 1.1"
    case .tlsv12: "TLS 1.2"
    case .tlsv13: "TLS 1.3"
    }
  }
}
