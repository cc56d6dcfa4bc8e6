// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone
internal import DialtoneSites

/// What a diagnosis asks a source of evidence.
public enum DiagnosisQuestion: Hashable, Sendable, CaseIterable {
  /// What the name servers say of the name.
  case names
  /// What the kernel knows of the way.
  case way
  /// Whether the neighbours that get packets first are there.
  case neighbours
  /// What is at the other end of tunnels.
  case tunnels
  /// Whether a network that wants a login answers in others' place.
  case portal
  /// Whether somebody beyond the router answers.
  case beyond
  /// Whether the target takes connections.
  case connections
  /// What the site answers.
  case exchange
  /// Whether the proxy that other programs use leads to the target.
  case proxy

  /// The step that is under way meanwhile.
  package var kind: DiagnosisStep.Kind {
    switch self {
    case .names: .name
    case .way: .link
    case .neighbours: .neighbour
    case .tunnels: .tunnel
    case .portal: .portal
    case .beyond: .beyond
    case .connections: .connect
    case .exchange: .http
    case .proxy: .proxy
    }
  }
}

/// What a source of evidence is asked about, and what is known so far.
public struct DiagnosisInquiry: Sendable {
  /// What the diagnosis is about.
  public let subject: DiagnosisSubject
  /// How it is made.
  public let configuration: DiagnosisConfiguration
  /// What was found so far.
  public let findings: [Finding]
  /// When the time is up, in nanoseconds of the system's clock.
  let deadline: Int64

  var families: [IPAddress.Family] { configuration.family.map { [$0] } ?? [.ipv4, .ipv6] }

  /// What is known of the name; `nil` before it was looked up.
  var name: NameFinding? { findings.lazy.compactMap(\.name).first }

  /// The target's addresses, in the order in which programs try them; none if they are not known.
  var addresses: [IPAddress] {
    if subject.goal == .internet { return [] }
    var known = name?.addresses ?? []
    if case .addresses(let system)? = name?.system, !system.isEmpty { known = system }
    if name == nil, case .address(let address)? = subject.host { known = [address] }
    // To a link-local address without its interface nothing is sent (ipv6(7)).
    known.removeAll { $0.family == .ipv6 && $0.isLinkLocal && $0.zone == nil }
    // Linux takes 0.0.0.0 and ::, which filters of names answer, for this machine itself.
    return known.filter { families.contains($0.family) }.map { address in
      let own = address.family == .ipv4 ? IPAddressBits(ipv4: 0x7F00_0001) : IPAddressBits(ipv6High: 0, low: 1)
      return address.isUnspecified ? IPAddress(own) : address
    }
  }

  /// What the kernel knows of the way, in each family that no fault stops.
  package var openWays: [KernelEvidence] {
    families.compactMap { family in
      let ofFamily = kernelFindings.filter { $0.target.family == family }
      return ofFamily.contains(where: \.stopsPackets) ? nil : ofFamily.last?.evidence
    }
  }

  /// Whether a fault is known in each family that has a way at all, so that nothing can be sent.
  var isCutOff: Bool { !kernelFindings.isEmpty && openFamilies.isEmpty }

  /// The families in which the kernel knows a way, and no fault.
  var openFamilies: Set<IPAddress.Family> {
    Set(kernelFindings.map(\.target.family)).subtracting(kernelFindings.filter(\.stopsPackets).map(\.target.family))
  }

  /// Of several routers that share the packets, one that is there is enough to send some.
  private var kernelFindings: [KernelFinding] {
    let neighbours = findings.filter { $0.step == .neighbour }.compactMap(\.kernel)
    let areThere = Set(neighbours.filter { !$0.isFault }.map(\.target.family))
    return findings.compactMap(\.kernel).filter { finding in
      !(finding.isFault && areThere.contains(finding.target.family) && neighbours.contains(finding))
    }
  }

  /// Whether a proxy has led to the site, no matter what the site said.
  var hasProxyDelivered: Bool { findings.proxy(.delivers) != nil }

  /// Whether a neighbour of a family is known from before, and nobody has been heard by it since.
  func isUnsure(_ family: IPAddress.Family) -> Bool {
    findings.contains { $0.family == family && $0.router != nil } && !findings.contains { $0.isHeard(family) }
  }

  /// Whether the neighbours have been asked for before, and the kernel was not sure of them.
  var isSecondLook: Bool { findings.contains { $0.kernel != nil && $0.step == .neighbour } }

  private var attempts: [ConnectionFinding.Attempt] { findings.compactMap(\.connection).flatMap(\.attempts) }

  var isConnected: Bool { attempts.contains(where: \.isAccepted) }

  /// Whether each connection took so long that a check, which needs several times that, is slow, too.
  var isSlow: Bool { attempts.compactMap(\.outcome.milliseconds).min().map { $0 >= 700 } ?? false }

  /// Whether the kernel may not be asked anything.
  var isKernelDenied: Bool {
    !kernelFindings.isEmpty && kernelFindings.allSatisfy { $0.result == .link(.denied) }
  }

  /// Whether a connection was made, or refused in a way that a portal would, or the kernel tells nothing.
  var mayExchange: Bool {
    isKernelDenied || attempts.contains { $0.isAccepted || $0.tries.contains(.reset) }
  }
}

/// Where a diagnosis has its findings from: the system, or your script.
public protocol EvidenceSource: Sendable {
  /// Finds the answer to a question. If the task is cancelled, as it is when the time is up, it returns at once what it
  /// has.
  ///
  /// - Parameters:
  ///   - question: What is asked.
  ///   - inquiry: What it is asked about.
  /// - Returns: What is found.
  func findings(for question: DiagnosisQuestion, in inquiry: DiagnosisInquiry) async -> [Finding]
}

/// Findings that you choose, to play a diagnosis in a test.
///
/// ```swift
/// let cable = KernelFinding(.link(.fails("eth0", .noCarrier, isNamed: true)), target: address)
/// let diagnosis = Diagnosis(environment: ScriptedEvidence([.kernel(cable)]))
/// #expect(try await diagnosis.verdict().cause == .noCarrier)
/// ```
public struct ScriptedEvidence: EvidenceSource {
  /// What is found. Each finding answers the question that it belongs to.
  public var findings: [Finding]
  /// Questions that get no answer until the time is up or the diagnosis is cancelled.
  public var hanging: Set<DiagnosisQuestion>

  /// Makes a script.
  public init(_ findings: [Finding], hanging: Set<DiagnosisQuestion> = []) {
    (self.findings, self.hanging) = (findings, hanging)
  }

  /// Returns the findings of your script that answer the question.
  public func findings(for question: DiagnosisQuestion, in inquiry: DiagnosisInquiry) async -> [Finding] {
    if hanging.contains(question) {
      await DiagnosisRun.pause(.nanoseconds(max(0, inquiry.deadline - TimeSource.system.now())))
      return [.unasked(question.kind, nil, .timeIsUp)]
    }
    return findings.filter { $0.question == question }
  }
}

extension Finding {
  /// The question that it answers; `nil` for what you have told.
  var question: DiagnosisQuestion? {
    switch self {
    case .kernel where step != .neighbour: .way
    case .largePackets: .connections
    case .site: .exchange
    default: DiagnosisQuestion.allCases.first { $0.kind == step }
    }
  }

  /// Whether somebody of a family has said anything, however bad, from beyond this machine.
  fileprivate func isHeard(_ family: IPAddress.Family) -> Bool {
    switch self {
    case .beyond(let beyond):
      return ![nil, .silent].contains(beyond.trace)
        || beyond.questions.contains { $0.server.family == family && $0.outcome != .silent && !$0.isHeld }
    case .name(let name):
      return name.servers.contains { server in
        server.address.family == family
          && server.replies.contains { reply in
            if case .refused(let statement) = reply { return !statement.isOwn }
            return server.hasAnswered || [.dropped, .mismatched].contains(reply)
          }
      }
    case .connection(let connection):
      return connection.family == family
        && connection.attempts.contains { attempt in
          if case .refused(let statement) = attempt.outcome { return !statement.isOwn }
          return attempt.isAccepted || attempt.outcome == .reset || attempt.sight?.hasReturned == true
        }
    case .site(let site): return site.usual.contains(where: SiteFinding.isAnswered)
    case .proxy(let proxy): return [.delivers, .connects].contains(proxy.outcome)
    case .portal(let portal): return portal.status != nil
    default: return false
    }
  }
}
