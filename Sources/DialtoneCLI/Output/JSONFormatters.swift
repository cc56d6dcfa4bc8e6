// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneJournal
internal import DialtoneSites

/// One JSON object a line, always with all keys; `null` if nothing is known.
struct JSONReportFormatter: ReportFormatter {
  let targets: [WatchedTarget]

  func line(for report: Report) -> String {
    let state = report.state
    return JSONText.line { writer in
      // If nothing has been read of a target, it has no time.
      writer.field("time", state.timestamp?.description)
      writer.field("target", targets[report.target].typed)
      writer.field("status", state.status.identifier)
      writer.field("flags", state.flags.names)
      writer.field("flagsDescription", state.flags.description)
      writer.field("interface", state.interface)
      writer.field("source", state.source?.description)
      writer.field("gateway", state.gateway?.description)
      writer.field("destination", state.destination?.description)
      writer.field("reason", state.reason?.identifier)
    }
  }
}

/// One JSON object a line, always with all keys; `null` if nothing is known.
struct SiteJSONFormatter: ReportFormatter {
  func line(for report: StateReport<SiteVerdict>) -> String {
    let verdict = report.state
    return JSONText.line { writer in
      writer.field("time", verdict.timestamp?.description)
      writer.field("url", verdict.url.text)
      writer.field("verdict", verdict.kind.identifier)
      writer.field("status", verdict.status.map { UInt32($0) })
      writer.field("location", verdict.location)
      writer.field("stage", verdict.stage?.identifier)
      writer.field("error", verdict.error?.message)
      writer.field("address", verdict.address?.description)
      writer.field("interface", verdict.interface)
      writer.field("certificateExpires", verdict.certificateExpires?.descriptionInSeconds)
      writer.key("timings")
      writer.object { writer in
        writer.field("name", milliseconds: verdict.timings.name)
        writer.field("connect", milliseconds: verdict.timings.connect)
        writer.field("tls", milliseconds: verdict.timings.tls)
        writer.field("firstByte", milliseconds: verdict.timings.firstByte)
        writer.field("total", milliseconds: verdict.timings.total)
      }
    }
  }
}

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
