// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if HTTPClient
public import AsyncHTTPClient
public import Dialtone
public import DialtoneNIO
public import Logging
public import NIOCore
internal import NIOHTTP1

/// How ``AsyncHTTPClient/HTTPClient/execute(_:deadline:path:logger:)`` waits and repeats.
public struct HTTPPathPolicy: Sendable {
  /// Where requests wait for the path.
  public var gate: PathGate = .shared

  /// The registry that the client's configuration follows its paths in.
  public var registry: ConnectionRegistry = .shared

  /// What has to be reachable; `nil` for the request's host. With a proxy, set the proxy's address or name.
  public var target: ReachabilityTarget?

  /// How often a request is sent at most.
  public var maximumAttempts = 3

  /// What all requests with this policy, and with copies of it, may repeat together. Each new policy has its own.
  public var budget = RepeatBudget()

  /// Whether the request's body can be read again: `true` for bodies made of bytes. Requests with a body are not
  /// repeated otherwise, since AsyncHTTPClient does not tell.
  public var bodyCanBeReadAgain = false

  /// Whether the request may be repeated although some of it was sent. The default is the idempotent methods of
  /// RFC 9110 (9.2.2): GET, HEAD, OPTIONS, TRACE, PUT, DELETE.
  public var mayRepeat: @Sendable (HTTPClientRequest) -> Bool = {
    [.GET, .HEAD, .OPTIONS, .TRACE, .PUT, .DELETE].contains($0.method)
  }

  /// Creates a policy with the defaults.
  public init() {}
}

extension HTTPClient {
  /// Sends a request once there is a path to its host, and sends it again if the path fails it.
  ///
  /// ~~~swift
  /// let policy = HTTPPathPolicy()  // one for all requests: they share its budget
  /// let response = try await client.execute(request, deadline: .now() + .seconds(30), path: policy)
  /// ~~~
  ///
  /// It is repeated if Dialtone closed a connection meanwhile, or the path was lost or changed. Nothing of the answer
  /// has been given out then, since this method returns once the head is there: a body that fails later fails for you.
  /// Waits and attempts have to end before the deadline. A request that may not be repeated is sent again only if a
  /// connection could not be made, and nothing was written meanwhile that may be this request: not before a redirect,
  /// either.
  ///
  /// A request that may be repeated does not wait for a connection that is being made on a path that is gone, nor for
  /// the client's pause between attempts. It is sent from the new path's source address instead (`localAddress`), since
  /// AsyncHTTPClient makes connections of their own for that. A request that has a `localAddress` keeps it. If no
  /// connection can be made from there, the system chooses the address again.
  ///
  /// Use it with a client whose configuration has ``AsyncHTTPClient/HTTPClient/Configuration/followPath(in:)``.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - deadline: When all has to be done.
  ///   - policy: How to wait and repeat.
  ///   - logger: As for the client's own method.
  /// - Returns: The response; its body may not have arrived yet.
  /// - Throws: `PathGate.Unavailable` if there was no path in time; what the last attempt threw;
  ///   `CancellationError`.
  public func execute(
    _ request: HTTPClientRequest, deadline: NIODeadline, path policy: HTTPPathPolicy, logger: Logger? = nil
  ) async throws -> HTTPClientResponse {
    // A Unix socket has no path.
    guard let target = try policy.target ?? Self.target(of: request) else {
      return try await execute(request, deadline: deadline, logger: logger)
    }
    policy.budget.earn()
    var run = RepeatedRequest(request, deadline, policy)
    let monitor = try policy.gate.monitor(of: target)
    // Those of the first attempt: a repeat may still meet the connection that is being closed.
    let losses = run.losses
    let before = try await policy.gate.waitForPath(to: target, timeout: run.remaining)
    var state = before
    while true {
      do {
        if let response = try await send(&run, from: state, monitor, logger) { return response }
      } catch {
        if _Concurrency.Task.isCancelled { throw error }
        let after = monitor.current
        let isPathToBlame =
          run.leavesAddress(after: error) || error is ConnectionLostError || run.losses != losses
          || !after.isSameState(as: before) || after.source != before.source
        guard isPathToBlame, run.mayRepeat(after: error) else { throw error }
      }
      state = try await policy.gate.waitForPath(to: target, timeout: run.remaining)
    }
  }

  private static func target(of request: HTTPClientRequest) throws -> ReachabilityTarget? {
    let scheme = request.url.prefix { $0 != ":" }.lowercased()
    guard scheme == "http" || scheme == "https" else { return nil }
    return try .host(request.url)
  }
}
#endif
