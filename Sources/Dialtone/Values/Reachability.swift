// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Whether a packet for a target can leave this machine, over which interface, and why not.
///
/// A target that is reachable need not answer.
///
/// Receivers get a new state if it is not the same as the last one in what ``isSameState(as:)`` compares; `==` compares
/// everything, the time as well. A state is plain bits: copies cost neither memory nor locks.
public struct Reachability: Hashable, Sendable, BitwiseCopyable {
  /// What is known of a target.
  public enum Status: Hashable, Sendable, BitwiseCopyable, CaseIterable {
    /// Not known yet, or impossible to know; then ``Reachability/reason`` says why.
    case undetermined
    /// No packet for the target can leave.
    case unreachable
    /// A packet could leave once a connection is made: a modem's session, a dormant link, a blocked radio.
    case requiresConnection
    /// A packet for the target can leave.
    case reachable
  }

  /// What is known of the target.
  public package(set) var status: Status

  /// The same in Apple's bits. They contain `reachable` only if ``status`` is `reachable` or `requiresConnection`.
  public package(set) var flags: ReachabilityFlags

  /// The interface that the packets leave by; `nil` if none is known.
  public package(set) var interface: NetworkInterface?

  /// The source address that the kernel would choose.
  public package(set) var source: IPAddress? {
    get { packedSource.address(families.source) }
    set { families.source = packedSource.pack(newValue) }
  }

  /// The router that the packets go to first; `nil` if the target is on the link or local.
  public package(set) var gateway: IPAddress? {
    get { packedGateway.address(families.gateway) }
    set { families.gateway = packedGateway.pack(newValue) }
  }

  /// The address that was asked about: the target's own, the best one of a name, or, for the Internet, a root name
  /// server's.
  public package(set) var destination: IPAddress? {
    get { packedDestination.address(families.destination, zone: destinationZone) }
    set {
      families.destination = packedDestination.pack(newValue)
      destinationZone = newValue?.inlineZone ?? InlineName()
    }
  }

  /// Why the target is not reachable; `nil` if it is, or if nothing is known yet.
  public package(set) var reason: Reason?

  /// Nanoseconds since 1970-01-01T00:00:00Z, or 0 if nothing is known; the plain bits of ``timestamp``.
  package var realtime: Int64

  /// Of a pair of addresses whose configuration compares sources: the interface that packets for the remote address
  /// leave by if the kernel chooses their source; 0 if they cannot leave.
  package var freeInterface: UInt32 = 0

  // Addresses are packed: a hundred thousand monitors hold several of these values each, and readers of `current` copy
  // one each time.
  private var families = PackedAddress.Families()
  private var packedSource = PackedAddress()
  private var packedGateway = PackedAddress()
  private var packedDestination = PackedAddress()
  private var destinationZone = InlineName()

  /// The system does not say.
  package static let denied = denied(for: .denied)

  /// The system does not say, or lacks what it takes to ask.
  package static func denied(for reason: Reason) -> Reachability { Reachability(status: .undetermined, reason: reason) }

  /// Nobody has asked yet.
  package static let unknown = Reachability(status: .undetermined)

  package init(
    status: Status, flags: ReachabilityFlags = [], interface: NetworkInterface? = nil, source: IPAddress? = nil,
    gateway: IPAddress? = nil, destination: IPAddress? = nil, reason: Reason? = nil, realtime: Int64 = 0
  ) {
    self.status = status
    self.flags = flags
    self.interface = interface
    self.reason = reason
    self.realtime = realtime
    self.source = source
    self.gateway = gateway
    self.destination = destination
  }

  /// Creates a state, for tests and previews.
  ///
  /// ```swift
  /// let wifi = NetworkInterface(name: "wlan0", index: 2, kind: .wifi)
  /// let reachable = Reachability(.reachable, interface: wifi)
  /// let unreachable = Reachability(.unreachable, interface: wifi, reason: .noCarrier)
  /// ```
  ///
  /// The status decides. You need not give what follows from it, and what contradicts it is left out:
  /// - ``flags`` contain `reachable` and `connectionRequired` as the status says. The kind of the interface implies
  ///   `isWWAN` and `transientConnection`, the reason `connectionOnTraffic` and `interventionRequired`. An unreachable
  ///   or undetermined state has no flags. A state with a gateway has neither `isDirect` nor `isLocalAddress`.
  /// - ``reason`` is `nil` in a reachable state. An unreachable state without one has `noRoute`, one that requires a
  ///   connection `dormant`.
  /// - Only a reachable state has a ``source`` and a ``gateway``. An undetermined one has no ``interface``.
  ///
  /// - Parameters:
  ///   - status: What is known of the target.
  ///   - flags: What the flags contain besides.
  ///   - interface: The interface that the packets leave by.
  ///   - source: The source address that the kernel would choose.
  ///   - gateway: The router that the packets go to first.
  ///   - destination: The address that was asked about.
  ///   - reason: Why the target is not reachable, or why that is not known.
  ///   - timestamp: When the state came about. A state of which nothing is known has none.
  public init(
    _ status: Status, flags: ReachabilityFlags = [], interface: NetworkInterface? = nil, source: IPAddress? = nil,
    gateway: IPAddress? = nil, destination: IPAddress? = nil, reason: Reason? = nil, timestamp: UTCTimestamp = .now
  ) {
    self.init(status: status, destination: destination, reason: status.normalized(reason))
    if isDetermined { self.interface = interface }
    if isReachable {
      self.source = source
      self.gateway = gateway
    }
    if isDetermined || reason != nil { realtime = timestamp.durationSince1970.nanosecondsClamped }
    self.flags = normalized(flags)
  }

  /// Returns the flags that fit everything else.
  func normalized(_ flags: ReachabilityFlags) -> ReachabilityFlags {
    if status != .reachable, status != .requiresConnection { return [] }
    let conditions: ReachabilityFlags = [
      .connectionRequired, .connectionOnTraffic, .connectionOnDemand, .interventionRequired,
    ]
    var flags = flags.union(.reachable)
    if status == .requiresConnection { flags.insert(.connectionRequired) } else { flags.subtract(conditions) }
    if let reason { flags.formUnion(reason.impliedFlags) }
    if let kind = interface?.kind { flags = flags.subtracting(.isWWAN).union(kind.impliedFlags) }
    if gateway != nil { flags.subtract([.isDirect, .isLocalAddress]) }
    return flags
  }

  /// Whether a packet for the target can leave now, with no connection to be made first.
  public var isReachable: Bool { status == .reachable }

  /// Whether the state is known. An ``Status/undetermined`` state may still have a ``reason``.
  public var isDetermined: Bool { status != .undetermined }

  /// When the kernel's event that led to this state was read; `nil` while nothing is known.
  ///
  /// It is the time of the last change: a state that is read again and found equal keeps it. The first state of a
  /// monitor has the time at which it was found, since the kernel does not tell how long a route has been there.
  public var timestamp: UTCTimestamp? {
    realtime == 0 ? nil : UTCTimestamp(durationSince1970: .nanoseconds(realtime))
  }
}

extension Reachability {
  /// The flags once the state is known; `nil` while it is not.
  ///
  /// Before that, the questions of ``ReachabilityFlags`` have no answer. Through this property they are `nil`, and the
  /// compiler makes you decide. ``flags`` is empty then, and would answer "no".
  ///
  /// ```swift
  /// switch monitor.current.determinedFlags?.contains(.connectionRequired) {
  /// case nil: showSpinner()
  /// case true?: offerToConnect()
  /// case false?: break
  /// }
  /// ```
  public var determinedFlags: ReachabilityFlags? { isDetermined ? flags : nil }
}

extension Reachability.Status {
  /// A short text that never changes, for files and other programs: `undetermined`, `unreachable`,
  /// `requires-connection`, `reachable`.
  public var identifier: String {
    switch self {
    case .undetermined: "undetermined"
    case .unreachable: "unreachable"
    case .requiresConnection: "requires-connection"
    case .reachable: "reachable"
    }
  }

  /// Returns the reason of a state with this status for which `reason` was given.
  fileprivate func normalized(_ reason: Reachability.Reason?) -> Reachability.Reason? {
    switch self {
    case .undetermined: reason
    case .unreachable: reason ?? .noRoute
    case .requiresConnection: reason ?? .dormant
    case .reachable: nil
    }
  }
}

extension Reachability {
  /// Whether it says anything. The state before the first answer does not.
  package var isKnown: Bool { isDetermined || reason != nil }

  /// Returns whether everything is equal except the time.
  package func isIdentical(to other: Reachability) -> Bool {
    isSameState(as: other) && source == other.source && destination == other.destination
  }

  /// Returns whether a receiver that got one of the two states does not get the other one after it.
  ///
  /// It compares ``status``, ``flags``, ``interface``, ``gateway`` and ``reason``. It leaves out ``source`` and
  /// ``destination``, since temporary addresses rotate and names move between servers, and the ``timestamp``.
  ///
  /// - Parameter other: The state to compare with.
  /// - Returns: Whether what it compares is equal.
  public func isSameState(as other: Reachability) -> Bool {
    // `freeInterface` counts, too. It is for this package alone: 0 unless a configuration compares sources.
    status == other.status && flags == other.flags && interface == other.interface && gateway == other.gateway
      && reason == other.reason && freeInterface == other.freeInterface
  }
}

extension Reachability: CustomStringConvertible {
  /// The state in words, such as "reachable via Wi-Fi (wlan0)" or "unreachable: no route to the destination".
  public var description: String { description(in: .english) }
}
