// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// How requests of a `URLSession` wait for connectivity, and when they are sent again.
///
/// On Apple's platforms `URLSessionConfiguration.waitsForConnectivity` waits. On Linux it is unavailable: a task fails
/// at once if there is no path. The methods that take this value wait there, too.
public struct ConnectivityPolicy: Sendable {
  /// Whether a request waits until there is a path, instead of failing at once. The default is `true`.
  public var waitsForConnectivity = true

  /// How long all waits and attempts of a request may take together, by the system's clock; `nil` for as long as the
  /// configuration's `timeoutIntervalForResource`.
  public var timeoutForResource: Duration?

  /// How often a request is sent at most. The default is 3.
  public var maximumAttempts = 3

  /// Whether a request may be sent again although some of it was sent. The default is the idempotent methods of
  /// RFC 9110 (9.2.2), without a body that is a stream.
  public var mayRepeat: @Sendable (URLRequest) -> Bool = { request in
    let methods = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]
    return methods.contains((request.httpMethod ?? "GET").uppercased()) && request.httpBodyStream == nil
  }

  /// Where requests wait. With an ``environment`` of a test, the shared one stands for a gate of that.
  public var gate: PathGate = .shared

  /// Where the knowledge comes from; the system, except in tests.
  public var environment: ReachabilityEnvironment = .system

  /// Creates a policy with the defaults.
  public init() {}
}

extension ConnectivityPolicy {
  /// A century: a `Duration` takes no `TimeInterval` that is infinite, nor each that is finite.
  private static let longest = Duration.seconds(100 * 365 * 86_400)

  fileprivate func limit(_ configuration: URLSessionConfiguration) -> Duration {
    if let timeoutForResource { return min(max(timeoutForResource, .zero), Self.longest) }
    let interval = configuration.timeoutIntervalForResource
    return interval < Double(Self.longest.components.seconds) ? .seconds(max(interval, 0)) : Self.longest
  }

  fileprivate var effectiveGate: PathGate {
    let isOfTest = environment.provider !== ReachabilityEnvironment.system.provider
    return gate === PathGate.shared && isOfTest ? PathGate(environment: environment) : gate
  }
}

extension URLSession {
  /// Sends a request once there is a path to its host, and again if the path that it took is gone.
  ///
  /// ~~~swift
  /// let (data, response) = try await URLSession.shared.data(for: request, connectivity: ConnectivityPolicy())
  /// ~~~
  ///
  /// A request under way is cancelled and sent again if its local address is gone and the host can be reached from
  /// another one. So is a request that fails after its path was lost or has changed. The repeat runs on a fresh session
  /// with the same configuration, since the connection that is dead may still be in the first one's pool. It has the
  /// same cookies, cache and credentials if the configuration has them, and no delegate.
  ///
  /// If the system denies access to the network's state, it is sent at once, and once. A request that begins after the
  /// change is a usual one: on Linux Foundation may send it by a connection that was idle and is dead by now, and then
  /// it fails when its time is up.
  ///
  /// - Parameters:
  ///   - request: The request; one that may not be repeated waits, and is sent once.
  ///   - connectivity: How to wait and repeat.
  /// - Returns: The whole body, and the response.
  /// - Throws: `PathGate.Unavailable` if there was no path in time; `URLError(.timedOut)` if there was no answer in
  ///   time; what the last attempt threw.
  public func data(
    for request: URLRequest, connectivity: ConnectivityPolicy
  ) async throws -> (Data, URLResponse) {
    try await follow(request, connectivity) { try await $0.data(for: request, delegate: nil) }
  }

  /// Sends a request with a body once there is a path, and again if the path that it took is gone.
  ///
  /// See ``data(for:connectivity:)``. POST is not repeated unless the policy says so.
  public func upload(
    for request: URLRequest, from body: Data, connectivity: ConnectivityPolicy
  ) async throws -> (Data, URLResponse) {
    try await follow(request, connectivity) { try await $0.upload(for: request, from: body, delegate: nil) }
  }

  /// Sends a request with a file as its body once there is a path, and again if the path that it took is gone.
  ///
  /// See ``data(for:connectivity:)``. POST is not repeated unless the policy says so.
  public func upload(
    for request: URLRequest, fromFile file: URL, connectivity: ConnectivityPolicy
  ) async throws -> (Data, URLResponse) {
    try await follow(request, connectivity) { try await $0.upload(for: request, fromFile: file, delegate: nil) }
  }

  /// Downloads to a file once there is a path, and again from the beginning if the path is gone.
  ///
  /// See ``data(for:connectivity:)``. Move the file away before you return.
  public func download(
    for request: URLRequest, connectivity: ConnectivityPolicy
  ) async throws -> (URL, URLResponse) {
    try await follow(request, connectivity) { try await $0.download(for: request, delegate: nil) }
  }

  private func follow<Answer: Sendable>(
    _ request: URLRequest, _ policy: ConnectivityPolicy,
    _ send: @escaping @Sendable (URLSession) async throws -> Answer
  ) async throws -> Answer {
    // A file or data URL has no path.
    guard let url = request.url, url.host != nil else { return try await send(self) }
    let target = try ReachabilityTarget(url: url)
    let deadline = ContinuousClock.now + policy.limit(configuration)
    let gate = policy.effectiveGate
    let monitor = ReachabilityMonitor(target, environment: policy.environment)
    let mayRepeat = policy.mayRepeat(request)
    var session = self
    var attempt = 1
    defer { if session !== self { session.finishTasksAndInvalidate() } }
    while true {
      if policy.waitsForConnectivity { try await gate.waitForPath(to: target, timeout: deadline - .now) }
      // Who does not wait for a path waits for no silent name server either.
      let patience = policy.waitsForConnectivity ? deadline - .now : min(deadline - .now, .seconds(1))
      let start = try await Self.state(of: monitor, within: patience)
      let current = session
      let outcome = await Self.race(mayRepeat, monitor, from: start, policy.environment, until: deadline) {
        try await send(current)
      }
      switch outcome {
      case .success(let answer): return answer
      case .failure(let error):
        let after = monitor.current
        let hasChanged = start.isDetermined && (!after.isSameState(as: start) || after.source != start.source)
        let isPathToBlame = error is PathGone || hasChanged
        try Task.checkCancellation()
        guard isPathToBlame, mayRepeat, attempt < policy.maximumAttempts, ContinuousClock.now < deadline else {
          throw (error as? PathGone).map { _ in URLError(.networkConnectionLost) } ?? error
        }
      }
      attempt += 1
      if session !== self { session.finishTasksAndInvalidate() }
      session = URLSession(configuration: configuration)
    }
  }

  /// What is known of the path, if it is known in time, and the system tells.
  private static func state(of monitor: ReachabilityMonitor, within limit: Duration) async throws -> Reachability {
    do {
      return try await monitor.waitUntilDetermined(timeout: limit)
    } catch let error as ReachabilityError where error.code == .timedOut || error.code == .denied {
      return monitor.current
    }
  }

  /// The request's local address is gone, and the host can be reached from another one.
  private struct PathGone: Error {}

  /// Runs `work` until it ends, or the deadline comes, or its path is gone, if it may be cancelled then.
  private static func race<Answer: Sendable>(
    _ mayCancel: Bool, _ monitor: ReachabilityMonitor, from start: Reachability, _ environment: ReachabilityEnvironment,
    until deadline: ContinuousClock.Instant,
    _ work: @escaping @Sendable () async throws -> Answer
  ) async -> Result<Answer, any Error> {
    await withTaskGroup(of: Result<Answer, any Error>?.self) { group in
      group.addTask {
        do {
          return .success(try await work())
        } catch {
          return .failure(error)
        }
      }
      group.addTask {
        do {
          // The deadline, cancelled when something else comes first.
          try await Task.sleep(until: deadline)
          return .failure(URLError(.timedOut))
        } catch {
          // Something else came first.
          return nil
        }
      }
      if mayCancel, let source = start.source, let destination = start.destination {
        let pair = ReachabilityTarget.address(destination, from: source, port: monitor.target.port)
        // Nobody is told if the source alone changes. That the former one is gone, the pair's monitor tells.
        for watched in [monitor, ReachabilityMonitor(pair, environment: environment)] {
          group.addTask {
            for await _ in watched.updates {
              let old = Reachability.now(pair, environment: environment)
              let new = Reachability.now(monitor.target, environment: environment)
              if new.isReachable, new.source != source, old.isDetermined, !old.isReachable {
                return .failure(PathGone())
              }
            }
            return nil
          }
        }
      }
      defer { group.cancelAll() }
      while let next = await group.next() { if let next { return next } }
      return .failure(CancellationError())
    }
  }
}
