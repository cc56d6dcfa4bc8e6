// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// A server that means harm, or is broken: for tables of trials.
package struct HostileSite: Sendable {
  /// What a check of it must come to.
  package enum Outcome: Sendable {
    /// Waits for the deadline, in the stage of that name.
    case timesOut(String)
    /// Ends before the deadline, in one of the stages of these names.
    case fails([String])
    /// Ends before the deadline, and is not taken for the site.
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

  /// Does the steps to whoever connects, whatever comes.
  init(_ name: String, _ outcome: Outcome, opens steps: SiteStep...) {
    self.init(name, outcome, SiteBehaviour(opening: steps))
  }
}
#endif
