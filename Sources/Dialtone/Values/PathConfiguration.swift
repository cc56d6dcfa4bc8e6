// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Which interfaces count for a path, and what they cost.
public struct PathConfiguration: Hashable, Sendable {
  /// The only kinds of interface that count; empty for all. The loopback interface never counts.
  public var requiredKinds: Set<InterfaceKind> = []

  /// Kinds of interface that do not count.
  public var prohibitedKinds: Set<InterfaceKind> = []

  /// The only interface that counts, as ``ReachabilityConfiguration/interface`` names it; `nil` for any. Until it
  /// exists, the path is unsatisfied for the reason `no-interface`.
  public var interface: String?

  /// The firewall mark that the packets would carry, as ``ReachabilityConfiguration/mark``; 0 is none.
  public var mark: UInt32 = 0

  /// The names of interfaces whose traffic costs money, besides cellular ones. Alternative names count, too. The kernel
  /// does not know which interfaces do.
  public var meteredInterfaces: Set<String> = []

  /// The names of interfaces to use sparingly, by the user's choice. Alternative names count, too. The kernel does not
  /// know of that choice.
  public var constrainedInterfaces: Set<String> = []

  /// How long nothing may change before a change is delivered, as ``ReachabilityConfiguration/settling`` says. The
  /// first path, and ``PathMonitor/current``, are never held back.
  public var settling: Duration = .zero

  /// All interfaces, no mark, cellular ones expensive, no settling.
  public init() {}

  package var isUnrestricted: Bool { requiredKinds.isEmpty && prohibitedKinds.isEmpty && interface == nil }

  package func allows(_ kind: InterfaceKind) -> Bool {
    (requiredKinds.isEmpty || requiredKinds.contains(kind)) && !prohibitedKinds.contains(kind)
  }
}
