// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
public import Dialtone

/// What came of connecting to the target's addresses of one family.
public struct ConnectionFinding: Hashable, Sendable {
  /// What came of one try.
  public enum Outcome: Hashable, Sendable {
    /// A connection was made.
    case accepted(milliseconds: Double)
    /// A TCP segment with RST came.
    case reset
    /// An ICMP message came.
    case refused(NetworkStatement)
    /// The system refused, for this errno(3).
    case failed(Int32)
    /// Nothing came.
    case silent
  }

  /// What was seen of the packets at this machine's own interfaces, which needs CAP_NET_RAW.
  public struct Sight: Hashable, Sendable {
    /// Whether the first segment left this machine; `nil` if that cannot be told.
    public var hasLeft: Bool?
    /// Whether an answer came to this machine; `nil` if that cannot be told.
    public var hasReturned: Bool?
    /// The interface by which it came, if the segment left by another.
    public var otherWay: String?

    /// Makes a sight.
    public init(hasLeft: Bool?, hasReturned: Bool? = nil, otherWay: String? = nil) {
      (self.hasLeft, self.hasReturned, self.otherWay) = (hasLeft, hasReturned, otherWay)
    }
  }

  /// One address and port, and what came of each try.
  public struct Attempt: Hashable, Sendable {
    /// The address that was tried.
    public var address: IPAddress
    /// The port that was tried.
    public var port: UInt16
    /// What came of each try, the first one first. There are further ones if a neighbour of it did better.
    public var tries: [Outcome]
    /// What was seen of the first try; `nil` if that cannot be seen.
    public var sight: Sight?

    /// Makes an attempt.
    public init(_ address: IPAddress, port: UInt16, tries: [Outcome], sight: Sight? = nil) {
      (self.address, self.port, self.tries, self.sight) = (address, port, tries, sight)
    }

    /// Makes an attempt with one try.
    public init(_ address: IPAddress, port: UInt16, _ outcome: Outcome, sight: Sight? = nil) {
      self.init(address, port: port, tries: [outcome], sight: sight)
    }
  }

  /// The family of all attempts.
  public var family: IPAddress.Family
  /// What was tried.
  public var attempts: [Attempt]
  /// Whether the target has no port of its own, so that each of several would do.
  public var isAnyPort = false
  /// Whether the target is this machine.
  public var isOwn = false
  /// The addresses of this machine at which something listens on the port that it has refused; `nil` if that is not
  /// known.
  public var listeners: [IPAddress]?
  /// Whether a filter of system calls is in force for this program (seccomp(2)).
  public var hasCallFilter = false
  /// Whether netfilter refused a datagram to the target (EPERM).
  public var isDatagramForbidden = false
  /// Whether the time was up before the target had its time to answer.
  public var isHurried = false
  /// The router that the packets go to first; `nil` if they go straight to the target.
  public var gateway: IPAddress?
  /// Whether the kernel has given up the neighbour that the packets go to.
  public var isNeighbourFailed = false
  /// The tunnel that the packets leave by.
  public var tunnel: String?
  /// Whether something beyond the tunnel has answered.
  public var hasTunnelAnswered = false

  /// Makes a finding.
  public init(_ family: IPAddress.Family, _ attempts: [Attempt]) {
    (self.family, self.attempts) = (family, attempts)
  }
}

extension ConnectionFinding.Outcome {
  /// How long a connection took that was made.
  var milliseconds: Double? { if case .accepted(let milliseconds) = self { milliseconds } else { nil } }
  var isAccepted: Bool { milliseconds != nil }
  /// Whether an ICMP message came that this machine has not made itself.
  var isRefusedOnWay: Bool { if case .refused(let statement) = self { !statement.isOwn } else { false } }
}

extension ConnectionFinding.Attempt {
  var isAccepted: Bool { tries.contains(where: \.isAccepted) }
  /// What counts of the tries: that one of them was accepted, else the first that says something.
  var outcome: ConnectionFinding.Outcome {
    tries.first(where: \.isAccepted) ?? tries.first { $0 != .silent } ?? .silent
  }

  /// Whether somebody forbids it. That a host is unreachable says who gets no answer from a neighbour.
  var isForbidden: Bool {
    switch outcome {
    case .failed(let errno): errno == EPERM
    case .refused(let statement) where statement.isOwn: statement.meaning != .hostUnreachable
    case .refused(let statement): statement.meaning == .prohibited
    default: false
    }
  }
}

extension ConnectionFinding {
  /// Whether something on this machine listens where an attempt went.
  func hasListener(for attempt: Attempt) -> Bool {
    listeners?.contains { $0 == attempt.address || $0.isUnspecified && $0.family == attempt.address.family } ?? false
  }
}
