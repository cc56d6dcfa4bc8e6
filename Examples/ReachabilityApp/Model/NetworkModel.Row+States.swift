// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites

extension NetworkModel.Row {
  init(_ state: Reachability) {
    self.init(
      id: "internet", title: "Internet", words: "\(state)",
      symbol: state.isReachable
        ? Self.symbol(state.interface?.kind) : state.isDetermined ? "network.slash" : Self.unknown,
      isGood: state.isDetermined ? state.isReachable : nil)
  }

  init(_ interface: NetworkPath.Interface) {
    var words = interface.addresses.map { "\($0)" }.joined(separator: ", ")
    if interface.isExpensive { words += " (metered)" }
    self.init(
      id: interface.name, title: "\(interface.identity)", words: words, symbol: Self.symbol(interface.kind),
      isGood: interface.leadsToInternet)
  }

  init(_ verdict: SiteVerdict, of site: String) {
    self.init(
      id: "site", title: site, words: "\(verdict)",
      symbol: verdict.isAvailable
        ? "checkmark.circle" : verdict.isDetermined ? "exclamationmark.triangle" : Self.unknown,
      isGood: verdict.isDetermined ? verdict.isAvailable : nil)
  }

  private static let unknown = "questionmark.circle"

  private static func symbol(_ kind: InterfaceKind?) -> String {
    switch kind {
    case .wifi?: "wifi"
    case .cellular?: "antenna.radiowaves.left.and.right"
    case .wired?: "cable.connector"
    case .tunnel?: "lock.shield"
    default: "network"
    }
  }
}
