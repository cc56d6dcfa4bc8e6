// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Whether a packet for a target can leave this machine, over which interface, and why not.
///
/// A value of plain bits: it can be copied anywhere, at no cost in memory or locks. That a target is reachable does not
/// say that it answers.
///
/// Two values are equal when a receiver would not be told of a difference: same ``status``, ``flags``, ``interface``,
/// ``gateway`` and ``reason``. ``source`` and ``destination`` are read along (temporary addresses rotate, names move
/// between servers) and do not count, nor does the time.
public struct Reachability: Sendable, BitwiseCopyable {
  /// What is known of a target.
  public enum Status: UInt8, Sendable, BitwiseCopyable {
    /// Not known yet, or not to be known; then ``Reachability/reason`` says why.
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

  /// The same in Apple's bits. Contains `reachable` exactly where ``status`` is `reachable` or `requiresConnection`.
  public package(set) var flags: ReachabilityFlags

  /// The interface that the packets leave by; `nil` where none is known.
  public package(set) var interface: NetworkInterface?

  /// The source address that the kernel would choose.
  public package(set) var source: IPAddress? {
    get { packedSource.address(families.source) }
    set { families.source = packedSource.pack(newValue) }
  }

  /// The router that the packets go to first; `nil` where the target is on the link or local.
  public package(set) var gateway: IPAddress? {
    get { packedGateway.address(families.gateway) }
    set { families.gateway = packedGateway.pack(newValue) }
  }

  /// The address that was asked about: the target's own, the best of a name's, or, for the Internet, a root name server's.
  public package(set) var destination: IPAddress? {
    get { packedDestination.address(families.destination, zone: destinationZone) }
    set {
      families.destination = packedDestination.pack(newValue)
      destinationZone = newValue?.inlineZone ?? InlineName()
    }
  }

  /// Why the target is not reachable; `nil` exactly where it is, or where nothing is known yet.
  public package(set) var reason: Reason?

  /// Nanoseconds since 1970-01-01T00:00:00Z, or 0 if nothing is known; the plain bits of ``timestamp``.
  package var realtime: Int64

  // Addresses are kept without what they would repeat: a hundred thousand monitors hold several of these values each, and
  // readers of `current` copy one each time.
  private var families = PackedAddress.Families()
  private var packedSource = PackedAddress()
  private var packedGateway = PackedAddress()
  private var packedDestination = PackedAddress()
  private var destinationZone = InlineName()

  /// The system does not say.
  package static let denied = Reachability(status: .undetermined, reason: .denied)

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

  /// Whether a packet for the target can leave now, with no connection to be made first.
  public var isReachable: Bool { status == .reachable }

  /// Whether the state is known. An ``Status/undetermined`` one may still have a ``reason``.
  public var isDetermined: Bool { status != .undetermined }

  /// When the kernel's event that led to this state was read; `nil` as long as nothing is known.
  ///
  /// It is the time of the last change: a state that is read again and found equal keeps it.
  public var timestamp: UTCTimestamp? {
    realtime == 0 ? nil : UTCTimestamp(durationSince1970: .nanoseconds(realtime))
  }
}

extension Reachability: MonitoredState {
  package var isKnown: Bool { isDetermined || reason != nil }

  package func isIdentical(to other: Reachability) -> Bool {
    self == other && source == other.source && destination == other.destination
  }
}

extension Reachability: Hashable {
  /// Whether a receiver would not be told of a difference; see the type's description.
  public static func == (a: Reachability, b: Reachability) -> Bool {
    a.status == b.status && a.flags == b.flags && a.interface == b.interface && a.gateway == b.gateway
      && a.reason == b.reason
  }

  /// Feeds what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(status)
    hasher.combine(flags)
    hasher.combine(interface)
    hasher.combine(gateway)
    hasher.combine(reason)
  }
}

extension Reachability: CustomStringConvertible {
  /// The state in words, such as "reachable via Wi-Fi (wlan0)" or "unreachable: no route to the destination".
  public var description: String { description(in: .english) }
}
