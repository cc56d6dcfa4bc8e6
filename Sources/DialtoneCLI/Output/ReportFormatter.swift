// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Makes a line of a report.
protocol ReportFormatter {
  /// The line without its end.
  mutating func line(for report: Report) -> String
}
