// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem

extension Reachability {
  /// Why a target is not reachable, or why that is not known.
  ///
  /// More reasons may come: a `switch` over them needs a `default`.
  public struct Reason: Hashable, Sendable, BitwiseCopyable {
    package let code: UInt8

    private init(code: UInt8) { self.code = code }

    /// The kernel has no route to the target (ENETUNREACH). A `throw` route cannot be told from no route.
    public static let noRoute = Reason(code: 1)
    /// A route of type `unreachable` stands in the way (EHOSTUNREACH). A rule of that type cannot be told from no
    /// route.
    public static let unreachableRoute = Reason(code: 2)
    /// A route or a rule of type `prohibit` stands in the way (EACCES).
    public static let prohibited = Reason(code: 3)
    /// A route or a rule of type `blackhole` swallows the packets (EINVAL).
    public static let blackhole = Reason(code: 4)
    /// The interface is switched off.
    public static let linkDown = Reason(code: 5)
    /// The interface is on, but nothing is at its other end: no cable, no access point.
    public static let noCarrier = Reason(code: 6)
    /// No address of this machine could be the source of a packet to the target.
    public static let noAddress = Reason(code: 7)
    /// The interface asked for does not exist, or not yet.
    public static let noInterface = Reason(code: 8)
    /// The name has no address, or could not be looked up.
    public static let nameNotResolved = Reason(code: 9)
    /// The system refuses to say: netlink is forbidden here, by seccomp or a sandbox.
    public static let denied = Reason(code: 10)
    /// The link waits for something before it carries packets, such as 802.1X or the Wi-Fi key (RFC 2863, dormant).
    public static let dormant = Reason(code: 11)
    /// A modem is there, but no session has been made.
    public static let noSession = Reason(code: 12)
    /// The radio is blocked by rfkill, by a switch or by software.
    public static let radioBlocked = Reason(code: 13)
    /// The process or the system has no file descriptor left to ask with (EMFILE, ENFILE).
    public static let outOfDescriptors = Reason(code: 14)
    /// The user, the control group or the system has no thread left to ask with (EAGAIN of pthread_create(3)).
    public static let outOfThreads = Reason(code: 15)
    /// The system has no memory left to ask with (ENOMEM, ENOBUFS).
    public static let outOfMemory = Reason(code: 16)

    /// What a reason means: a link is switched off, leads nowhere, or is not there; this machine lacks an address or a
    /// route, or forbids it; a name is not known; nothing can be known.
    package enum Meaning: Sendable {
      case switchedOff, unconnected, missingLink, unconfigured, forbidden, unknownName, denial
    }

    /// Each reason with its stable identifier, what it means, and its words for a person.
    private static let table: [(reason: Reason, identifier: String, meaning: Meaning, words: String)] = [
      (.noRoute, "no-route", .unconfigured, "no route to the destination"),
      (.unreachableRoute, "unreachable-route", .forbidden, "an unreachable route stands in the way"),
      (.prohibited, "prohibited", .forbidden, "a route or rule prohibits it"),
      (.blackhole, "blackhole", .forbidden, "a blackhole route swallows it"),
      (.linkDown, "link-down", .switchedOff, "the interface is down"),
      (.noCarrier, "no-carrier", .unconnected, "no carrier: nothing is connected to the interface"),
      (.noAddress, "no-address", .unconfigured, "no usable source address"),
      (.noInterface, "no-interface", .missingLink, "the interface does not exist"),
      (.nameNotResolved, "name-not-resolved", .unknownName, "the name could not be resolved"),
      (.denied, "denied", .denial, "the system denies access to the network's state"),
      (.dormant, "dormant", .unconnected, "the link is dormant: it waits to be let in"),
      (.noSession, "no-session", .unconnected, "the modem has no session"),
      (.radioBlocked, "radio-blocked", .switchedOff, "the radio is blocked"),
      (
        .outOfDescriptors, "out-of-descriptors", .denial,
        "no file descriptor is left: raise the limit of the process (ulimit -n) or of the system (fs.file-max)"
      ),
      (
        .outOfThreads, "out-of-threads", .denial,
        "no thread is left: raise the limit of the user (ulimit -u) or of the control group (pids.max)"
      ),
      (.outOfMemory, "out-of-memory", .denial, "the system has no memory left"),
    ]

    static let all: [Reason] = table.map(\.reason)

    /// The reason with this ``identifier``, or `nil` if there is none.
    public init?(identifier: some StringProtocol) {
      guard let row = Self.table.first(where: { $0.identifier == identifier }) else { return nil }
      self = row.reason
    }

    /// The reason for which a system call with this errno(3) leaves the state unknown.
    package init(shortage errno: CInt) {
      switch errno {
      case EMFILE, ENFILE: self = .outOfDescriptors
      case EAGAIN: self = .outOfThreads
      case ENOMEM, ENOBUFS: self = .outOfMemory
      default: self = .denied
      }
    }

    /// Whether nothing can be known of any target, since the system refuses to say or lacks something to ask with.
    /// Dialtone asks again every five seconds.
    package var isDenial: Bool { meaning == .denial }

    /// Whether it says why an interface carries nothing.
    package var isOfLink: Bool { meaning == .switchedOff || meaning == .unconnected }

    /// Whether it lasts until somebody acts.
    package var needsIntervention: Bool { meaning == .switchedOff || meaning == .forbidden }

    /// What it implies of a state that requires a connection.
    var impliedFlags: ReachabilityFlags {
      self == .dormant ? .connectionOnTraffic : self == .radioBlocked ? .interventionRequired : []
    }

    package var meaning: Meaning { Self.table[Int(code) - 1].meaning }

    /// A short text that never changes, for files and other programs, such as `no-route`. For a
    /// translation's key, see ``ReachabilityText``.
    public var identifier: String { Self.table[Int(code) - 1].identifier }
  }
}

extension Reachability.Reason: CustomStringConvertible {
  /// The reason in words, such as "no route to the destination".
  public var description: String { Self.table[Int(code) - 1].words }
}
