// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A network interface, as it was when the state that names it was read.
public struct NetworkInterface: Hashable, Sendable, BitwiseCopyable {
  package let inlineName: InlineName

  /// The interface's index: unique among the interfaces that exist at one time, and used again later.
  public let index: UInt32

  /// What the interface is. A bridge, bond, VLAN or macvlan has the kind of the active link below it.
  public let kind: InterfaceKind

  package init(inlineName: InlineName, index: UInt32, kind: InterfaceKind) {
    self.inlineName = inlineName
    self.index = index
    self.kind = kind
  }

  /// Creates an interface, for tests and scripted networks.
  ///
  /// Returns `nil` if no interface can have the name (dev_valid_name, net/core/dev.c): it is empty, has more than 15
  /// bytes, is "." or "..", or contains a slash, a colon or white space.
  public init?(name: String, index: UInt32, kind: InterfaceKind) {
    // White space as the kernel has it, which takes each byte for a character of ISO 8859-1 (lib/ctype.c).
    guard let inlineName = InlineName(name), !inlineName.isEmpty, name != ".", name != "..",
      !name.utf8.contains(where: { [0x20, 0xA0].contains($0) || (0x09...0x0D).contains($0) || "/:".utf8.contains($0) })
    else { return nil }
    self.init(inlineName: inlineName, index: index, kind: kind)
  }

  /// The interface's name, such as `wlan0`.
  public var name: String { inlineName.text }
}

extension NetworkInterface: CustomStringConvertible {
  /// Kind and name, such as "Wi-Fi (wlan0)".
  public var description: String { description(in: .english) }
}

extension NetworkInterface {
  /// Kind and name in the words of `translation`; see ``description``.
  public func description(in translation: ReachabilityTranslation) -> String {
    translation.fill(.interface, ["kind": kind.description(in: translation), "name": name])
  }
}
