// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import DialtoneTesting
import TestSupport
import Testing

/// A site with checks that the test sees and answers at any time, even after they were cancelled, like the slowest of
/// checks.
final class ScriptedSite: Sendable {
  /// A check that has not been answered yet.
  final class Request: Sendable {
    let url: SiteURL
    let configuration: SiteCheckConfiguration
    private let continuation: Lock<CheckedContinuation<SiteVerdict, any Error>?>
    private let cancelled = Lock(false)

    fileprivate init(
      _ url: SiteURL, _ configuration: SiteCheckConfiguration,
      _ continuation: CheckedContinuation<SiteVerdict, any Error>
    ) {
      self.url = url
      self.configuration = configuration
      self.continuation = Lock(continuation)
    }

    deinit { take()?.resume(throwing: CancellationError()) }

    var wasCancelled: Bool { cancelled.withLock { $0 } }

    fileprivate func cancel() { cancelled.withLock { $0 = true } }

    /// Ends the check with this verdict. The status tells one answer from another.
    func answer(_ kind: SiteVerdict.Kind, _ status: Int? = nil, over interface: NetworkInterface? = nil) {
      take()?.resume(returning: SiteVerdict(url: url, kind: kind, status: status, interface: interface))
    }

    private func take() -> CheckedContinuation<SiteVerdict, any Error>? { continuation.withLock { $0.take() } }
  }

  private let begun = Lock<[Request]>([])
  private let answersAtOnce: Bool

  /// - Parameter answersAtOnce: Whether every check finds the site available, without the test.
  init(answersAtOnce: Bool = false) { self.answersAtOnce = answersAtOnce }

  /// The number of checks that have begun.
  var count: Int { begun.withLock { $0.count } }

  /// The environment for monitors of this site.
  func environment(_ network: ScriptedNetwork) -> SiteEnvironment {
    SiteEnvironment(
      reachability: network.environment, random: { 0 },
      perform: { [weak self] url, configuration in
        guard let self else { throw CancellationError() }
        return try await self.perform(url, configuration)
      })
  }

  /// The check with this number, from 0, once it has begun. With a clock, time passes until then.
  func request(_ number: Int, passing clock: ManualClock? = nil) async throws -> Request {
    var request: Request?
    try await eventually("check \(number) begins") {
      request = begun.withLock { $0.indices.contains(number) ? $0[number] : nil }
      if request == nil { clock?.advance(by: .seconds(60)) }
      return request != nil
    }
    return try #require(request)
  }

  private func perform(_ url: SiteURL, _ configuration: SiteCheckConfiguration) async throws -> SiteVerdict {
    if answersAtOnce { return SiteVerdict(url: url, kind: .available, status: 200) }
    let started = Lock<Request?>(nil)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let request = Request(url, configuration, continuation)
        started.withLock { $0 = request }
        if Task.isCancelled { request.cancel() }
        begun.withLock { $0.append(request) }
      }
    } onCancel: {
      started.withLock { $0 }?.cancel()
    }
  }
}
