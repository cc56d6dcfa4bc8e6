// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import Dialtone
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import NIOTLS

/// One connection with one request on it.
///
/// Belongs to its event loop. What happens on the connection is told to the `listener`, until `close`.
final class Exchange {
  let channel: any Channel
  let method: SiteConfiguration.Method
  private let run: CheckRun
  /// The check; `nil` once the connection is being closed, since what comes then is of no use: the body of an answer to HEAD, an unclean end.
  private(set) var listener: CheckRun?
  var head: VerdictRules.Head?
  var body: BodyCollector?

  init(_ run: CheckRun, _ channel: any Channel, _ method: SiteConfiguration.Method) {
    self.run = run
    listener = run
    self.channel = channel
    self.method = method
  }

  /// Closes the connection, and calls `done` when that has happened: at once, or, over TLS, after a word of goodbye.
  func close(_ done: @escaping () -> Void) {
    listener = nil
    channel.closeFuture.assumeIsolated().whenComplete { _ in done() }
    channel.close(promise: nil)
  }

  // MARK: Beginning

  /// Begins with TLS where the site is secure, else with the request.
  func start() throws {
    let pipeline = channel.pipeline.syncOperations
    guard run.url.isSecure else { return try ask() }
    try pipeline.addHandler(ByteMeter())
    if let proxy = run.proxy {
      try pipeline.addHandler(
        ProxyTunnelHandler(to: run.url, by: proxy, agent: run.configuration.userAgent) { [self] in
          listener?.tunnelEnded($0)
        })
    } else {
      try startTLS()
    }
  }

  func startTLS() throws {
    guard let context = run.takeContext() else { return }
    // Names alone are announced (RFC 6066, 3); without one the address is what the certificate has to be for.
    var name: String?
    if case .name(let host) = run.url.host { name = host.text }
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(TLSWatcher(self), position: .last)
    try pipeline.addHandler(
      try NIOSSLClientHandler(context: context, serverHostname: name),
      position: .before(try pipeline.handler(type: TLSWatcher.self)))
  }

  /// The certificate that the peer has shown; `nil` before it has.
  private var peerCertificate: NIOSSLCertificate? {
    do {
      return try channel.pipeline.syncOperations.nioSSL_peerCertificate()
    } catch {
      // There is no TLS on this connection, and so nobody who could have shown one.
      return nil
    }
  }

  /// When the peer's certificate ends.
  var certificateExpires: UTCTimestamp? {
    peerCertificate.map { UTCTimestamp(durationSince1970: .seconds($0.notValidAfter)) }
  }

  /// Whether the certificate that the peer has just shown is for the site. Before a byte of the request is written.
  var hasIdentity: Bool {
    guard let certificate = peerCertificate else { return false }
    // NIOSSL has no other way to the names than this underscored one.
    let names = certificate._subjectAlternativeNames().compactMap { name -> CertificateIdentity.AlternativeName? in
      switch name.nameType {
      case .dnsName: .dns(Array(name.contents))
      case .ipAddress: .address(Array(name.contents))
      default: nil
      }
    }
    return CertificateIdentity.matches(run.url.host, names)
  }

  /// Why the certificate that the peer has just shown does not do, though it is for the site; `nil` if it does.
  var certificateWeakness: SiteError? { peerCertificate.flatMap(SiteError.init(judging:)) }

  /// Why TLS failed.
  func tlsError(_ error: any Error) -> SiteError {
    return SiteError(handshaking: error, certificate: peerCertificate, now: time(nil))
  }

  /// The generic types of the handlers, made ready once, before any event loop runs. Where two threads need one of them for the
  /// first time at the same time, Swift's runtime (6.3.1) may read what the other has not finished, and crash: seen once in some
  /// thousand starts of the command (swift_checkMetadataState, called for HTTPPart).
  static let handlerTypes = [
    ObjectIdentifier(HTTPClientRequestPart.self), ObjectIdentifier(HTTPClientResponsePart.self),
    ObjectIdentifier(HTTPResponseDecoder.self), ObjectIdentifier(ByteToMessageHandler<HTTPResponseDecoder>.self),
  ]

  /// Sends the request.
  func ask() throws {
    var decoder = NIOHTTPDecoderLimitConfiguration()
    // Bytes alone are counted, by the header limit.
    decoder.maxHeaderFieldSize = Limits.headers
    decoder.maxHeaderListSize = Limits.headers
    decoder.maxHeaderFieldCount = Limits.headers
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandlers([
      HeaderLimit(self),
      HTTPRequestEncoder(),
      HeadNormalizerHandler(),
      ByteToMessageHandler(HTTPResponseDecoder(limitConfiguration: decoder)),
      ResponseHandler(self),
    ])
    run.begin(.request)
    let sent = channel.eventLoop.makePromise(of: Void.self)
    sent.futureResult.assumeIsolated().whenComplete { [self] in listener?.requestEnded($0) }
    pipeline.write(NIOAny(HTTPClientRequestPart.head(requestHead)), promise: nil)
    pipeline.writeAndFlush(NIOAny(HTTPClientRequestPart.end(nil)), promise: sent)
  }

  /// The whole request: nothing in it tells who asks, and nothing is remembered for the next.
  private var requestHead: HTTPRequestHead {
    var headers = HTTPHeaders([
      ("Host", run.url.authority), ("Accept", "*/*"), ("Accept-Encoding", "identity"), ("Cache-Control", "no-cache"),
      ("Connection", "close"),
    ])
    if let agent = run.configuration.userAgent { headers.add(name: "User-Agent", value: agent) }
    var target = run.url.target
    if let proxy = run.proxy, !run.url.isSecure {
      // RFC 9112, 3.2.2.
      target = "http://\(run.url.authority)\(target)"
      if let authorization = proxy.authorization { headers.add(name: "Proxy-Authorization", value: authorization) }
    }
    return HTTPRequestHead(version: .http1_1, method: method == .head ? .HEAD : .GET, uri: target, headers: headers)
  }
}
