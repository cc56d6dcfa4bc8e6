// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// What came of connecting to the addresses of one family. Plain values, which tests make by hand.
struct ConnectEvidence: Equatable, Sendable {
  /// Who refused a packet by an ICMP message.
  struct Refusal: Equatable, Sendable {
    var offender: IPAddress
    /// Whether this machine says so itself.
    var isOwn: Bool
    /// That nobody on the link has the address (host or address unreachable).
    var isHostUnreachable: Bool
    /// That a filter forbids it (administratively prohibited).
    var isProhibition: Bool
    /// That nothing listens on the port.
    var isPortUnreachable: Bool
    var words: String
  }

  enum Result: Equatable, Sendable {
    case connected(milliseconds: Double)
    /// A TCP segment with RST.
    case reset
    case refusal(Refusal)
    /// connect(2) failed at once.
    case failed(errno: Int32, words: String)
    case silent
  }

  struct Attempt: Equatable, Sendable {
    var address: IPAddress
    var port: UInt16
    var result: Result
    /// Whether the first segment was seen to leave this machine; `nil` if that cannot be seen.
    var hasLeft: Bool?
    /// Whether a segment came back; `nil` if that cannot be seen.
    var hasReturned: Bool?
    /// The interface by which it came back, if the first segment left by another.
    var otherWay: String?

    /// Whether the system has taken it, so that a segment should have left.
    var isAtLarge: Bool { if case .failed = result { false } else { true } }
  }

  var attempts: [Attempt] = []
  /// Whether the target has no port of its own, so that any answer shows that it is there.
  var isAnyPort = false
  /// Whether this machine itself refused a datagram to the target (EPERM: netfilter's verdict).
  var isDatagramForbidden = false
  /// Whether the time was up before the target had its time to answer, so that silence says nothing.
  var isHurried = false
  /// What the packets go to first, if it is a gateway.
  var gateway: IPAddress?
  /// What was found of it in the end: whether the kernel has given it up.
  var isNeighbourFailed = false
  /// The tunnel that the packets leave by.
  var tunnel: String?
  /// Whether something beyond the tunnel has answered.
  var hasTunnelAnswered = false

  var isConnected: Bool {
    attempts.contains { attempt in
      if case .connected = attempt.result { return true }
      return isAnyPort && attempt.result == .reset && attempt.hasReturned != false
    }
  }
}

/// The rule about a connection to the target in one family. Pure.
enum ConnectStep {
  static func step(_ evidence: ConnectEvidence, family: IPAddress.Family) -> DiagnosisStep {
    let facts = facts(evidence)
    func step(
      _ outcome: DiagnosisStep.Outcome, _ text: String, _ cause: DiagnosisCause? = nil,
      _ confidence: DiagnosisConfidence = .certain, _ advice: String? = nil
    ) -> DiagnosisStep {
      DiagnosisStep(
        .connect, family: family, outcome, text, evidence: facts, cause: cause, confidence: confidence, advice: advice)
    }
    for attempt in evidence.attempts {
      guard case .connected(let milliseconds) = attempt.result else { continue }
      let failed = evidence.attempts.filter { if case .connected = $0.result { false } else { true } }
      let text = "\(endpoint(attempt)) answers in \(time(milliseconds))"
      if failed.isEmpty || evidence.isAnyPort { return step(.ok, text) }
      return step(.ok, "\(text); \(failed.map(endpoint).joined(separator: ", ")) does not")
    }
    if evidence.isAnyPort,
      let refused = evidence.attempts.first(where: { $0.result == .reset && $0.hasReturned != false })
    {
      return step(.ok, "\(refused.address) is there: it refuses connections itself")
    }
    guard let attempt = evidence.attempts.max(by: { weight($0) < weight($1) }) else {
      return step(.skipped, "there is no address to connect to")
    }
    let firewall = "See what this machine's own firewall has: nft list ruleset"
    if attempt.hasLeft == false, attempt.isAtLarge {
      return step(
        .fault, "packets to \(endpoint(attempt)) do not leave this machine: its own firewall stops them",
        .localFirewall, .certain, firewall)
    }
    switch attempt.result {
    case .connected: return step(.ok, endpoint(attempt))
    case .reset:
      if attempt.hasReturned == false {
        return step(
          .fault, "this machine's own firewall refuses \(endpoint(attempt))", .localFirewall, .certain, firewall)
      }
      return step(
        .fault, "\(attempt.address) refuses connections to port \(attempt.port)", .refused, .certain,
        "Start the service on \(attempt.address), or check the port.")
    case .refusal(let refusal): return refused(attempt, refusal, evidence, firewall, step)
    case .failed(let errno, let words):
      if errno == 1 || errno == 13 {  // EPERM, EACCES
        return step(
          .fault, "this machine itself forbids connections to \(endpoint(attempt)): \(words)", .localFirewall, .certain,
          firewall)
      }
      // ENETUNREACH, EHOSTUNREACH. Others are about this machine, such as a lack of ports, and no cause is named.
      let cause: DiagnosisCause? = errno == 101 || errno == 113 ? .noRoute : nil
      return step(
        .fault, "connecting to \(endpoint(attempt)) fails at once: \(words)", cause, cause == nil ? .unknown : .likely)
    case .silent: return silent(attempt, evidence, firewall, step)
    }
  }

  private typealias Maker = (DiagnosisStep.Outcome, String, DiagnosisCause?, DiagnosisConfidence, String?) ->
    DiagnosisStep

  private static func refused(
    _ attempt: ConnectEvidence.Attempt, _ refusal: ConnectEvidence.Refusal, _ evidence: ConnectEvidence,
    _ firewall: String, _ step: Maker
  ) -> DiagnosisStep {
    if refusal.isOwn {
      guard refusal.isHostUnreachable else {
        return step(
          .fault, "this machine's own firewall refuses \(endpoint(attempt)): \(refusal.words)", .localFirewall,
          .certain, firewall)
      }
      if let gateway = evidence.gateway {
        return step(
          .fault, "the router \(gateway) does not answer", .gatewaySilent, .certain,
          "Switch the router \(gateway) on, or check its address.")
      }
      return step(
        .fault, "\(attempt.address) does not answer on the link", .silent, .certain,
        "Switch \(attempt.address) on, or check its address.")
    }
    if refusal.offender == attempt.address, refusal.isPortUnreachable {
      return step(
        .fault, "\(attempt.address) refuses connections to port \(attempt.port)", .refused, .certain,
        "Start the service on \(attempt.address), or check the port.")
    }
    return step(
      .fault, "\(refusal.offender) says: \(refusal.words)", .prohibited, .certain,
      "Ask whoever runs \(refusal.offender) why it refuses \(endpoint(attempt)).")
  }

  private static func silent(
    _ attempt: ConnectEvidence.Attempt, _ evidence: ConnectEvidence, _ firewall: String, _ step: Maker
  ) -> DiagnosisStep {
    if let other = attempt.otherWay {
      let answers = "\(endpoint(attempt)) answers by \(other), while packets leave by another interface"
      return step(
        .fault, "\(answers), and this machine drops the answers",
        .localFirewall, .likely,
        "Let packets leave by \(other), or see rp_filter: sysctl net.ipv4.conf.\(other).rp_filter")
    }
    if attempt.hasReturned == true {
      return step(
        .fault, "\(endpoint(attempt)) answers, and this machine's own firewall drops the answers", .localFirewall,
        .certain, firewall)
    }
    if evidence.isDatagramForbidden, attempt.hasLeft == nil {
      return step(
        .fault, "this machine's own firewall drops packets to \(attempt.address)", .localFirewall, .likely, firewall)
    }
    if evidence.isNeighbourFailed, let gateway = evidence.gateway {
      return step(
        .fault, "the router \(gateway) does not answer any more", .gatewaySilent, .certain,
        "Switch the router \(gateway) on, or check its address.")
    }
    if evidence.isHurried { return step(.skipped, DiagnosisRules.timeIsUp, nil, .unknown, nil) }
    if let tunnel = evidence.tunnel, !evidence.hasTunnelAnswered {
      return step(
        .fault, "nothing answers through the tunnel \(tunnel)", .tunnelSilent, .likely,
        "Restart the tunnel \(tunnel), and check its other end.")
    }
    let view =
      attempt.hasLeft == true
      ? "the packets leave this machine"
      : "whether this machine's own firewall drops them cannot be seen without CAP_NET_RAW"
    return step(
      .fault, "\(endpoint(attempt)) does not answer, and nobody says why; \(view)", .silent, .likely,
      "Ask whoever runs \(attempt.address) whether it is on, and what filters packets before it.")
  }

  /// How much an attempt says: who refuses says more than who is silent.
  private static func weight(_ attempt: ConnectEvidence.Attempt) -> Int {
    switch attempt.result {
    case .connected: 4
    case .refusal: 3
    case .reset: 2
    case .failed: 1
    case .silent: 0
    }
  }

  private static func endpoint(_ attempt: ConnectEvidence.Attempt) -> String {
    attempt.address.family == .ipv6 ? "[\(attempt.address)]:\(attempt.port)" : "\(attempt.address):\(attempt.port)"
  }

  private static func time(_ milliseconds: Double) -> String {
    milliseconds < 10 ? "\((milliseconds * 10).rounded() / 10) ms" : "\(Int(milliseconds.rounded())) ms"
  }

  private static func facts(_ evidence: ConnectEvidence) -> [DiagnosisEvidence] {
    let attempts = evidence.attempts.map { attempt in
      let result =
        switch attempt.result {
        case .connected(let milliseconds): "connected in \(time(milliseconds))"
        case .reset: "reset"
        case .refusal(let refusal): "\(refusal.isOwn ? "this machine" : "\(refusal.offender)"): \(refusal.words)"
        case .failed(_, let words): words
        case .silent: "silent"
        }
      return "\(endpoint(attempt)): \(result)"
    }
    return [
      DiagnosisEvidence("attempts", list: attempts),
      DiagnosisEvidence("hasLeft", flag: evidence.attempts.first { $0.hasLeft != nil }?.hasLeft),
      DiagnosisEvidence("hasReturned", flag: evidence.attempts.first { $0.hasReturned != nil }?.hasReturned),
      DiagnosisEvidence("isDatagramForbidden", flag: evidence.isDatagramForbidden),
      DiagnosisEvidence("gateway", evidence.gateway?.description), DiagnosisEvidence("tunnel", evidence.tunnel),
    ]
  }
}
