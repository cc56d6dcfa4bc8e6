// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import DialtoneSites

/// The system's network, with names of a test's own.
struct SiteNames: Sendable {
  let environment: SiteEnvironment

  /// Names that are not listed do not exist.
  init(_ names: [String: [String]]) {
    environment = SiteEnvironment(
      reachability: ReachabilityEnvironment(
        EngineProvider(lookup: Self.lookup(names))))
  }

  /// Returns the addresses of the family asked for, in the order given.
  static func lookup(_ names: [String: [String]]) -> NameLookup {
    { name, family in
      let addresses = (names[name] ?? []).compactMap { IPAddress($0) }.filter { family == nil || $0.family == family }
      return addresses.isEmpty ? .noAddress : .addresses(addresses)
    }
  }
}
#endif
