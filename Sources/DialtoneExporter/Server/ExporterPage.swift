// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites

/// The page for people. It needs nothing from elsewhere, and shows what strangers sent as text.
struct ExporterPage {
  /// Their cells, the newest first.
  let recent: [[String]]
  /// Those that failed: they stay when others have come.
  let failed: [[String]]
  let modules: [String]
  let isLocalPathUp: Bool?

  var html: String {
    let path = isLocalPathUp.map { $0 ? "up" : "down: no probe tells anything of its target" } ?? "not known yet"
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width">
      <meta name="color-scheme" content="light dark">
      <title>Dialtone exporter</title>
      <style>\(Self.style)</style>
      </head>
      <body>
      <h1>Dialtone exporter</h1>
      <p>The path of this machine to the Internet is \(path).</p>
      <form action="probe">
      <label>Target <input name="target" required></label>
      <label>Module <select name="module">\(modules.map(option).joined())</select></label>
      <input type="hidden" name="debug" value="true"><button>Probe</button>
      </form>
      <p><a href="metrics">Metrics</a></p>
      <h2>Last probes</h2>
      \(table(of: recent))
      <h2>Last failures</h2>
      \(table(of: failed))
      </body>
      </html>

      """
  }

  private static let style =
    "body{font:1rem/1.5 system-ui,sans-serif;margin:2rem}table{border-collapse:collapse;display:block;overflow-x:auto}"
    + "td,th{border-bottom:1px solid;padding:.2rem .6rem;text-align:left;overflow-wrap:anywhere}"
    + "label{margin-right:1rem}"

  private func option(_ module: String) -> String {
    "<option\(module == ExporterConfiguration.usualModule ? " selected" : "")>\(Self.escaped(module))</option>"
  }

  private func table(of probes: [[String]]) -> String {
    if probes.isEmpty { return "<p>There was none.</p>" }
    let titles = ["Time", "Target", "Module", "Probe", "Verdict", "Why", "Took"].map { "<th>\($0)</th>" }.joined()
    return "<table><tr>\(titles)</tr>\n" + probes.map(row).joined() + "</table>"
  }

  private func row(_ cells: [String]) -> String {
    "<tr>" + cells.map { "<td>\(Self.escaped($0))</td>" }.joined() + "</tr>\n"
  }

  static func cells(of probe: ProbeRequest, _ result: ProbeResult, at time: UTCTimestamp) -> [String] {
    let verdict = [result.verdict.kind.identifier, result.verdict.stage, result.verdict.reason].filter { !$0.isEmpty }
    let milliseconds = Int((result.duration.inSeconds * 1_000).rounded())
    return [
      time.descriptionInSeconds, probe.target, probe.module.name, result.succeeded ? "success" : "failure",
      verdict.joined(separator: ", "), result.explanation, "\(milliseconds) ms",
    ]
  }

  /// Text as it stands in HTML, in elements and attributes. Control characters have no place there.
  static func escaped(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      let isControl = [.control, .format].contains(scalar.properties.generalCategory)
      return isControl ? "\u{FFFD}" : references[scalar] ?? String(scalar)
    }.joined()
  }

  private static let references: [Unicode.Scalar: String] = [
    "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;",
  ]
}
