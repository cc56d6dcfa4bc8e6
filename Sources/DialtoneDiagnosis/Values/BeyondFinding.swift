// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
public import Dialtone

/// Whether somebody beyond the router answers, whatever names do: root servers of the DNS were asked for the root's own
/// name servers (RFC 9609).
public struct BeyondFinding: Hashable, Sendable {
  /// What came of one question.
  public enum Outcome: Hashable, Sendable {
    /// An answer that only a root server gives: with authority, without recursion, its time to live whole.
    case answer
    /// An answer that somebody on the way gave in its place.
    case forged
    /// An ICMP message came instead.
    case refused(NetworkStatement)
    /// The system could not send, for this errno(3).
    case failed(Int32)
    /// Nothing came.
    case silent
  }

  /// One server that was asked.
  public struct Question: Hashable, Sendable {
    /// The server.
    public let server: IPAddress
    /// What came of it.
    public let outcome: Outcome

    /// Makes a question.
    public init(_ server: IPAddress, _ outcome: Outcome) {
      (self.server, self.outcome) = (server, outcome)
    }
  }

  /// What came of connections to a root server, some of which die behind a few routers, as traceroute(8) has it.
  public enum Trace: Hashable, Sendable {
    /// Nobody beyond the router has said anything.
    case silent
    /// An ICMP message refused one of them.
    case refused(NetworkStatement)
    /// One router beyond the first has answered, and nobody behind it.
    case endsBehind(IPAddress)
    /// Several have, or the server itself: packets come far.
    case leadsOn(IPAddress)
  }

  /// What came of a connection to a root server that answers a question: programs need more than that.
  public enum Connection: String, Hashable, Sendable, CaseIterable {
    /// It answered a small question over one, and took a large one.
    case answered
    /// It answered a small one, and what fills a packet vanished.
    case largeVanishes
    /// It took a connection, and nothing came back of what was sent over it.
    case silent
    /// It took one, and that was reset or closed as soon as something was sent over it.
    case reset
    /// It took one, and nothing that is sent over it leaves this machine.
    case held
    /// One answered over one, and another did not.
    case unsteady
    /// None takes one, and those to the port of sites come as far as the server, and back.
    case otherPort
    /// None was answered, though packets of some get beyond the router.
    case leadsOn
    /// None gets beyond the router.
    case nothing
  }

  /// Who was asked, and what came of it.
  public let questions: [Question]
  /// How far packets come; `nil` if a root server answered before that was tried.
  public let trace: Trace?

  /// What came of a connection, too; `nil` if that was not tried.
  public let connection: Connection?
  /// What stops connections to the port of sites, which get less far than others; `nil` if nothing is known to.
  public var stopsSites: ConnectionFinding.Outcome?

  /// Makes a finding.
  public init(_ questions: [Question], trace: Trace? = nil, connection: Connection? = nil) {
    (self.questions, self.trace, self.connection) = (questions, trace, connection)
  }

  var hasAnswer: Bool { questions.contains { $0.outcome == .answer } }
}

extension BeyondFinding.Question {
  /// Whether nothing came of it, and no filter is known to be why.
  var isLost: Bool {
    switch outcome {
    case .silent: true
    case .refused(let statement): !statement.isOwn && statement.meaning != .prohibited
    default: false
    }
  }

  /// Whether it has not left this machine.
  var isHeld: Bool { if case .failed = outcome { true } else { isForbidden } }

  /// Whether this machine's own firewall says so: EPERM is netfilter's verdict on what is sent.
  var isForbidden: Bool {
    switch outcome {
    case .failed(let errno): errno == EPERM
    case .refused(let statement): statement.isOwn
    default: false
    }
  }
}

/// The root servers of the DNS, which the Internet itself runs: what is known of them by heart tells a lie.
enum RootServers {
  static let name = "a.root-servers.net"

  /// The addresses of all (IANA, root hints), a to m.
  static let addresses: [IPAddress.Family: [String]] = [
    .ipv4: [
      "198.41.0.4", "170.247.170.2", "192.33.4.12", "199.7.91.13", "192.203.230.10", "192.5.5.241", "192.112.36.4",
      "198.97.190.53", "192.36.148.17", "192.58.128.30", "193.0.14.129", "199.7.83.42", "202.12.27.33",
    ],
    .ipv6: [
      "2001:503:ba3e::2:30", "2801:1b8:10::b", "2001:500:2::c", "2001:500:2d::d", "2001:500:a8::e", "2001:500:2f::f",
      "2001:500:12::d0d", "2001:500:1::53", "2001:7fe::53", "2001:503:c27::2:30", "2001:7fd::1", "2001:500:9f::42",
      "2001:dc3::35",
    ],
  ]

  /// Whether an address is that of the first one.
  static func isFirst(_ address: IPAddress) -> Bool { "\(address)" == addresses[address.family]?.first }
}
