// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What an interface is, as the kernel says; never guessed from its name.
///
/// More kinds may come: a `switch` over them needs a `default`.
public struct InterfaceKind: Hashable, Sendable, BitwiseCopyable {
  package let code: UInt8

  /// IEEE 802.11.
  public static let wifi = InterfaceKind(code: 1)
  /// A mobile network: a modem's data interface.
  public static let cellular = InterfaceKind(code: 2)
  /// Ethernet and what behaves as it does: veth, tap, InfiniBand.
  public static let wired = InterfaceKind(code: 3)
  /// The loopback interface.
  public static let loopback = InterfaceKind(code: 4)
  /// An interface that carries packets inside other packets: WireGuard, tun, GRE, VXLAN, PPP.
  public static let tunnel = InterfaceKind(code: 5)
  /// None of these, or unknown: a dummy, a monitor device, a bridge whose ports are of several kinds or absent.
  public static let other = InterfaceKind(code: 6)

  /// The kind with this stable identifier (``identifier``), or `nil` if there is none.
  public init?(identifier: some StringProtocol) {
    guard let kind = Self.all.first(where: { $0.identifier == identifier }) else { return nil }
    self = kind
  }

  private init(code: UInt8) { self.code = code }

  static let all: [InterfaceKind] = [.wifi, .cellular, .wired, .loopback, .tunnel, .other]

  /// A short text that never changes, for files and other programs: `wifi`, `cellular`, `wired`, `loopback`, `tunnel`,
  /// `other`.
  public var identifier: String {
    switch self {
    case .wifi: "wifi"
    case .cellular: "cellular"
    case .wired: "wired"
    case .loopback: "loopback"
    case .tunnel: "tunnel"
    default: "other"
    }
  }
}

extension InterfaceKind: CustomStringConvertible {
  /// The kind's name for a person, such as "Wi-Fi".
  public var description: String {
    switch self {
    case .wifi: "Wi-Fi"
    case .cellular: "cellular"
    case .wired: "wired"
    case .loopback: "loopback"
    case .tunnel: "tunnel"
    default: "other"
    }
  }
}

extension InterfaceKind {
  /// The kind's name in the words of `translation`; see ``description``.
  public func description(in translation: ReachabilityTranslation) -> String { translation[.kind(self)] }
}
