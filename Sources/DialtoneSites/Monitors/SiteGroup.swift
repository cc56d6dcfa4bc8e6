// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

/// Follows several sites, and whether enough of them answer: for those who ask about the Internet in general.
///
/// ```swift
/// let group = try SiteGroup(["https://example.com", "https://example.net", "https://example.org"], quorum: 2)
/// for await summary in group.updates {
///   print(summary.isOnline)
/// }
/// ```
///
/// There are no sites that it asks by default: whose they are, and what their owners think of it, is for the program to decide. Receivers
/// are told once the answer is known, then of each change of the answer or of a verdict. All of it is for any thread and any isolation.
public final class SiteGroup: StateMonitor {
  /// How many of the sites have to be available.
  public let quorum: Int

  private let storage: ValueStorage<Summary>
  private let monitors: [SiteMonitor]
  private let observations: [ReachabilityObservation]

  /// Begins to watch the sites.
  ///
  /// - Parameters:
  ///   - urls: What is asked; none twice, however it is written.
  ///   - quorum: How many have to be available; from 1 to the number of sites.
  ///   - configuration: How they are asked, and how often.
  ///   - environment: Where the network is; the system, but for tests.
  /// - Throws: ``SiteError`` with the code `invalidConfiguration` where the quorum cannot be reached, a URL is given twice, or the
  ///   configuration contradicts itself or asks for the environment's proxy, and that cannot be read.
  public init(
    _ urls: [SiteURL], quorum: Int, configuration: SiteConfiguration = .init(), environment: SiteEnvironment = .system
  ) throws(SiteError) {
    guard (1...max(1, urls.count)).contains(quorum), !urls.isEmpty else {
      throw SiteError(.invalidConfiguration, "a quorum of \(quorum) cannot be had of \(urls.count) sites")
    }
    guard Set(urls.map(\.identity)).count == urls.count else {
      throw SiteError(.invalidConfiguration, "a site is given twice; its answer would count twice")
    }
    for url in urls { try configuration.validate(for: url) }
    let unknown = Summary(urls.map { SiteVerdict(url: $0, kind: .undetermined) }, quorum: quorum)
    let storage = ValueStorage(unknown: unknown)
    let newest = Lock(unknown.verdicts)
    let monitors = urls.map { SiteMonitor($0, configuration: configuration, environment: environment) }
    observations = monitors.enumerated().map { position, monitor in
      let engine = monitor.engine
      return monitor.observe { verdict in
        newest.withLock { verdicts in
          verdicts[position] = verdict
          storage.store(Summary(verdicts, quorum: quorum))
        }
        engine.deliver(storage.wakeReceivers())
      }
    }
    self.storage = storage
    self.monitors = monitors
    self.quorum = quorum
  }

  deinit {
    for observation in observations { observation.cancel() }
  }

  /// The newest summary; not determined until enough verdicts are found. Takes a lock for the time of a copy.
  public var current: Summary { storage.current }

  /// The summaries one after another, as an asynchronous sequence: first the one that is known, then each change.
  public var updates: MonitorUpdates<Summary> { MonitorUpdates(StateFeed(of: self, storage)) }

  /// What is asked.
  public var urls: [SiteURL] { monitors.map(\.url) }

  /// Waits until enough sites are available; returns at once if they are.
  ///
  /// - Parameter timeout: How long to wait at most; `nil` for as long as it takes. Zero and less ask only for the present summary.
  /// - Returns: The summary that ended the wait.
  /// - Throws: `ReachabilityError` with the code `timedOut`; `CancellationError` when the task is cancelled.
  @discardableResult
  public func waitUntilOnline(timeout: Duration? = nil) async throws -> Summary {
    try await updates.feed.wait(until: { $0.isOnline }, timeout: timeout, goal: "the group was not online")
  }

  /// Runs `action` once, as soon as enough sites are available, in a task of its own: never on the caller's thread.
  ///
  /// - Parameter action: What to do.
  /// - Returns: What keeps it waiting: cancelled or released before the action has begun, it never will.
  public func whenOnline(_ action: @escaping @Sendable () async -> Void) -> ReachabilityObservation {
    updates.feed.once({ $0.isOnline }) { _ in await action() }
  }
}

extension SiteGroup: EngineUser {
  package var engine: NetworkEngine { monitors[0].engine }
}
