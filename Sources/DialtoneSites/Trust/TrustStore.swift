// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import NIOSSL

/// The TLS contexts of checks, with the certificates that vouch for sites. These are read once, and again when their
/// files have changed.
///
/// Files can take any time, as on a network that hangs. So each source is read on a thread of its own, by one at a
/// time. A check that asks meanwhile gets its answer, and one that asks for another source does not wait.
final class TrustStore: Sendable {
  typealias Answer = @Sendable (Result<TrustContext, SiteError>) -> Void

  private struct Entry {
    let source: TrustSource
    let stamps: [TrustSource.Stamp?]
    let context: TrustContext
    /// When the first trusted certificate ends. From then on it is left out, so that it hides no successor.
    let end: Int

    var isCurrent: Bool { end >= TrustSource.now }
  }

  private struct State {
    var entries: [Entry] = []
    /// The answers wanted from the sources that are being read.
    var waiters: [TrustSource: [UInt64: Answer]] = [:]
    var lastNumber: UInt64 = 0
  }

  /// How many trusts are kept. If more are used at a time, they are made anew each time.
  private static let capacity = 16

  private let configuration: @Sendable (TrustSource) throws -> TLSConfiguration
  private let state = Lock(State())

  init(configuration: @escaping @Sendable (TrustSource) throws -> TLSConfiguration = { try $0.configuration() }) {
    self.configuration = configuration
  }

  /// A question that can be cancelled.
  struct Inquiry: Sendable {
    fileprivate let store: TrustStore
    fileprivate let source: TrustSource
    fileprivate let number: UInt64

    // The source is read to its end: if it hangs, no second thread hangs beside it.
    func cancel() { _ = store.state.withLock { $0.waiters[source]?.removeValue(forKey: number) } }
  }

  /// Calls `answer` on any thread, unless the inquiry is cancelled before. It gets the context for checks with
  /// this configuration, or an error of the code `trustUnreadable`.
  func ask(for configuration: SiteCheckConfiguration, _ answer: @escaping Answer) -> Inquiry {
    let source = TrustSource(configuration)
    let (number, known, isFirst) = state.withLock { state -> (UInt64, TrustContext?, Bool) in
      state.lastNumber += 1
      // A text does not change.
      if source.pem != nil, let entry = state.entries.first(where: { $0.source == source && $0.isCurrent }) {
        return (state.lastNumber, entry.context, false)
      }
      let isFirst = state.waiters[source] == nil
      state.waiters[source, default: [:]][state.lastNumber] = answer
      return (state.lastNumber, nil, isFirst)
    }
    if let known { answer(.success(known)) }
    if isFirst, !Thread.start(named: "dialtone-trust", { self.end(source, ForkGate.atRest { self.read(source) }) }) {
      end(source, .failure(SiteError(.trustUnreadable, "there is no thread to read the trusted certificates on")))
    }
    return Inquiry(store: self, source: source, number: number)
  }

  private func end(_ source: TrustSource, _ result: Result<TrustContext, SiteError>) {
    let waiters = state.withLock { $0.waiters.removeValue(forKey: source) }
    waiters?.values.forEach { $0(result) }
  }

  private func read(_ source: TrustSource) -> Result<TrustContext, SiteError> {
    // Read before the files: a change in between is seen at the next check.
    let stamps = source.stamps
    let known = state.withLock {
      $0.entries.first { $0.source == source && $0.stamps == stamps && $0.isCurrent }?.context
    }
    if let known { return .success(known) }
    let (context, end): (TrustContext, Int)
    do {
      let configuration = try configuration(source)
      context = TrustContext(
        tls: try NIOSSLContext(configuration: configuration), certificates: configuration.certificates)
      end = context.firstEnd
    } catch {
      let reason = (error as? CertificateFile.Failure)?.words ?? "there is no certificate in PEM"
      return .failure(
        SiteError(.trustUnreadable, "the trusted certificates could not be read (\(source.place)): \(reason)"))
    }
    state.withLock { state in
      state.entries.removeAll { $0.source == source }
      if state.entries.count == Self.capacity { state.entries.removeFirst() }
      state.entries.append(Entry(source: source, stamps: stamps, context: context, end: end))
    }
    return .success(context)
  }
}

/// What vouches for sites.
struct TrustContext: Sendable {
  let tls: NIOSSLContext
  /// Those that are trusted; none if only the system knows them.
  let certificates: [NIOSSLCertificate]

  /// When the first trusted certificate ends that is valid now.
  fileprivate var firstEnd: Int {
    let now = TrustSource.now
    return certificates.lazy.map { Int($0.notValidAfter) }.filter { $0 >= now }.min() ?? .max
  }

  /// Whether a server's own certificate needs nobody to vouch for it: it is trusted itself, and valid. The TLS library
  /// wants such a one to be an authority's.
  func believes(_ certificate: NIOSSLCertificate) -> Bool {
    let now = TrustSource.now
    return certificates.contains(certificate) && certificate.notValidBefore <= now && certificate.notValidAfter >= now
      && SiteError.fields(certificate)?.isForServers ?? false
  }
}

extension TLSConfiguration {
  fileprivate var certificates: [NIOSSLCertificate] {
    if case .certificates(let certificates)? = trustRoots { certificates } else { [] }
  }
}
