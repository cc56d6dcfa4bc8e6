// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The seam below the engine: what tells of changes and answers queries. Linux, a script, another system.
///
/// A source is used by one thread at a time, under the engine's lock; it needs no lock of its own and no `Sendable`.
package protocol NetworkSource: AnyObject {
  /// Descriptors that become readable when there is something to read, or -1 where there is none by now. The position
  /// in the array is the bit in `drain`'s `ready`.
  var descriptors: [CInt] { get }

  /// Another number once there are other descriptors than before, though perhaps of the same numbers. They can change
  /// in `poll`.
  var descriptorRevision: Int { get }

  /// The system has no memory left to wait for one of the descriptors (epoll_ctl(2), ENOMEM or ENOSPC): it has to be
  /// polled, until the next ``poll(into:)``, after which that is tried again.
  func eventsCannotBeAwaited()

  /// When to call ``poll(into:)``, in nanoseconds of the engine's clock; `nil` where changes are announced.
  var nextPoll: Int64? { get }

  /// Reads all that waits on the descriptors that are `ready`, without blocking, and adds to `change` what it touches.
  func drain(ready: UInt64, into change: inout NetworkChange)

  /// Looks whether anything changed that was not announced.
  func poll(into change: inout NetworkChange)

  /// Answers each query by what is true now: `receive` is called once for each, with its position.
  func answer(_ queries: [PathQuery], _ receive: (_ position: Int, _ answer: Reachability) -> Void)

  /// All ways that packets can leave by now, as far as the configuration allows them.
  func path(_ configuration: PathConfiguration) -> PathAnswer

  /// Names the addresses that queries are about, before the queries are asked: routes to others need not be announced.
  /// `nil` stands for more than it pays to name.
  func announceRoutes(to addresses: [IPAddress]?)

  /// Whether changes of the configuration of name resolution are to be announced.
  func announceNameConfiguration(_ isWanted: Bool)
}

extension NetworkSource {
  /// As for a source whose descriptors never change.
  package var descriptorRevision: Int { 0 }
}
