// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The seam below the engine: it announces changes and answers queries. Linux, a script or another system implements
/// it.
///
/// A source owns waiting: it is made with the waiter that the engine's threads sleep on, and has its events awaited
/// there. Apart from that, one thread at a time uses it, under the engine's lock. So it needs no lock of its own and
/// no `Sendable`.
package protocol NetworkSource: AnyObject {
  /// Reads all that waits to be read, without blocking, and adds to `change` what may have changed. If that puts
  /// answers in doubt, every further call says so until ``poll(into:)`` has ended it.
  func drain(into change: inout NetworkChange)

  /// As ``drain(into:)``, and reads also what the waiter has not announced yet. Called on a thread that does not wait
  /// for events.
  func catchUp(into change: inout NetworkChange)

  /// When to call ``poll(into:)``, in nanoseconds of the engine's clock; `nil` if all changes are announced.
  var nextPoll: Int64? { get }

  /// Looks for changes that were not announced.
  func poll(into change: inout NetworkChange)

  /// Answers each query by what is true now. Calls `receive` once for each, with its position. Queries that differ in
  /// their source alone cost less if they stand together.
  func answer(_ queries: [RouteQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void)

  /// Returns all ways by which packets can leave now, as far as the configuration allows them.
  func path(_ configuration: PathConfiguration) -> PathAnswer

  /// The name servers that the system's resolver asks; `nil` while they are not known. A change will be announced then.
  var nameServers: [IPAddress]? { get }

  /// Tells the source what the queries will be about, before they are asked. It need not announce other changes.
  func watch(_ interest: NetworkInterest)

  /// Whether it announces all changes until it is first told so. Then the first states do not wait for that.
  var announcesAllAtFirst: Bool { get }
}

/// The defaults suit a source that announces all changes, whether they are of interest or not.
extension NetworkSource {
  package func catchUp(into change: inout NetworkChange) { drain(into: &change) }

  package var nextPoll: Int64? { nil }

  package func poll(into change: inout NetworkChange) {}

  package var nameServers: [IPAddress]? { [] }

  package func watch(_ interest: NetworkInterest) {}

  package var announcesAllAtFirst: Bool { true }
}

package struct NetworkInterest: Equatable, Sendable {
  /// The destinations of queries; `nil` if there are too many to be worth naming.
  package var destinations: [IPAddress]?
  /// Whether names are looked up, so that the configuration of name resolution matters.
  var includesNames: Bool
}

/// A source's answer to what a path monitor asks.
package struct PathAnswer: Sendable {
  package var path: NetworkPath
  /// The name servers that the path's support of DNS depends on. Changes of routes to them have to be announced.
  package var nameServers: [IPAddress]
  /// How many queries it took.
  package var queryCount: Int
  /// Whether something that the path depends on is not known yet. A change will be announced once it is.
  private(set) var isPending = false

  package init(_ path: NetworkPath, nameServers: [IPAddress] = [], queryCount: Int = 0) {
    self.path = path
    self.nameServers = nameServers
    self.queryCount = queryCount
  }

  package static var pending: PathAnswer {
    var answer = PathAnswer(NetworkPath(.undetermined))
    answer.isPending = true
    return answer
  }
}
