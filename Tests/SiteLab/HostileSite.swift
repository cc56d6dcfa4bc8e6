// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// A server that means harm or is broken, for tables of trials.
package struct HostileSite: Sendable {
  /// The outcome that a check of it must have.
  package enum Outcome: Sendable {
    /// It waits until the deadline, in this stage.
    case timesOut(String)
    /// It fails before the deadline, in one of these stages.
    case fails([String])
    /// It ends before the deadline, and is not taken for the site.
    case isNotAvailable
  }

  package let name: String
  package let behaviour: SiteBehaviour
  package let outcome: Outcome

  package init(_ name: String, _ outcome: Outcome, _ behaviour: SiteBehaviour) {
    self.name = name
    self.outcome = outcome
    self.behaviour = behaviour
  }

  /// Sends the steps to any request.
  init(_ name: String, _ outcome: Outcome, answers steps: SiteStep...) {
    self.init(name, outcome, SiteBehaviour { _ in steps })
  }

  /// Performs the steps for each client, whatever it sends.
  init(_ name: String, _ outcome: Outcome, opens steps: SiteStep...) {
    self.init(name, outcome, SiteBehaviour(opening: steps))
  }
}
#endif
