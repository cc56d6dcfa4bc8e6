// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Whether a site answers, and over what. You can start and stop checking, and see the live state.
//
//   swift run SiteStatus https://example.com/
//
// Type start, stop, state or quit. Pull the cable while it checks: the site is offline at once, and is checked when the
// path is back.

import Dialtone
import DialtoneSites
import Foundation

@main
struct SiteStatus {
  static func main() throws {
    guard let text = CommandLine.arguments.dropFirst().first else {
      say("Name a site: swift run SiteStatus https://example.com/")
      return
    }
    let checking = SiteChecking(try SiteURL(text))
    try checking.start()
    say("Type start, stop, state or quit.")
    while let command = readLine() {
      switch command {
      case "start": try checking.start()
      case "stop": checking.stop()
      case "state": say(checking.state)
      case "quit": return
      default: say("Type start, stop, state or quit.")
      }
    }
  }
}

/// Checks one site between start and stop.
final class SiteChecking {
  private let url: SiteURL
  // Both end with their last reference, so they are kept here while checking.
  private var monitor: SiteMonitor?
  private var observation: ReachabilityObservation?

  init(_ url: SiteURL) { self.url = url }

  var state: String {
    guard let monitor else { return "stopped" }
    return (monitor.isChecking ? "checking; " : "") + Self.words(monitor.current)
  }

  func start() throws {
    if monitor != nil { return }
    let configuration = SiteMonitorConfiguration(check: SiteCheckConfiguration(timeout: .seconds(5)))
    let monitor = try SiteMonitor(url, configuration: configuration)
    observation = monitor.observe { verdict in say("now: " + Self.words(verdict)) }
    self.monitor = monitor
  }

  func stop() {
    observation?.cancel()
    (observation, monitor) = (nil, nil)
  }

  private static func words(_ verdict: SiteVerdict) -> String {
    verdict.interface.map { "\(verdict), over \($0.kind)" } ?? "\(verdict)"
  }
}

/// Prints a line at once, also into a pipe.
func say(_ line: String) {
  // Not fflush(3) of all streams: it would wait for the line that is being read.
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
