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

  private init(code: UInt8) { self.code = code }

  /// Each kind with its stable identifier and its name for a person, in the order of the codes.
  private static let table: [(kind: InterfaceKind, identifier: String, words: String)] = [
    (.wifi, "wifi", "Wi-Fi"),
    (.cellular, "cellular", "cellular"),
    (.wired, "wired", "wired"),
    (.loopback, "loopback", "loopback"),
    (.tunnel, "tunnel", "tunnel"),
    (.other, "other", "other"),
  ]

  static let all: [InterfaceKind] = table.map(\.kind)

  /// The kind with this stable identifier (``identifier``), or `nil` if there is none.
  public init?(identifier: some StringProtocol) {
    guard let row = Self.table.first(where: { $0.identifier == identifier }) else { return nil }
    self = row.kind
  }

  /// What it implies of each state that leaves by it.
  package var impliedFlags: ReachabilityFlags {
    switch self {
    case .cellular: [.isWWAN, .transientConnection]
    case .tunnel: .transientConnection
    default: []
    }
  }

  /// A short text that never changes, for files and other programs: `wifi`, `cellular`, `wired`, `loopback`, `tunnel`,
  /// `other`.
  public var identifier: String { Self.table[Int(code) - 1].identifier }
}

extension InterfaceKind: CustomStringConvertible {
  /// The kind's name for a person, such as "Wi-Fi".
  public var description: String { Self.table[Int(code) - 1].words }

  /// The kind's name in the words of `translation`; see ``description``.
  public func description(in translation: ReachabilityTranslation) -> String { translation[.kind(self)] }
}
