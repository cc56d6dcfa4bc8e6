// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone
package import DialtoneDiagnosis

/// A target of a recorder: how it is watched, and how it is explained.
package struct RecordedTarget: Sendable {
  package typealias Report =
    @Sendable (_ state: RecorderStateMachine.TargetState, _ since: UTCTimestamp?) -> Void

  package let name: String
  /// Begins to report states. What it returns keeps that going.
  package let watch: @Sendable (@escaping Report) -> any Sendable
  /// Makes a diagnosis whose evidence comes from there.
  package let diagnosis: @Sendable (DiagnosisConfiguration, any EvidenceSource) -> Diagnosis

  package init(
    name: String, watch: @escaping @Sendable (@escaping Report) -> any Sendable,
    diagnosis: @escaping @Sendable (DiagnosisConfiguration, any EvidenceSource) -> Diagnosis
  ) {
    self.name = name
    self.watch = watch
    self.diagnosis = diagnosis
  }

  /// A target that packets can reach or not, as the kernel says.
  package init(
    name: String, _ target: ReachabilityTarget, environment: ReachabilityEnvironment = .system
  ) {
    self.init(name: name) { report in
      ReachabilityMonitor(target, environment: environment).observe { state in
        report(RecorderStateMachine.TargetState(state), state.timestamp)
      }
    } diagnosis: { configuration, evidence in
      Diagnosis(of: target, configuration: configuration, environment: evidence)
    }
  }
}

extension RecorderStateMachine.TargetState {
  /// A name that cannot be looked up is an outage, too: nobody knows where to send.
  package init(_ state: Reachability) {
    switch state.status {
    case .reachable: self = .up(words: state.description)
    case .unreachable, .requiresConnection: self = .down(reason: state.reason?.identifier, words: state.description)
    case .undetermined:
      self =
        state.reason == .nameNotResolved
        ? .down(reason: state.reason?.identifier, words: state.description)
        : .unknown(reason: state.reason?.identifier)
    }
  }
}

extension NetworkSummary {
  package init(_ path: NetworkPath) {
    let first = path.status == .satisfied ? path.interfaces.first : nil
    self.init(
      status: path.status.identifier, interface: first?.name, kind: first?.kind.identifier,
      reason: path.reason?.identifier)
  }
}

/// The evidence that a recorder may look for.
///
/// Unless somebody says otherwise, nothing goes beyond the router except what the target's own monitor sends: lookups
/// of its name, and checks of a site.
package struct RecorderEvidence: EvidenceSource {
  package enum Scope: Sendable {
    /// What the kernel knows. Nothing is sent.
    case kernel
    /// The same, and what the kernel learns of neighbours while others send.
    case passive
    case upToRouter
    case beyondRouter
  }

  private let source: any EvidenceSource
  private let scope: Scope

  package init(_ source: any EvidenceSource, _ scope: Scope) {
    self.source = source
    self.scope = scope
  }

  package func findings(for question: DiagnosisQuestion, in inquiry: DiagnosisInquiry) async -> [Finding] {
    if scope == .passive, question == .neighbours { return await Self.neighbours(inquiry) }
    if !allows(question, inquiry.subject) { return [.unasked(question.kind, nil, .notWanted)] }
    let findings = await source.findings(for: question, in: inquiry)
    return scope == .passive ? Self.ofOpenFamilies(findings) : findings
  }

  private func allows(_ question: DiagnosisQuestion, _ subject: DiagnosisSubject) -> Bool {
    switch (scope, question) {
    case (.beyondRouter, _), (_, .way): true
    // An address is its own answer. For the Internet, nobody has asked for a name.
    case (.kernel, .names), (.passive, .names): subject.isAddress
    case (.upToRouter, .names): subject.goal != .internet
    case (.upToRouter, .neighbours): true
    case (.upToRouter, .connections), (.upToRouter, .exchange), (.upToRouter, .proxy): subject.goal == .site
    default: false
    }
  }

  /// Leaves out a family that no packet can leave by, unless none can: the target is reached by the other one.
  private static func ofOpenFamilies(_ findings: [Finding]) -> [Finding] {
    let ways = findings.compactMap { if case .kernel(let kernel) = $0 { kernel } else { nil } }
    let closed = Set(ways.filter(\.isFault).map(\.target.family))
    if closed.isSuperset(of: ways.map(\.target.family)) { return findings }
    return findings.filter { if case .kernel(let kernel) = $0 { !closed.contains(kernel.target.family) } else { true } }
  }

  /// How often the kernel is looked at, a tenth of a second apart: it gives a neighbour up after three (arp(7)).
  private static let looks = 36

  /// Nothing is sent: what the target was sent has the kernel ask.
  private static func neighbours(_ inquiry: DiagnosisInquiry) async -> [Finding] {
    var ways = inquiry.openWays
    do {
      for _ in 0..<looks {
        if try !look(&ways) { break }
        try await Task.sleep(for: .milliseconds(100))
      }
    } catch {
      // The kernel refuses, or nobody wants to know any more.
      return []
    }
    return ways.map { .kernel(KernelFinding(.neighbour(KernelFindings.neighbour($0.neighbour)), $0)) }
  }

  /// Returns whether the kernel is still finding out.
  private static func look(_ ways: inout [KernelEvidence]) throws(ReachabilityError) -> Bool {
    let witness = try KernelWitness()
    var isOpen = false
    for index in ways.indices {
      guard let neighbour = ways[index].neighbour, neighbour.isResolved, let link = ways[index].link else { continue }
      let state = witness.neighbourState(neighbour.address, link: link.index)
      ways[index].neighbour?.state = state
      if let state, !state.isDisjoint(with: [.incomplete, .delay, .probe]) { isOpen = true }
    }
    return isOpen
  }
}
