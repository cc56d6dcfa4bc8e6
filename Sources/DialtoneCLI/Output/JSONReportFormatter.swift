// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// One JSON object a line, always with all keys; `null` if nothing is known.
struct JSONReportFormatter: ReportFormatter {
  let targets: [WatchedTarget]

  func line(for report: Report) -> String {
    let state = report.state
    return JSONWriter.object { writer in
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
