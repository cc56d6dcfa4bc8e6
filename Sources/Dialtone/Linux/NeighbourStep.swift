// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Netlink

/// The rule about the neighbour that gets the packets first. Pure.
package enum NeighbourStep {
  /// What is known besides the kernel's table.
  package struct Probe: Equatable, Sendable {
    /// Whether a packet was sent so that the kernel would ask for the neighbour.
    package var wasSent: Bool
    /// Whether the neighbour itself has answered a packet.
    package var hasAnswered: Bool

    package init(wasSent: Bool = false, hasAnswered: Bool = false) {
      self.wasSent = wasSent
      self.hasAnswered = hasAnswered
    }
  }

  /// Returns the step about a neighbour; `nil` for no neighbour means that the packets go to none.
  package static func step(
    _ facts: KernelEvidence.NeighbourFacts?, _ probe: Probe, family: IPAddress.Family,
    link: KernelEvidence.LinkFacts? = nil
  ) -> DiagnosisStep {
    func step(
      _ outcome: DiagnosisStep.Outcome, _ text: String, _ cause: DiagnosisCause? = nil,
      _ confidence: DiagnosisConfidence = .certain
    ) -> DiagnosisStep {
      DiagnosisStep(
        .neighbour, family: family, outcome, text, evidence: evidence(facts, probe), cause: cause,
        confidence: confidence,
        advice: cause.flatMap { DiagnosisAdvice.act(on: $0, link: link, target: facts?.address) })
    }
    guard let facts else { return step(.skipped, "the packets go to no neighbour") }
    let who = facts.isGateway ? "the router \(facts.address)" : "\(facts.address)"
    guard facts.isResolved else { return step(.skipped, "\(facts.link) has no neighbours to ask for") }
    if probe.hasAnswered { return step(.ok, "\(who) answers on \(facts.link)") }
    guard let state = facts.state else {
      return step(.skipped, "\(who) is not known on \(facts.link), and was not asked for")
    }
    if !state.isDisjoint(with: [.reachable, .permanent]) { return step(.ok, "\(who) is there, on \(facts.link)") }
    if state.contains(.failed) {
      let cause: DiagnosisCause = facts.isGateway ? .gatewaySilent : .silent
      return step(
        .fault, "\(who) does not answer on \(facts.link)", cause, probe.wasSent || !facts.isGateway ? .certain : .likely
      )
    }
    if state.contains(.incomplete) { return step(.doubtful, "\(who) has not answered on \(facts.link) yet") }
    // STALE, DELAY and PROBE: it was there, and is asked again only while packets are sent to it.
    return step(.ok, "\(who) was there, on \(facts.link); whether it still is, is not known")
  }

  private static func evidence(
    _ facts: KernelEvidence.NeighbourFacts?, _ probe: Probe
  ) -> [DiagnosisEvidence] {
    guard let facts else { return [] }
    return [
      DiagnosisEvidence("neighbour", facts.address.description), DiagnosisEvidence("interface", facts.link),
      DiagnosisEvidence("isGateway", flag: facts.isGateway), DiagnosisEvidence("state", facts.state?.words),
      DiagnosisEvidence("wasProbed", flag: probe.wasSent), DiagnosisEvidence("hasAnswered", flag: probe.hasAnswered),
    ]
  }
}

extension NeighbourState {
  /// The state as ip-neighbour(8) prints it.
  package var words: String {
    let names: [(NeighbourState, String)] = [
      (.incomplete, "INCOMPLETE"), (.reachable, "REACHABLE"), (.stale, "STALE"), (.delay, "DELAY"), (.probe, "PROBE"),
      (.failed, "FAILED"), (.noARP, "NOARP"), (.permanent, "PERMANENT"),
    ]
    return names.first { contains($0.0) }?.1 ?? "NONE"
  }
}
