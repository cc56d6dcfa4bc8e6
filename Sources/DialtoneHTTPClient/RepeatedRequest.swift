// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if HTTPClient
internal import AsyncHTTPClient
internal import Dialtone
internal import DialtoneNIO
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// A request that may be sent more than once.
struct RepeatedRequest {
  let request: HTTPClientRequest
  let deadline: NIODeadline
  let policy: HTTPPathPolicy
  /// What the client writes into the request's Host field.
  let host: String
  private var attempts = 1
  /// Whether no request was written, in the last attempt, that may be this one.
  fileprivate var isUnwritten = false
  /// The address that the last attempt had to leave from; `nil` if that was left to the system.
  private var source: IPAddress?

  init(_ request: HTTPClientRequest, _ deadline: NIODeadline, _ policy: HTTPPathPolicy) {
    self.request = request
    self.deadline = deadline
    self.policy = policy
    host = request.headers.first(name: "host") ?? Self.host(of: request.url)
  }

  var remaining: Duration { .nanoseconds(max((deadline - .now()).nanoseconds, 0)) }

  /// Changes as long as a connection is being closed.
  var losses: Int { policy.registry.requests.withLock { $0.losses } }

  /// Returns whether it may be sent again, and counts that. Without an error, it was not sent yet.
  mutating func mayRepeat(after error: (any Error)?) -> Bool {
    guard remaining > .zero, attempts < policy.maximumAttempts else { return false }
    // The connection that failed may be that of a redirect.
    let isUnsent = error.map { isUnwritten && Self.isWithoutConnection($0) } ?? true
    guard isUnsent || policy.mayRepeat(request), isReadable, policy.budget.spend() else { return false }
    attempts += 1
    return true
  }

  private var isReadable: Bool { request.body == nil || policy.bodyCanBeReadAgain }

  /// Whether a connection could not be made. Where the client does not say, it was.
  private static func isWithoutConnection(_ error: any Error) -> Bool {
    if let error = error as? HTTPClientError {
      return error == .connectTimeout || error == .getConnectionFromPoolTimeout
    }
    return error is NIOConnectionError
  }

  /// The URL's host, and its port unless it is the scheme's own.
  private static func host(of url: String) -> String {
    let parts = url.split(separator: "://", maxSplits: 1)
    guard parts.count == 2 else { return "" }
    let authority = parts[1].prefix { !"/?#".contains($0) }.split(separator: "@").last ?? ""
    let standard = parts[0].lowercased() == "https" ? ":443" : ":80"
    let name = authority.hasSuffix(standard) ? authority.dropLast(standard.count) : authority
    return name.filter { $0 != "[" && $0 != "]" }
  }

  // MARK: Attempts that come to nothing

  /// Whether an attempt may be given up although the client does not say what it is at: if nothing is lost by that, and
  /// the address that it leaves from is not the user's choice.
  var canGiveUp: Bool {
    policy.mayRepeat(request) && isReadable && request.localAddress == nil
      && policy.registry.requests.withLock { $0.areCounted }
  }

  /// The request as it is sent on a path.
  mutating func request(on path: Reachability) -> HTTPClientRequest {
    var request = request
    guard request.localAddress == nil else { return request }
    source = policy.registry.requests.withLock { notes in
      if notes.sources[host] != path.source { notes.sources[host] = nil }
      return notes.sources[host]
    }
    request.localAddress = source.map { "\($0)" }
    return request
  }

  /// Has requests to this host leave from the path's source by name, or no longer. AsyncHTTPClient keeps connections,
  /// attempts and pauses apart by that address, and offers no other way to leave one behind.
  func takeAnotherWay(_ path: Reachability) {
    // AsyncHTTPClient takes no zone.
    let other = path.source.flatMap { $0.zone == nil ? $0 : nil }
    leave(for: other == source ? nil : other)
  }

  /// Leaves the address to the system again, if an attempt from one by name failed for lack of a connection: the server
  /// may answer the other family alone, or a redirect may lead there. Returns whether that was so.
  func leavesAddress(after error: any Error) -> Bool {
    // An address of the other family, in a URL, is an error of bind(2).
    guard source != nil, Self.isWithoutConnection(error) || error is IOError else { return false }
    leave(for: nil)
    return true
  }

  /// Has requests leave from another address than this one did, unless another request has seen to that.
  private func leave(for other: IPAddress?) {
    policy.registry.requests.withLock { if $0.sources[host] == source { $0.sources[host] = other } }
  }

  /// Returns once the path is another one than `start`, or was lost meanwhile, and the request is on no connection.
  func waitUntilHopeless(_ monitor: ReachabilityMonitor, since start: Reachability) async throws {
    var wasLost = false
    for await state in monitor.detailedUpdates {
      if state.isReachable, wasLost || state.interface != start.interface || state.source != start.source { break }
      wasLost = wasLost || !state.isReachable
    }
    // The client does not tell what a request is at. It may be about to be written on a connection that works, or be
    // on one that is about to be closed: hence the pauses.
    var pause = Duration.milliseconds(50)
    repeat {
      try await Task.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(500))
    } while policy.registry.requests.withLock { $0.mayBeUnderWay(host) }
  }
}

extension HTTPClient {
  /// Sends a request once. Returns `nil` if the attempt was given up, since it was on no connection when its path
  /// changed, and the request may be sent again.
  func send(
    _ run: inout RepeatedRequest, from start: Reachability, _ monitor: ReachabilityMonitor, _ logger: Logger?
  ) async throws -> HTTPClientResponse? {
    let (request, deadline, present) = (run.request(on: start), run.deadline, run)
    let written = present.policy.registry.requests.withLock { notes in
      notes.name(present.host)
      return notes.written(to: present.host)
    }
    defer {
      run.isUnwritten = present.policy.registry.requests.withLock { notes in
        defer { notes.unname(present.host) }
        return notes.areCounted && notes.written(to: present.host) == written
      }
    }
    guard run.canGiveUp else { return try await execute(request, deadline: deadline, logger: logger) }
    return try await withThrowingTaskGroup(of: HTTPClientResponse?.self) { group in
      group.addTask { try await self.execute(request, deadline: deadline, logger: logger) }
      group.addTask {
        try await present.waitUntilHopeless(monitor, since: start)
        return nil
      }
      defer { group.cancelAll() }
      if let response = try await group.next() ?? nil { return response }
      guard !_Concurrency.Task.isCancelled, run.mayRepeat(after: nil) else { return try await group.next() ?? nil }
      run.takeAnotherWay(monitor.current)
      group.cancelAll()
      // An answer that came at the last moment is the answer.
      guard case .success(let response)? = await group.nextResult() else { return nil }
      return response
    }
  }
}
#endif
