// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Which interfaces count for a path, and what they cost.
public struct PathConfiguration: Hashable, Sendable {
  /// The only kinds of interface that count; empty for all. The loopback interface never counts.
  public var requiredKinds: Set<InterfaceKind> = []

  /// Kinds of interface that do not count.
  public var prohibitedKinds: Set<InterfaceKind> = []

  /// The only interface that counts; `nil` for any.
  ///
  /// It is a name or an alternative name (`altname` of ip-link(8), up to 127 bytes). If no interface has that name, it
  /// may be an index. The interface need not exist yet: until it does, the path is unsatisfied for the reason
  /// `no-interface`. No interface has an empty name.
  public var interface: String?

  /// The firewall mark (SO_MARK, socket(7)) that the packets would carry, for policy routing; 0 is none.
  public var mark: UInt32 = 0

  /// The names of interfaces whose traffic costs money, besides cellular ones. Alternative names count, too. The kernel
  /// does not know which interfaces do.
  public var meteredInterfaces: Set<String> = []

  /// The names of interfaces to use sparingly, by the user's choice. Alternative names count, too. The kernel does not
  /// know of that choice.
  public var constrainedInterfaces: Set<String> = []

  /// How long nothing may change before a change is delivered. Zero delivers at once.
  ///
  /// A change is held back until nothing has changed for this long, and at most four times as long after the first
  /// change. The first path, and ``PathMonitor/current``, are never held back. A negative time counts as zero.
  public var settling: Duration = .zero

  /// All interfaces, no mark, cellular ones expensive, no settling.
  public init() {}

  /// Whether all interfaces count.
  package var isUnrestricted: Bool { requiredKinds.isEmpty && prohibitedKinds.isEmpty && interface == nil }

  /// Returns whether interfaces of this kind count.
  package func allows(_ kind: InterfaceKind) -> Bool {
    (requiredKinds.isEmpty || requiredKinds.contains(kind)) && !prohibitedKinds.contains(kind)
  }
}
