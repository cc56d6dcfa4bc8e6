// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What the events read in one go may have changed. Events are hints: they say what to ask again, never what is true.
package struct NetworkChange {
  /// With more prefixes than this, it costs less to ask everything again.
  private static let limit = 256

  /// Every target may have another answer.
  private(set) var touchesEverything = false
  /// The targets inside these prefixes may have another answer, each once.
  private(set) var prefixes = Few<IPPrefix>()
  /// The targets that are not reachable may have another answer: a radio was switched, or a link changed that carried
  /// nothing before and carries nothing now.
  var touchesUnreachable = false
  /// Names may have other addresses because the configuration of name resolution changed, or the system was suspended.
  /// (A changed path is not told here.)
  package var touchesNames = false
  /// The name servers, which paths depend on, were read for the first time.
  var touchesNameServers = false
  /// The source stopped before it had read everything, and nothing will announce the rest.
  var isUnfinished = false
  /// Announcements were lost. Until the source's next poll is done, its answers may be true of no moment.
  var isInDoubt = false

  package init() {}

  package var isEmpty: Bool {
    !touchesEverything && !touchesUnreachable && !touchesNames && !touchesNameServers && !isUnfinished && !isInDoubt
      && prefixes.isEmpty
  }

  var touchesIPv6Routes: Bool { touchesEverything || prefixes.contains { $0.address.isIPv6 } }

  /// A link, address, rule, nexthop or setting changed, or events were lost.
  package mutating func markEverything() {
    touchesEverything = true
    prefixes.removeAll()
  }

  /// A route to this prefix changed.
  mutating func markRoute(_ prefix: IPPrefix) {
    if touchesEverything || prefixes.contains(prefix) { return }
    if prefixes.count > Self.limit { return markEverything() }
    prefixes.append(prefix)
  }
}
