// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import NIOCore

/// Connects to the first of several addresses that lets it (RFC 8305, "happy eyeballs").
///
/// Each has a quarter of a second before the next is tried beside it, or until it fails. The first connection made
/// wins, and all others are closed at once. At most four are tried at a time: a fifth takes the place of the oldest,
/// which has had a second. More addresses may come meanwhile: until `close`, the race does not fail for lack of any.
///
/// Belongs to its event loop. It ends once, by `end` or by `cancel`, and says nothing after that.
final class ConnectionRace {
  /// RFC 8305, 5: the recommended Connection Attempt Delay.
  static let attemptDelay = TimeAmount.milliseconds(250)
  private static let maximumAttempts = 4

  private let loop: any EventLoop
  private let makeAttempt: (Route) -> any ConnectionAttempt
  private let end: (Result<(any Channel, Route), SiteError>, _ last: Route?) -> Void
  private var waiting: ArraySlice<Route>
  private var attempts: [any ConnectionAttempt] = []
  private var nextAttempt: Scheduled<Void>?
  private var lastStart: NIODeadline
  /// Whether more addresses may come.
  private var isOpen: Bool
  private var lastFailure: (error: SiteError, route: Route)?
  private var hasEnded = false

  /// Tries `routes`, of which there is at least one, in their order, each by an attempt that `makeAttempt` makes. With
  /// `isOpen`, more may be added until `close`. `end` gets the connection, or why none could be made, and what was
  /// tried last.
  init(
    _ routes: [Route], isOpen: Bool, _ loop: any EventLoop, makeAttempt: @escaping (Route) -> any ConnectionAttempt,
    end: @escaping (Result<(any Channel, Route), SiteError>, _ last: Route?) -> Void
  ) {
    waiting = routes[...]
    self.isOpen = isOpen
    self.loop = loop
    self.makeAttempt = makeAttempt
    lastStart = loop.now
    self.end = end
  }

  var lastRoute: Route? { attempts.last?.route ?? lastFailure?.route }

  func start() { tryNext() }

  /// Tries these, too. Their families take turns with those that wait, and with what was tried last.
  func add(_ routes: [Route]) {
    if hasEnded || routes.isEmpty { return }
    let last = lastRoute?.address.unmapped.family
    waiting = AddressOrder.interleaved(waiting + routes, after: last) { $0.address.unmapped.family }[...]
    if nextAttempt != nil { return }
    tryNext(in: attempts.isEmpty ? .zero : max(.zero, lastStart + Self.attemptDelay - loop.now))
  }

  /// No more routes will be added.
  func close() {
    isOpen = false
    failIfNoneIsLeft()
  }

  func cancel() {
    hasEnded = true
    nextAttempt?.cancel()
    closeAll()
  }

  private func closeAll() {
    // Forgotten first: closing ends an attempt, and an attempt that ends after that changes nothing.
    let losers = attempts
    attempts = []
    for attempt in losers { attempt.close() }
  }

  private func tryNext() {
    nextAttempt?.cancel()
    nextAttempt = nil
    if attempts.count == Self.maximumAttempts { attempts.removeFirst().close() }
    if let route = waiting.popFirst() {
      lastStart = loop.now
      let attempt = makeAttempt(route)
      attempts.append(attempt)
      attempt.start { [self] in self.attempt(attempt, endedWith: $0) }
    }
    // An attempt that failed at once has brought the next one forward.
    if hasEnded || waiting.isEmpty || nextAttempt != nil { return }
    tryNext(in: Self.attemptDelay)
  }

  private func tryNext(in delay: TimeAmount) {
    nextAttempt?.cancel()
    nextAttempt = loop.assumeIsolated().scheduleTask(in: delay) { self.tryNext() }
  }

  private func attempt(_ attempt: any ConnectionAttempt, endedWith result: Result<any Channel, SiteError>) {
    guard let position = attempts.firstIndex(where: { $0 === attempt }) else { return }
    attempts.remove(at: position)
    switch result {
    case .success(let channel):
      nextAttempt?.cancel()
      closeAll()
      finish(.success((channel, attempt.route)), last: attempt.route)
    case .failure(let error):
      lastFailure = (error, attempt.route)
      // On the loop: attempts that fail at once would otherwise nest.
      if !waiting.isEmpty { return tryNext(in: .zero) }
      failIfNoneIsLeft()
    }
  }

  private func failIfNoneIsLeft() {
    guard !isOpen, waiting.isEmpty, attempts.isEmpty, let lastFailure else { return }
    finish(.failure(lastFailure.error), last: lastFailure.route)
  }

  private func finish(_ result: Result<(any Channel, Route), SiteError>, last: Route) {
    if hasEnded { return }
    hasEnded = true
    end(result, last)
  }
}
