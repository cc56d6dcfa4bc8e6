// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a monitor tells of, and may not know: the states of all monitors are such.
///
/// A state is *determined* once it is known. One that is not may have a reason, and receivers are told of it: a name that
/// cannot be looked up for now, which is looked up again, or a system that denies access to its network's state. Only
/// the latter is *given up*: ``StateMonitor/waitUntilDetermined(timeout:)`` ends with an error then.
public protocol DeterminableState: Sendable {
  /// Whether it is known. A state that is not may still have a reason for that.
  var isDetermined: Bool { get }

  /// Whether nobody can tell, since the system denies access to the network's state. `false`, unless a type says otherwise.
  var isDenied: Bool { get }
}

extension DeterminableState {
  /// Whether nobody can tell. Of this type the system denies nothing.
  public var isDenied: Bool { false }
}

extension Reachability: DeterminableState {
  /// Whether nobody can tell, since the system denies access to the network's state: the ``reason`` is
  /// ``Reason-swift.struct/denied``.
  public var isDenied: Bool { reason == .denied }
}

extension NetworkPath: DeterminableState {
  /// Whether nobody can tell, since the system denies access to the network's state.
  public var isDenied: Bool { reason == .denied }

  /// Whether the path is known. An ``Status/undetermined`` one may still have a ``reason``.
  public var isDetermined: Bool { status != .undetermined }
}
