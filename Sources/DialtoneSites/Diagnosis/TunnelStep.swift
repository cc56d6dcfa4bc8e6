// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import Netlink

/// What was found out about the tunnel that the packets leave by.
struct TunnelEvidence: Equatable, Sendable {
  /// What this machine knows of the other end.
  enum Peer: Equatable, Sendable {
    /// The kernel says nothing of such a tunnel.
    case unknown
    /// It tells only a process with CAP_NET_ADMIN.
    case denied
    /// No peer takes packets for the target.
    case none
    /// The peer, when it last agreed on keys, in seconds ago, and how the way to it is; `nil` for never.
    case known(endpoint: String?, handshakeAge: Int64?, beneath: DiagnosisStep?)
  }

  var link: String
  var kind: String
  var peer: Peer
}

/// The rule about a tunnel. Pure.
enum TunnelStep {
  /// REJECT_AFTER_TIME of WireGuard: keys that are older are not used any more (wireguard.com/protocol).
  private static let handshakeLimit: Int64 = 180

  static func step(_ evidence: TunnelEvidence, family: IPAddress.Family) -> DiagnosisStep {
    var facts = [DiagnosisEvidence("interface", evidence.link), DiagnosisEvidence("kind", evidence.kind)]
    func step(
      _ outcome: DiagnosisStep.Outcome, _ text: String, _ cause: DiagnosisCause? = nil,
      _ confidence: DiagnosisConfidence = .likely, _ advice: String? = nil
    ) -> DiagnosisStep {
      DiagnosisStep(
        .tunnel, family: family, outcome, text, evidence: facts, cause: cause, confidence: confidence, advice: advice)
    }
    switch evidence.peer {
    case .unknown: return step(.skipped, "\(evidence.link) is a tunnel, and the kernel does not know its other end")
    case .denied:
      return step(.skipped, "the other end of \(evidence.link) cannot be seen without CAP_NET_ADMIN")
    case .none:
      return step(
        .fault, "no peer of \(evidence.link) takes packets for the target", .tunnelSilent, .certain,
        "Add the target to the allowed addresses of a peer: wg show \(evidence.link)")
    case .known(let endpoint, let age, let beneath):
      facts += [
        DiagnosisEvidence("endpoint", endpoint), DiagnosisEvidence("handshakeAgeSeconds", number: age),
        DiagnosisEvidence("beneath", beneath?.text),
      ]
      if let beneath, beneath.outcome == .fault {
        return step(
          .fault, "beneath \(evidence.link): \(beneath.text)", beneath.cause, beneath.confidence, beneath.advice)
      }
      guard let endpoint else {
        return step(.doubtful, "the peer of \(evidence.link) has no endpoint: it has to begin", .tunnelSilent, .likely)
      }
      guard let age else {
        return step(
          .doubtful, "the peer \(endpoint) of \(evidence.link) has never answered", .tunnelSilent, .likely,
          "Check the keys and the endpoint: wg show \(evidence.link)")
      }
      if age > handshakeLimit {
        return step(.doubtful, "the peer \(endpoint) of \(evidence.link) last answered \(age) s ago")
      }
      return step(.ok, "the peer \(endpoint) of \(evidence.link) answered \(age) s ago")
    }
  }
}
