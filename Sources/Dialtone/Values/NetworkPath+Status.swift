// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension NetworkPath.Status {
  /// A short text that never changes, for files and other programs: `undetermined`, `unsatisfied`, `requires-connection`,
  /// `satisfied`.
  public var identifier: String {
    switch self {
    case .undetermined: "undetermined"
    case .unsatisfied: "unsatisfied"
    case .requiresConnection: "requires-connection"
    case .satisfied: "satisfied"
    }
  }
}
