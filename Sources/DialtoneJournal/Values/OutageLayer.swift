// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
package import DialtoneDiagnosis
internal import DialtoneSites

/// Where the nearest cause of an outage lies.
package enum OutageLayer: String, CaseIterable, Sendable {
  case machine
  case link
  case router
  case provider
  case nameServer = "name-server"
  case site
  case unknown

  package var words: String {
    switch self {
    case .machine: "this machine"
    case .link: "the link"
    case .router: "the router"
    case .provider: "the provider"
    case .nameServer: "the name server"
    case .site: "the site"
    case .unknown: "not known"
    }
  }

  /// The layer of what a diagnosis has found. Nobody answering is the site's affair if somebody else beyond the router
  /// answers.
  package init(_ verdict: DiagnosisVerdict) {
    guard let cause = verdict.cause else {
      self = .unknown
      return
    }
    self.init(cause)
    let isSilence = [DiagnosisCause.silent, .addressDead, .unreliable].contains(cause)
    if isSilence, verdict.steps.contains(where: { $0.kind == .beyond && $0.outcome == .ok }) { self = .site }
    if cause == .unreliable, verdict.steps.contains(where: { $0.kind == .name && $0.cause == cause }) {
      self = .nameServer
    }
    if self == .provider, isSilence || cause == .prohibited { self = Self.near(verdict.findings) ?? .provider }
  }

  /// Where silence comes from if no router is on the way.
  private static func near(_ findings: [Finding]) -> OutageLayer? {
    var layer: OutageLayer?
    for case .kernel(let finding) in findings {
      switch finding.result {
      case .link(.loopback): return .machine
      case .route(.leads(gateway: nil, interface: _)): layer = .site
      case .route(.leads): return nil
      default: continue
      }
    }
    return layer
  }

  package init(_ cause: DiagnosisCause) {
    switch cause {
    case .noCarrier, .dormant, .noSession, .noInterface, .duplicateAddress: self = .link
    case .linkDown, .radioBlocked, .noAddress, .noRoute, .routeRefuses, .ruleRefuses, .routeDead, .localFirewall,
      .clockWrong, .loopbackDown, .nameWrong:
      self = .machine
    case .gatewaySilent: self = .router
    case .routerNoRoute, .uplinkDown, .pathMTU, .prohibited, .silent, .familyBroken, .captivePortal, .tunnelSilent,
      .unreliable, .routingLoop, .proxyUnreachable, .proxyRefuses:
      self = .provider
    case .nameServerSilent, .nameServerRefuses, .nameUnknown, .nameHijacked: self = .nameServer
    case .refused, .tlsCertificate, .siteFault, .hostAbsent, .addressDead: self = .site
    default: self = .unknown
    }
  }

  /// The layer of the kernel's reason or a site's verdict alone, before anything was explained.
  package init(reason: String?) {
    switch reason.flatMap({ Reachability.Reason(identifier: $0) })?.meaning {
    case .unconnected?, .missingLink?: self = .link
    case .switchedOff?, .unconfigured?, .forbidden?: self = .machine
    case .unknownName?: self = .nameServer
    case .denial?: self = .unknown
    case nil where reason == "connection-refused" || reason?.hasPrefix("certificate-") ?? false: self = .site
    case nil:
      switch reason.flatMap({ SiteVerdict.Kind(identifier: $0) }) {
      case .captivePortal?, .intercepted?: self = .provider
      case let kind: self = kind?.answerer == .site ? .site : .unknown
      }
    }
  }
}
