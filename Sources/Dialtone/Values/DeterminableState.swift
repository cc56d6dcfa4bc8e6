// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A state that a monitor may not know yet. The states of all monitors conform.
///
/// A state is *determined* once it is known. An undetermined state may have a reason, and receivers get it: a name
/// cannot be looked up for now, or the system denies access to its network's state. A name is looked up again, so
/// waits go on. If the system denies access, ``StateMonitor/waitUntilDetermined(timeout:)`` ends with an error.
public protocol DeterminableState: Equatable, Sendable {
  /// Returns whether a receiver that got one of the two states does not get the other one after it.
  ///
  /// - Parameter other: The state to compare with.
  /// - Returns: Whether they are the same to receivers. `==` compares everything, also the time.
  func isSameState(as other: Self) -> Bool

  /// Whether the state is known.
  var isDetermined: Bool { get }

  /// Whether the system denies access to the network's state, so that the state may never be known. The default is
  /// `false`.
  var isDenied: Bool { get }
}

extension DeterminableState {
  /// `false`: the system denies nothing about states of this type.
  public var isDenied: Bool { false }
}

extension Reachability: DeterminableState {
  /// Whether the system denies access to the network's state, or lacks what it takes to ask: the
  /// ``reason-swift.property`` is ``Reason-swift.struct/denied`` or says what has run out.
  public var isDenied: Bool { reason?.isDenial ?? false }
}

extension NetworkPath: DeterminableState {
  /// Whether the system denies access to the network's state, or lacks what it takes to ask: the ``reason`` is
  /// ``Reachability/Reason-swift.struct/denied`` or says what has run out.
  public var isDenied: Bool { reason?.isDenial ?? false }

  /// Whether the path is known. An ``Status/undetermined`` path may still have a ``reason``.
  public var isDetermined: Bool { status != .undetermined }
}
