// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NetworkLab
import TestSupport

/// What programs and routers do at random: connections are made and uplinks checked, gateways answer and fall silent.
/// For ``RandomOperations``.
struct TrafficOperations {
  private let lab: NetworkLab

  init(_ lab: NetworkLab) { self.lab = lab }

  /// How often a link asks for a neighbour that does not answer: so often that it lasts longer than any comparison, as
  /// usual, or once, a fifth of a second long.
  static func setProbes(_ lab: NetworkLab, _ number: Int) throws {
    try lab.sysctl("ipv6/neigh/n\(number)/mcast_solicit", [1_000, 3, 1][number])
    if number == 2 { try lab.sysctl("ipv6/neigh/n2/retrans_time_ms", 200) }
  }

  func operation(_ generator: inout SeededNumbers) -> RandomOperations.Operation {
    let number = Int.random(in: 0...2, using: &generator)
    let neighbour = "2001:db8:\(number)::ff dev n\(number)"
    switch Int.random(in: 1...20, using: &generator) {
    case 1...10:
      let far = ["2001:503:ba3e::2:30", "2001:db8:ffff::1", "198.41.0.4"].randomElement(using: &generator)
      var connection = LabConnection(to: far ?? "")
      // As a program does, or as a check of one uplink.
      connection.interface = Int.random(in: 1...10, using: &generator) <= 3 ? nil : "n\(number)"
      return (
        "connect to \(connection.destination) over \(connection.interface ?? "any link")",
        { [lab, connection] in
          let outcome = try lab.socket(connection)
          if outcome.error != 0 { throw LabError("connect", code: outcome.error) }
        }
      )
    case 11...14:
      let state = ["permanent", "reachable", "stale"].randomElement(using: &generator) ?? ""
      return command("-6 neigh replace \(neighbour) lladdr 02:00:00:00:00:09 nud \(state) extern_learn")
    case 15...18: return command("-6 neigh replace \(neighbour) nud failed extern_learn")
    default: return command("-6 neigh del \(neighbour)")
    }
  }

  private func command(_ words: String) -> RandomOperations.Operation {
    (
      words,
      { [lab] in
        let output = try lab.ip(words)
        if output.status != 0 { throw LabError(output.error) }
      }
    )
  }
}
#endif
