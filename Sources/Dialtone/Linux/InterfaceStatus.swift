// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// An interface as it is now, for those who list them.
package struct InterfaceStatus: Sendable {
  /// An address of an interface, with the length of its prefix in bits.
  package struct Address: Sendable {
    package let address: IPAddress
    package let prefixLength: Int
  }

  package let interface: NetworkInterface
  /// Further names that it can be asked for by (`altname` of ip-link(8)).
  package let alternativeNames: [String]
  /// Whether it is switched on.
  package let isUp: Bool
  /// Whether it carries packets.
  package let isOperating: Bool
  /// Why it does not carry packets; `nil` where it does.
  package let reason: Reachability.Reason?
  package let addresses: [Address]
}
