// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// What was found out about the proxy that other programs would use.
struct ProxyEvidence: Equatable, Sendable {
  enum Result: Equatable, Sendable {
    case connected
    case unknownName
    /// No name server answers for it.
    case unansweredName
    case silent
    case failed(String)
    /// The variable has no URL that could be read.
    case unreadable(String)
    case notTried
  }

  /// The variable of the environment that names it.
  var variable: String
  /// Its host and port, without user and password.
  var server: String
  var result: Result
}

/// The rule about the proxy. Pure.
enum ProxyStep {
  static func step(_ evidence: ProxyEvidence?) -> DiagnosisStep {
    guard let evidence else {
      return DiagnosisStep(.proxy, .skipped, "the environment names no proxy")
    }
    let facts = [
      DiagnosisEvidence("variable", evidence.variable), DiagnosisEvidence("server", evidence.server),
    ]
    func fault(_ text: String, _ confidence: DiagnosisConfidence = .certain) -> DiagnosisStep {
      DiagnosisStep(
        .proxy, .fault, text, evidence: facts, cause: .proxyUnreachable, confidence: confidence,
        advice: "Start the proxy, or do without it: unset \(evidence.variable)")
    }
    let programs = "this check uses no proxy, and other programs would use \(evidence.server)"
    switch evidence.result {
    case .connected:
      return DiagnosisStep(.proxy, .ok, "\(programs), which takes connections", evidence: facts)
    case .notTried: return DiagnosisStep(.proxy, .skipped, "\(programs), which was not tried", evidence: facts)
    case .unknownName: return fault("\(programs), whose name does not exist")
    case .unansweredName: return fault("\(programs), for whose name no name server gives an address", .likely)
    case .silent: return fault("\(programs), which does not answer", .likely)
    case .failed(let words): return fault("\(programs), which does not work: \(words)")
    case .unreadable(let words): return fault("\(evidence.variable) cannot be read: \(words)")
    }
  }
}
