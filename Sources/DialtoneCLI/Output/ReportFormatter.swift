// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Makes a line of a report.
protocol ReportFormatter<State> {
  associatedtype State: Equatable & Sendable

  /// The line without its end.
  mutating func line(for report: StateReport<State>) -> String
}
