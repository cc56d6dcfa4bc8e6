// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// What was found out about a name. Plain values, which tests make by hand.
struct NameEvidence: Equatable, Sendable {
  /// Where addresses come from.
  enum Source: String, Sendable {
    /// The target is an address.
    case literal
    /// hosts(5).
    case hosts
    /// A name server.
    case dns
    /// The system's resolver, by something else than the two.
    case system
  }

  /// How a name server answered one question.
  enum Reply: Equatable, Sendable {
    case answer(DNSMessage.ResponseCode, [IPAddress])
    /// It could not be asked: an ICMP message, or the kernel, says why.
    case refused(String)
    /// This machine's own firewall did not let the question out (EPERM), or the answer in.
    case forbidden
    /// The answer does not fit into a datagram, and has to be asked for over TCP (RFC 1035, 4.2.1).
    case truncated
    case silent

    var addresses: [IPAddress] { if case .answer(_, let addresses) = self { addresses } else { [] } }
    var code: DNSMessage.ResponseCode? { if case .answer(let code, _) = self { code } else { nil } }
  }

  /// What one name server said.
  struct Server: Equatable, Sendable {
    var address: IPAddress
    /// By the type of record that was asked for.
    var ipv4: Reply?
    var ipv6: Reply?
    /// What it says of a name that cannot exist (`.invalid`, RFC 6761, 6.4).
    var control: Reply?
    var milliseconds: Double?

    var replies: [Reply] { [ipv4, ipv6].compactMap(\.self) }
    var addresses: [IPAddress] { replies.flatMap(\.addresses) }
    var hasAnswered: Bool { replies.contains { $0.code != nil } || needsTCP }
    /// Whether what it knows is to be had over TCP alone.
    var needsTCP: Bool { addresses.isEmpty && replies.contains(.truncated) }
    /// Whether it says that the name does not exist, or has no address.
    var saysUnknown: Bool {
      !needsTCP && addresses.isEmpty && replies.contains { $0.code == .nameError || $0.code == .success }
    }
    /// Whether it answers that it does not want to, or cannot, look the name up.
    var saysNo: Bool { hasAnswered && addresses.isEmpty && !saysUnknown && !needsTCP }
  }

  var name: String
  var source: Source = .dns
  /// The name with the search domain for which there was an answer.
  var foundAs: String?
  var tried: [String] = []
  var servers: [Server] = []
  /// The name's addresses, in the order in which programs get them.
  var addresses: [IPAddress] = []
  /// Whether only the root was asked for, to see whether the servers answer at all.
  var isRootOnly = false
  /// Whether the time was up before a server had its time to answer, so that silence says nothing.
  var isHurried = false
}

/// The rule about the target's name. Pure.
enum NameStep {
  /// The key of the servers that were asked in vain, if no server has answered.
  static let unansweredKey = "unanswered"

  static func step(_ evidence: NameEvidence) -> DiagnosisStep {
    let facts = facts(evidence)
    func step(
      _ outcome: DiagnosisStep.Outcome, _ text: String, _ cause: DiagnosisCause? = nil,
      _ confidence: DiagnosisConfidence = .certain, _ advice: String? = nil
    ) -> DiagnosisStep {
      DiagnosisStep(
        .name, outcome, text, evidence: facts, cause: cause, confidence: confidence, advice: advice)
    }
    switch evidence.source {
    case .literal: return step(.skipped, "\(evidence.name) is an address")
    case .hosts:
      return step(.ok, "\(evidence.name) is \(list(evidence.addresses)), by /etc/hosts")
    case .system:
      return step(.ok, "\(evidence.name) is \(list(evidence.addresses)), by the system's resolver")
    case .dns: break
    }
    let servers = evidence.servers
    let silent = servers.filter { server in !server.replies.isEmpty && server.replies.allSatisfy { $0 == .silent } }
    let names = list(servers.map(\.address))
    let advice = "Set another name server in /etc/resolv.conf, or restart \(names)."
    if evidence.isRootOnly {
      if servers.contains(where: \.hasAnswered) {
        guard let first = silent.first else { return step(.ok, "\(names) \(verb(servers.count, "answers"))") }
        return step(
          .doubtful, "the name server \(first.address) does not answer, and another does", .nameServerSilent, .likely,
          advice)
      }
    } else if let found = servers.first(where: { !$0.addresses.isEmpty }) {
      return foundStep(evidence, found, silent, step)
    }
    let refusals = servers.compactMap { server in
      server.replies.compactMap { reply in if case .refused(let words) = reply { words } else { nil } }.first
        .map { "\(server.address): \($0)" }
    }
    if let unknown = servers.first(where: \.saysUnknown) {
      let code = unknown.replies.compactMap(\.code).first?.description ?? "no address"
      // libc believes the first server that answers.
      let confidence: DiagnosisConfidence = silent.isEmpty ? .certain : .likely
      let what = code == "NOERROR" ? "has no address" : "does not exist"
      return step(
        .fault, "\(evidence.name) \(what), says the name server \(unknown.address) (\(code))", .nameUnknown,
        confidence, "Check the spelling of \(evidence.name), and the search domains in /etc/resolv.conf.")
    }
    if let long = servers.first(where: \.needsTCP) {
      return step(
        .fault, "the name server \(long.address) wants to be asked over TCP, and that leads to no answer",
        .nameServerRefuses, .likely, "See what filters TCP to port 53 of \(long.address).")
    }
    if let no = servers.first(where: \.saysNo) {
      let code = no.replies.compactMap(\.code).first?.description ?? "an error"
      return step(.fault, "the name server \(no.address) answers \(code)", .nameServerRefuses, .certain, advice)
    }
    if !servers.isEmpty, servers.allSatisfy({ $0.replies.contains(.forbidden) }) {
      return step(
        .fault, "this machine's own firewall lets no question out to \(names), or no answer in", .localFirewall,
        .certain,
        "See what this machine's own firewall has: nft list ruleset")
    }
    // If one refuses and another is silent, programs wait for the silent one.
    if !refusals.isEmpty, silent.isEmpty {
      return step(
        .fault, "no name server can be asked: \(refusals.joined(separator: "; "))", .nameServerRefuses, .certain,
        advice)
    }
    if evidence.isHurried { return step(.skipped, DiagnosisRules.timeIsUp) }
    if servers.isEmpty { return step(.skipped, "there is no name server to ask") }
    let isOne = servers.count == 1
    return step(
      .fault, "\(isOne ? "the name server" : "the name servers") \(names) \(isOne ? "does" : "do") not answer",
      .nameServerSilent, .likely, advice)
  }

  private static func foundStep(
    _ evidence: NameEvidence, _ found: NameEvidence.Server, _ silent: [NameEvidence.Server],
    _ step: (DiagnosisStep.Outcome, String, DiagnosisCause?, DiagnosisConfidence, String?) -> DiagnosisStep
  ) -> DiagnosisStep {
    let who = "\(evidence.foundAs ?? evidence.name) is \(list(found.addresses)), by \(found.address)"
    let control = found.control?.addresses ?? []
    if !control.isEmpty, found.addresses.allSatisfy({ control.contains($0) }) {
      return step(
        .fault,
        "\(found.address) gives \(evidence.name) the address \(list(found.addresses)), and so a name that cannot exist",
        .nameHijacked, .certain, "Log in to the network in a browser, or set another name server in /etc/resolv.conf.")
    }
    if found.addresses.allSatisfy({ $0.isUnspecified }) {
      return step(
        .fault, "\(found.address) gives \(evidence.name) the address \(list(found.addresses)): a filter does that",
        .nameHijacked, .certain, "See whether a filter of names blocks \(evidence.name).")
    }
    if let first = evidence.servers.first, first.address != found.address, first.saysUnknown {
      let answers = "\(first.address) says that \(evidence.name) does not exist, and \(found.address) knows it"
      return step(
        .fault, "\(answers); programs believe the first",
        .nameUnknown, .likely, "Put a server that knows \(evidence.name) first in /etc/resolv.conf.")
    }
    if let late = silent.first {
      return step(
        .doubtful, "\(who); \(late.address) does not answer, so that lookups may take long", .nameServerSilent,
        .likely,
        "Take \(late.address) out of /etc/resolv.conf.")
    }
    if found.replies.contains(.silent) {
      let type = found.ipv6 == .silent ? "AAAA" : "A"
      return step(
        .doubtful, "\(who); it does not answer for \(type) records, so that lookups may take long", .nameServerSilent,
        .likely, "Set another name server than \(found.address) in /etc/resolv.conf.")
    }
    let time = found.milliseconds.map { " in \(Int($0.rounded())) ms" } ?? ""
    if !control.isEmpty {
      return step(
        .doubtful, "\(who)\(time); it gives a name that cannot exist the address \(list(control))", nil, .unknown, nil)
    }
    return step(.ok, who + time, nil, .certain, nil)
  }

  private static func verb(_ count: Int, _ word: String) -> String { count == 1 ? word : String(word.dropLast()) }

  static func list(_ addresses: [IPAddress]) -> String {
    var seen: [String] = []
    for address in addresses.map(\.description) where !seen.contains(address) { seen.append(address) }
    let shown = seen.prefix(4).joined(separator: ", ")
    return seen.count > 4 ? "\(shown) and \(seen.count - 4) more" : shown
  }

  private static func facts(_ evidence: NameEvidence) -> [DiagnosisEvidence] {
    func words(_ reply: NameEvidence.Reply?) -> String {
      switch reply {
      case nil: "not asked"
      case .answer(let code, let addresses)?: addresses.isEmpty ? code.description : list(addresses)
      case .refused(let words)?: words
      case .forbidden?: "forbidden by this machine"
      case .truncated?: "wants TCP"
      case .silent?: "silent"
      }
    }
    return [
      DiagnosisEvidence("name", evidence.name), DiagnosisEvidence("source", evidence.source.rawValue),
      DiagnosisEvidence("foundAs", evidence.foundAs), DiagnosisEvidence("tried", list: evidence.tried),
      DiagnosisEvidence("addresses", list: evidence.addresses.map(\.description)),
      DiagnosisEvidence(
        "servers",
        list: evidence.servers.map { server in
          let time = server.milliseconds.map { " in \(Int($0.rounded())) ms" } ?? ""
          return "\(server.address): A \(words(server.ipv4)); AAAA \(words(server.ipv6))\(time)"
        }),
      DiagnosisEvidence(
        unansweredKey,
        list: evidence.addresses.isEmpty && !evidence.servers.contains(where: \.hasAnswered)
          ? evidence.servers.map(\.address.description) : []),
      DiagnosisEvidence("control", list: evidence.servers.map { "\($0.address): \(words($0.control))" }),
    ]
  }
}
