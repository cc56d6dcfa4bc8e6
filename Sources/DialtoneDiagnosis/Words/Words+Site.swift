// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites

/// The words of an exchange with the site, and of the proxy.
extension Words {
  func text(_ meaning: SiteMeaning, _ finding: SiteFinding) -> String {
    let verdict = SiteRules.judged(finding)
    let site = verdict.url.authority
    let reason = verdict.error?.message ?? "no reason is known"
    switch meaning {
    case .largePass: return "what the site sent came through"
    case .largeUntold: return "there was no exchange to tell by"
    case .smallFail: return "small packets get no answer either"
    case .largeVanish: return "large packets vanish on the way, and small ones pass"
    case .unreliable(let failures, let count): return "asking \(site) failed \(failures) of \(count) times"
    case .lossy(let count):
      return "\(count) packets to \(site) had to be sent again in one exchange: many are lost on the way"
    case .unconnected: return "the site \(site) took a connection at one time, and not at another: \(reason)"
    case .proven: return "the certificate proves that it is \(site)"
    case .plain: return "the URL is http"
    case .swallowed: return "the site \(site) takes the connection, and packets that follow vanish on the way"
    case .held:
      return "connections to \(site) are made, and what is to be sent on them does not leave this machine: its own "
        + "firewall or the like stops it"
    case .tlsStalled: return "the site \(site) takes the connection, and says nothing"
    case .tlsFails: return "setting up TLS with \(site) fails: \(reason)"
    case .trustUnreadable: return "this machine trusts nobody: \(reason)"
    case .certificate:
      let isOneOfMany = readings.contains { ($0.finding.name?.addresses.count ?? 0) > 1 }
      let place = isOneOfMany ? verdict.address.map { " at \($0)" } : nil
      return "the certificate of \(site)\(place ?? "") does not prove who it is: \(reason)"
    case .clock(let fault):
      let words =
        fault == .behind ? "it is behind this machine's own files" : "it is years ahead of this machine's own files"
      return "this machine's clock is wrong: \(words), and the certificate of \(site) seems to be out of date"
    case .noTLS: return "it did not come to TLS"
    case .answers(let status): return "\(site) answers\(status.map { " \($0)" } ?? "")"
    case .unexpected: return "\(site) answers\(verdict.status.map { " \($0)" } ?? ""): \(reason)"
    case .serverFault(let status): return "the site \(site) answers \(status): the fault is at its end"
    case .answeredForAll:
      return "somebody on the way answers \(verdict.status ?? 0) in place of \(site), as for an address that nobody has"
    case .loginWanted: return "the network says that it wants a login (status 511)"
    case .redirected: return "the answer of \(site) leads to another host, as a portal's does"
    case .stalled:
      return verdict.stage == .body
        ? "the site \(site) begins its answer, and does not go on"
        : "the site \(site) takes the request, and does not answer"
    case .malformed where verdict.error?.code == .headersTooLarge: return "the answer of \(site) is not read: \(reason)"
    case .malformed: return "the site \(site) gives no proper answer: \(reason)"
    case .http2Fails:
      return "the site \(site) works over HTTP/1.1, and fails over HTTP/2, which most programs prefer: \(reason)"
    case .noRequest: return "it did not come to a request"
    }
  }

  func text(_ proxy: ProxyFinding) -> String {
    if proxy.outcome == .unreadable { return "the proxy that \(proxy.variable) names cannot be read" }
    let who = "the proxy \(proxy.server), which other programs use (\(proxy.variable)),"
    return switch proxy.outcome {
    case .delivers: "\(who) leads to the target"
    case .connects: "\(who) takes connections"
    case .unresolved: "\(who) has a name that leads to no address"
    case .unreachable(let error): "\(who) cannot be used: \(error.message)"
    case .refuses(let error): "\(who) does not lead to the target: \(error.message)"
    case .unreadable, .notTried: "\(who) speaks what is not spoken here: whether it leads on is unknown"
    }
  }
}
