// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneSites

/// Tries the proxy that other programs would use. Belongs to one thread.
struct ProxyProbe {
  private let inquiry: DiagnosisInquiry
  private let patience: Patience

  init(_ inquiry: DiagnosisInquiry, _ patience: Patience) {
    self.inquiry = inquiry
    self.patience = patience
  }

  func finding(_ witness: KernelWitness) -> Finding {
    guard let url = inquiry.subject.url else { return .unasked(.proxy, nil, .notNeeded) }
    let variable = url.isSecure ? "https_proxy" : "http_proxy"
    do throws(SiteError) {
      guard let server = try ProxySettings.environment.proxy(for: url) else {
        return .unasked(.proxy, nil, .notNeeded)
      }
      return .proxy(finding(variable, server, witness))
    } catch {
      return .proxy(ProxyFinding(variable: variable, server: "", .unreadable))
    }
  }

  private func finding(_ variable: String, _ server: ProxyServer, _ witness: KernelWitness) -> ProxyFinding {
    var addresses: [IPAddress] = []
    let text: String
    switch server.host {
    case .address(let address):
      addresses = [address.unmapped]
      text = Words.endpoint(address, server.port)
    case .name(let name):
      text = "\(name.text):\(server.port)"
      let names = NameInquiry(configuration: ResolverConfiguration(), patience: patience) { server in
        witness.evidence(server, inquiry.path(.udp, port: 53))
      }
      let found = names.evidence(name.ascii, families: inquiry.families)
      addresses = found.addresses
      if addresses.isEmpty, !found.isHurried {
        return ProxyFinding(
          variable: variable, server: text,
          found.servers.contains(where: \.saysUnknown) ? .unknownName : .unansweredName)
      }
    }
    if addresses.isEmpty || patience.isOver { return ProxyFinding(variable: variable, server: text, .notTried) }
    let connector = Connector(Array(addresses.prefix(2)), ports: [server.port], interface: nil, patience)
    connector.wait(upTo: 2_000) { connector.isConnected(.ipv4) || connector.isConnected(.ipv6) }
    let attempts = connector.results(.ipv4) + connector.results(.ipv6)
    return ProxyFinding(variable: variable, server: text, outcome(attempts))
  }

  private func outcome(_ attempts: [ConnectionFinding.Attempt]) -> ProxyFinding.Outcome {
    if attempts.contains(where: \.isAccepted) { return .connects }
    for attempt in attempts {
      switch attempt.outcome {
      case .reset: return .reset
      case .refused(let statement): return .unreachable(statement)
      case .failed(let errno): return .failed(errno)
      case .silent, .accepted: continue
      }
    }
    return patience.isOver ? .notTried : .silent
  }
}
#endif
