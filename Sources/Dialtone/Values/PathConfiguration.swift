// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Which interfaces count for a path, and what they cost.
public struct PathConfiguration: Hashable, Sendable {
  /// The only kinds of interface that count; empty for all. The loopback interface never counts.
  public var requiredKinds: Set<InterfaceKind> = []

  /// Kinds of interface that do not count.
  public var prohibitedKinds: Set<InterfaceKind> = []

  /// The only interface that counts, by its name or an alternative one (`altname` of ip-link(8), up to 127 bytes), or,
  /// if none has it, by index; `nil` for any. It need not exist yet: until it does, the path is unsatisfied for the
  /// reason `no-interface`. No interface has an empty name.
  public var interface: String?

  /// The firewall mark (SO_MARK, socket(7)) that the packets would carry, for policy routing; 0 is none.
  public var mark: UInt32 = 0

  /// The names of interfaces whose traffic costs money, besides cellular ones; alternative names count, too. The kernel
  /// does not know of such.
  public var meteredInterfaces: Set<String> = []

  /// The names of interfaces that are to be used sparingly, by the user's choice; alternative names count, too. The
  /// kernel does not know of such.
  public var constrainedInterfaces: Set<String> = []

  /// How long it must be quiet before a change is delivered. Zero delivers at once.
  ///
  /// A change is held back until nothing has changed for this long, and at most four times as long after the first
  /// change. The first path, and ``PathMonitor/current``, are never held back. Negative counts as zero.
  public var settling: Duration = .zero

  /// All interfaces, no mark, cellular ones expensive, no settling.
  public init() {}

  /// Whether all interfaces count.
  package var isUnrestricted: Bool { requiredKinds.isEmpty && prohibitedKinds.isEmpty && interface == nil }

  /// Whether interfaces of this kind count.
  package func allows(_ kind: InterfaceKind) -> Bool {
    (requiredKinds.isEmpty || requiredKinds.contains(kind)) && !prohibitedKinds.contains(kind)
  }
}
