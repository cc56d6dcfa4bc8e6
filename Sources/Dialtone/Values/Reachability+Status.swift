// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension Reachability.Status {
  /// A short text that never changes, for files and other programs: `undetermined`, `unreachable`,
  /// `requires-connection`, `reachable`.
  public var identifier: String {
    switch self {
    case .undetermined: "undetermined"
    case .unreachable: "unreachable"
    case .requiresConnection: "requires-connection"
    case .reachable: "reachable"
    }
  }
}
