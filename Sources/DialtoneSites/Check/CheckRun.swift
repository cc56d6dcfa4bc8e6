// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import NIOCore
internal import NIOSSL

/// One check under way: name, paths, connection, TLS, request, answer, each stage begun by the end of the one before.
///
/// Invariants: everything happens on the event loop. It ends once, by `end`, whoever comes first: a verdict, the deadline or a
/// cancellation; from then on whatever arrives late changes nothing. It is reported when the last of its connections is closed.
final class CheckRun {
  let url: SiteURL
  let configuration: SiteConfiguration
  let rules: VerdictRules
  let engine: SiteEngine
  let loop: any EventLoop
  let proxy: ProxyServer?
  private let report: (Result<SiteVerdict, any Error>) -> Void

  // What has been found out so far.
  var stage = SiteVerdict.Stage.name
  var timings = SiteVerdict.Timings()
  var routes: [Route] = []
  var route: Route?
  /// When the certificate that was shown last ends, since 1970.
  var certificateExpires: UTCTimestamp?
  /// What vouches for the site; `nil` until it is read, or where nothing has to.
  private var trust: Result<NIOSSLContext, SiteError>?

  // What is under way.
  private var trustInquiry: TrustStore.Inquiry?
  /// The look-ups of the name that have not ended.
  var inquiries: [IPAddress.Family: NameDesk.Inquiry] = [:]
  /// What they have come to so far; `nil` where the host is an address.
  var resolution: NameResolution?
  var nameTimers: [Scheduled<Void>] = []
  /// In the stage of the name, the Internet's, and then those to the name servers.
  var namePaths: [PathBook.Path] = []
  var namePathWait: PathWait?
  /// Whom the name is asked of; none until that has begun, or where that is not known.
  var nameServers: [IPAddress] = []
  /// What is not known yet of paths to addresses.
  var pathWaits: [PathWait] = []
  /// An address that there is no path to, and why.
  var missingPath: (address: IPAddress, state: Reachability)?
  var race: ConnectionRace?
  var exchange: Exchange?

  private var began = NIODeadline.now()
  private var stageBegan = NIODeadline.now()
  private var deadline: Scheduled<Void>?
  private var isWaitingForTurn = false
  private(set) var hasEnded = false

  init(
    _ url: SiteURL, _ configuration: SiteConfiguration, _ proxy: ProxyServer?, _ engine: SiteEngine,
    _ loop: any EventLoop, _ report: @escaping (Result<SiteVerdict, any Error>) -> Void
  ) {
    self.url = url
    self.configuration = configuration
    self.engine = engine
    self.loop = loop
    self.report = report
    rules = VerdictRules(url: url, configuration: configuration)
    self.proxy = proxy
  }

  // MARK: Beginning and end

  func start() {
    setDeadline(began, "no answer within \(configuration.timeout)")
    if url.isSecure { findTrust() } else { findName() }
  }

  private func setDeadline(_ start: NIODeadline, _ words: String) {
    deadline?.cancel()
    let end = start + .nanoseconds(configuration.timeout.nanosecondsClamped)
    deadline = loop.assumeIsolated().scheduleTask(deadline: end) { self.fail(SiteError(.timedOut, words)) }
  }

  /// All threads may be busy with other sites' names: until one looks this one's up, no time passes for the check. But the wait has an end, too.
  func waitForTurn() {
    isWaitingForTurn = true
    setDeadline(stageBegan, "the name was not looked up within \(configuration.timeout), others are still under way")
  }

  /// The name is being looked up, since `time`.
  func turnCame(_ time: NIODeadline) {
    if hasEnded || !isWaitingForTurn { return }
    isWaitingForTurn = false
    began = began + (time - stageBegan)
    stageBegan = time
    setDeadline(began, "no answer within \(configuration.timeout)")
  }

  /// First of all: where it takes long, no connection is open meanwhile.
  private func findTrust() {
    stage = .tls
    let run = NIOLoopBound(self, eventLoop: loop)
    trustInquiry = engine.trust.ask(for: configuration.trust) { [loop] result in
      loop.execute { run.value.trustWasFound(result) }
    }
  }

  private func trustWasFound(_ result: Result<NIOSSLContext, SiteError>) {
    if hasEnded { return }
    trustInquiry = nil
    trust = result
    begin(.name)
    findName()
  }

  func cancel() { end(.failure(CancellationError())) }

  /// Ends the check where it stands: the present stage has failed.
  func fail(_ error: SiteError) {
    if hasEnded { return }
    if stage == .name, let missing = missingPathToNames { return endOffline(missing) }
    end(.failed, stage: stage, error: error)
  }

  /// Ends the check with a verdict.
  func end(
    _ kind: SiteVerdict.Kind, status: Int? = nil, location: String? = nil, stage: SiteVerdict.Stage? = nil,
    error: SiteError? = nil
  ) {
    timings.total = .nanoseconds((.now() - began).nanoseconds)
    let now = UTCTimestamp.now
    var (kind, error) = (kind, error)
    if kind == .available, let cause = rules.lifetimeError(certificateExpires: certificateExpires, now: now) {
      (kind, error) = (.unexpectedResponse, cause)
    }
    // Ended while addresses are being tried, by the deadline: what was tried last.
    let route = race?.lastRoute ?? route
    end(
      .success(
        SiteVerdict(
          url: url, kind: kind, status: status, location: location, stage: stage, error: error, address: route?.address,
          interface: route?.interface, certificateExpires: certificateExpires, timings: timings, timestamp: now)))
  }

  private func end(_ result: Result<SiteVerdict, any Error>) {
    if hasEnded { return }
    hasEnded = true
    deadline?.cancel()
    trustInquiry?.cancel()
    for inquiry in inquiries.values { inquiry.cancel() }
    inquiries = [:]
    for timer in nameTimers { timer.cancel() }
    nameTimers = []
    namePathWait?.cancel()
    namePathWait = nil
    namePaths = []
    for wait in pathWaits { wait.cancel() }
    pathWaits = []
    race?.cancel()
    race = nil
    let report = report
    guard let exchange else { return report(result) }
    self.exchange = nil
    exchange.close { report(result) }
  }

  // MARK: Stages

  /// Begins a stage. Answers how long the one before took.
  @discardableResult
  func begin(_ next: SiteVerdict.Stage) -> Duration {
    let now = NIODeadline.now()
    defer {
      stage = next
      stageBegan = now
    }
    return .nanoseconds((now - stageBegan).nanoseconds)
  }

  /// The TLS context; ends the check and answers `nil` where there is none.
  func takeContext() -> NIOSSLContext? {
    switch trust {
    case .success(let context)?: return context
    case nil: preconditionFailure("TLS without a context: an https URL has one")
    case .failure(let error)?:
      fail(error)
      return nil
    }
  }
}
