// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// One JSON object a line: all keys always there, `null` where nothing is known.
struct JSONReportFormatter: ReportFormatter {
  let targets: [WatchedTarget]

  func line(for report: Report) -> String {
    let state = report.state
    return JSONWriter.object { writer in
      // A target that nothing has been read of has no time.
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
