// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What a monitor tells of, and may not know: the states of all monitors are such.
public protocol DeterminableState: Sendable {
  /// Whether it is known. A state that is not may still have a reason for that.
  var isDetermined: Bool { get }
}

extension Reachability: DeterminableState {}

extension NetworkPath: DeterminableState {
  /// Whether the path is known. An ``Status/undetermined`` one may still have a ``reason``.
  public var isDetermined: Bool { status != .undetermined }
}
