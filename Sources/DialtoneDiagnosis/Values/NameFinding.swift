// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

/// What was found out about a name.
public struct NameFinding: Hashable, Sendable {
  /// Where the name's addresses come from.
  public enum Source: String, Hashable, Sendable {
    /// The target is an address.
    case literal
    /// hosts(5).
    case hosts
    /// A name server.
    case dns
    /// The system's resolver, by something else than the two.
    case system
    /// Nothing: nsswitch.conf(5) lets programs ask no name server.
    case none
  }

  /// How a name server answered (RFC 1035, 4.1.1).
  public struct ResponseCode: Hashable, Sendable {
    /// The number on the wire.
    public let number: UInt8

    /// Makes a code of its number.
    public init(_ number: UInt8) { self.number = number }

    /// NOERROR.
    public static let success = Self(0)
    /// SERVFAIL.
    public static let serverFailure = Self(2)
    /// No code at all: it says whom else to ask.
    package static let referral = Self(.max)
    /// NXDOMAIN.
    public static let nameError = Self(3)
    /// REFUSED.
    public static let refused = Self(5)
  }

  /// What came of one question to a name server.
  public enum Reply: Hashable, Sendable {
    /// It answered.
    case answer(ResponseCode, [IPAddress])
    /// Its answer does not fit into a datagram, and has to be asked for over TCP (RFC 1035, 4.2.1).
    case truncated
    /// It answered another question than the one that was asked: programs drop that.
    case mismatched
    /// An ICMP message came instead.
    case refused(NetworkStatement)
    /// This machine has no way to it.
    case noWay(KernelFinding)
    /// The system could not send, for this errno(3).
    case failed(Int32)
    /// Netfilter refused to send (EPERM).
    case forbidden
    /// The answer came to this machine, and no program gets it.
    case dropped
    /// Nothing came.
    case silent
  }

  /// What one name server said.
  public struct Server: Hashable, Sendable {
    /// The server.
    public var address: IPAddress
    /// Its reply for A records; `nil` if it was not asked.
    public var ipv4: Reply?
    /// Its reply for AAAA records.
    public var ipv6: Reply?
    /// Its reply for a name that cannot exist (`.invalid`, RFC 6761, 6.4).
    public var control: Reply?
    /// How long its answer took, in milliseconds.
    public var milliseconds: Double?
    /// Whether packets to it go by a router: then its answer came from beyond that.
    public var isBeyond: Bool
    /// Whether it answers that the root has no name server, as one that gives each name the same does.
    var deniesRoot = false
    var knowsAlias = false

    /// Makes a server.
    public init(
      _ address: IPAddress, ipv4: Reply? = nil, ipv6: Reply? = nil, control: Reply? = nil, milliseconds: Double? = nil,
      isBeyond: Bool = false
    ) {
      (self.address, self.isBeyond, self.ipv4) = (address, isBeyond, ipv4)
      (self.ipv6, self.control, self.milliseconds) = (ipv6, control, milliseconds)
    }
  }

  /// What the system's resolver said, which programs ask.
  public enum SystemReply: Hashable, Sendable {
    /// The name's addresses, in the order in which programs try them.
    case addresses([IPAddress])
    /// It knows no address.
    case failed
    /// It had not answered when the time was up.
    case silent
  }

  /// A question that one server answered well at one time, and not at another.
  public struct Unsteady: Hashable, Sendable {
    /// The server; `nil` for the system's resolver.
    public var server: IPAddress?
    /// How often it failed.
    public var failures: Int
    /// How often it was asked.
    public var tries: Int

    /// Makes a record of tries.
    public init(_ server: IPAddress?, failures: Int, tries: Int) {
      (self.server, self.failures, self.tries) = (server, failures, tries)
    }
  }

  /// The name as it was asked for.
  public var name: String
  /// Where its addresses come from.
  public var source: Source
  /// The name with the search domain for which there was an answer.
  public var foundAs: String?
  /// All names that were asked for.
  public var tried: [String] = []
  /// The name servers of this machine, in their order.
  public var servers: [Server]
  /// The addresses of the name that servers and files have.
  public var addresses: [IPAddress]
  /// What programs get; `nil` if the system's resolver was not asked.
  public var system: SystemReply?
  /// What came of asking again, if a first answer did not fit another.
  public var unsteady: Unsteady?
  /// Whether only the root was asked for, to see whether the servers answer at all.
  public var isRootOnly: Bool
  /// Whether the time was up before a server had its time to answer.
  public var isHurried = false

  /// Whether programs begin with any server, not with the first.
  var rotates = false
  /// Whether this user may not read which servers there are.
  var isForbidden = false
  /// Whether the first server was silent, and the system's resolver went on asking.
  var isLate = false

  /// Makes a finding.
  public init(
    name: String, source: Source = .dns, servers: [Server] = [], addresses: [IPAddress] = [],
    system: SystemReply? = nil, isRootOnly: Bool = false
  ) {
    (self.name, self.source, self.servers) = (name, source, servers)
    (self.addresses, self.system, self.isRootOnly) = (addresses, system, isRootOnly)
  }
}

extension NameFinding.ResponseCode: CustomStringConvertible {
  /// The name as resolvers print it.
  public var description: String {
    let names = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"]
    if self == .referral { return "only for its own zones" }
    return Int(number) < names.count ? names[Int(number)] : "code \(number)"
  }
}

extension NameFinding.SystemReply {
  /// The families of which it has an address that is somebody's.
  var families: Set<IPAddress.Family> {
    if case .addresses(let addresses) = self { addresses.families } else { [] }
  }
}

extension [IPAddress] {
  /// The families of those that are somebody's.
  fileprivate var families: Set<IPAddress.Family> { Set(filter { !$0.isUnspecified }.map(\.family)) }
}

extension NameFinding {
  /// Whether the system's resolver has kept programs waiting, and none of its servers is why.
  var isLateByItself: Bool {
    source == .dns && system == .silent && !servers.isEmpty && !servers.contains { $0.replies.contains(.silent) }
  }

  /// Whether questions or answers are lost at times, or programs wait, for a name that has an address.
  var isLostAtTimes: Bool {
    let isLost = servers.contains { $0.wasAskedAgain || $0.replies.contains(.silent) }
    return !addresses.isEmpty && (system == .silent || unsteady != nil && isLost)
  }

  /// Whom programs believe that the name has no address, though another server has one.
  var denier: Server? {
    addresses.isEmpty ? nil : servers.prefix(rotates ? servers.count : 1).first { $0.denial != nil }
  }

  /// Whether programs get no address of a family of which servers have one; not, if they wait for ever.
  var lacksInSystem: Bool {
    guard let system, system != .silent else { return false }
    return !addresses.families.isSubset(of: system.families)
  }

  /// Whether there may be addresses of another family of which nobody has told one, nor said that there is none.
  func isPartial(beside one: IPAddress.Family) -> Bool {
    if source == .literal || source == .hosts || addresses.isEmpty { return false }
    return unsteady != nil
      || [IPAddress.Family.ipv4, .ipv6].contains { family in
        guard family != one else { return false }
        // Programs get none of a family that this machine has no address of (AI_ADDRCONFIG).
        if addresses.families.contains(family) { return lacksInSystem && system?.families.contains(family) == false }
        // Programs believe the first server that says anything of use: where it denies the name, nothing is proven.
        let believed = servers.first { !$0.replies.allSatisfy(\.isUseless) }
        return servers.contains { $0.reply(family) != nil }
          && (believed?.denial != nil || believed?.reply(family)?.isUseless ?? true)
      }
  }
}

extension NameFinding.Reply {
  /// Whether a program has nothing of it: a failure, silence, or the address of nobody.
  var isUseless: Bool {
    switch self {
    case .truncated: false
    case .answer(let code, let addresses):
      ![.success, .nameError].contains(code) || !addresses.isEmpty && addresses.allSatisfy(\.isUnspecified)
    default: true
    }
  }
  /// Whether a server says that it could not find out, or whom to ask it could not.
  var isHelpless: Bool {
    switch self {
    case .answer(.serverFailure, _), .silent: true
    case .refused(let statement): !statement.isOwn
    default: false
    }
  }
  var addresses: [IPAddress] { if case .answer(_, let addresses) = self { addresses } else { [] } }
  var code: NameFinding.ResponseCode? { if case .answer(let code, _) = self { code } else { nil } }
}

extension NameFinding.Server {
  func reply(_ family: IPAddress.Family) -> NameFinding.Reply? { family == .ipv4 ? ipv4 : ipv6 }
  var replies: [NameFinding.Reply] { [ipv4, ipv6].compactMap(\.self) }
  var addresses: [IPAddress] { replies.flatMap(\.addresses) }
  var hasAnswered: Bool { replies.contains { $0.code != nil } || needsTCP }
  var isAlive: Bool { hasAnswered || control?.code != nil }
  /// Whether one of its replies is of use, and another one is not.
  var contradictsItself: Bool {
    let all = replies + [control].compactMap(\.self)
    return all.contains(where: \.isUseless) && !all.allSatisfy(\.isUseless) && !all.contains(.silent)
  }
  /// Whether it answered only when it was asked again, which happens once a second.
  var wasAskedAgain: Bool {
    milliseconds.map { $0 >= 1_000 && $0.truncatingRemainder(dividingBy: 1_000) < 200 } ?? false
  }
  /// Whether it could not find out what it was asked.
  var isHelpless: Bool { replies.allSatisfy(\.isHelpless) }
  var isSilent: Bool { !replies.isEmpty && replies.allSatisfy { $0 == .silent } }
  /// Whether what it knows is to be had over TCP alone.
  var needsTCP: Bool { addresses.isEmpty && replies.contains(.truncated) }
  /// Whether it says that the name does not exist, or has no address of any type.
  var saysUnknown: Bool {
    let codes = replies.map(\.code)
    return !needsTCP && addresses.isEmpty && !codes.isEmpty
      && (codes.contains(.nameError) || codes.allSatisfy { $0 == .success })
  }
  /// An answer without an address after which libc asks no other server: of SERVFAIL, NOTIMP and REFUSED it does.
  var denial: NameFinding.ResponseCode? {
    addresses.isEmpty && !needsTCP ? replies.compactMap(\.code).first { ![2, 4, 5, .max].contains($0.number) } : nil
  }
  /// Whether it answers that it does not want to, or cannot, look the name up.
  var saysNo: Bool { hasAnswered && addresses.isEmpty && !saysUnknown && !needsTCP }
}
