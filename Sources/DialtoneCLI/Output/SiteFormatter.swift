// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import DialtoneSites

/// Which form the lines about sites have.
enum SiteFormatter {
  static func make(
    for request: SiteRequest, json: Bool, showsTime: Bool
  ) -> any ReportFormatter<SiteVerdict> {
    if json { return SiteJSONFormatter() }
    let isTerminal = StandardStream.output.isTerminal
    return SiteTextFormatter(
      urls: request.urls.map(\.text), style: Environment.style(isTerminal: isTerminal),
      columns: isTerminal ? { StandardStream.output.columns } : nil, showsTime: showsTime,
      anyAnswerCounts: request.configuration.check.expectation == .answer)
  }
}
