// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import TestSupport
import Dialtone
import DialtoneSites
import NIOConcurrencyHelpers
import NetworkLab

/// The verdicts that a monitor told a plain handler, in order.
final class VerdictRecording: Sendable {
  private final class Log: Sendable {
    let verdicts = NIOLockedValueBox<[SiteVerdict]>([])
  }

  private let log: Log
  private let observation: ReachabilityObservation

  init(_ monitor: SiteMonitor) {
    let log = Log()
    self.log = log
    observation = monitor.observe { verdict in log.verdicts.withLockedValue { $0.append(verdict) } }
  }

  var verdicts: [SiteVerdict] { log.verdicts.withLockedValue { $0 } }
  var kinds: [SiteVerdict.Kind] { verdicts.map(\.kind) }

  /// Waits until the last verdict is of that kind.
  func wait(for kind: SiteVerdict.Kind) async throws {
    do {
      try await eventually(within: .seconds(60), "the verdict is \(kind)") { verdicts.last?.kind == kind }
    } catch {
      throw LabError("\(error); told: \(verdicts)")
    }
  }
}
#endif
