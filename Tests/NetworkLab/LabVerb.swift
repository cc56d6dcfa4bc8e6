// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// What to do with an address, route or nexthop: the words of `ip`.
package enum LabVerb: String, Sendable {
  /// Fails if it exists.
  case add
  /// Fails if it does not exist.
  case change
  /// Adds it, or replaces what is there.
  case replace
  /// Adds it after those that are there.
  case append
  case delete

  var flags: Int32 {
    switch self {
    case .add: NLM_F_CREATE | NLM_F_EXCL
    case .change: NLM_F_REPLACE
    case .replace: NLM_F_CREATE | NLM_F_REPLACE
    case .append: NLM_F_CREATE | NLM_F_APPEND
    case .delete: 0
    }
  }
}
#endif
