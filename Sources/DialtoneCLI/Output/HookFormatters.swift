// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites

extension HookFacts {
  /// What is known of a target. Every variable is set; those of which nothing is known are empty.
  init(_ report: Report, targets: [WatchedTarget]) {
    let state = report.state
    environment = [
      "DIALTONE_TIME": state.timestamp?.description ?? "",
      "DIALTONE_TARGET": targets[report.target].typed,
      "DIALTONE_STATUS": state.status.identifier,
      "DIALTONE_REASON": state.reason?.identifier ?? "",
      "DIALTONE_INTERFACE": state.interface?.name ?? "",
      "DIALTONE_INTERFACE_KIND": state.interface?.kind.identifier ?? "",
      "DIALTONE_SOURCE": state.source?.description ?? "",
      "DIALTONE_GATEWAY": state.gateway?.description ?? "",
      "DIALTONE_DESTINATION": state.destination?.description ?? "",
    ]
    json = JSONReportFormatter(targets: targets).line(for: report)
  }

  /// What is known of a site: the verdict is the status, and the error the reason.
  init(_ report: StateReport<SiteVerdict>) {
    let verdict = report.state
    environment = [
      "DIALTONE_TIME": verdict.timestamp?.description ?? "",
      "DIALTONE_TARGET": verdict.url.text,
      "DIALTONE_STATUS": verdict.kind.identifier,
      "DIALTONE_REASON": verdict.error?.message ?? "",
      "DIALTONE_INTERFACE": verdict.interface?.name ?? "",
      "DIALTONE_INTERFACE_KIND": verdict.interface?.kind.identifier ?? "",
      "DIALTONE_SOURCE": "",
      "DIALTONE_GATEWAY": "",
      "DIALTONE_DESTINATION": verdict.address?.description ?? "",
    ]
    json = SiteJSONFormatter().line(for: report)
  }
}
