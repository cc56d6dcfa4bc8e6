// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone

/// A span of a journal, to be told: findings of the wanted targets, in their order.
package struct JournalView {
  package let directory: JournalDirectory
  package var since: Int64
  package var until: Int64
  /// The targets that are told of; `nil` for all.
  package var targets: Set<String>?
  package private(set) var skippedLines = 0
  package private(set) var skippedFiles: [String] = []
  package private(set) var seen: Set<String> = []

  package init(_ directory: JournalDirectory, since: Int64, until: Int64, targets: Set<String>? = nil) {
    self.directory = directory
    self.since = since
    self.until = until
    self.targets = targets
  }

  /// Reads it once. Findings that lie beside the span are left out; those that overlap it are whole. `now` is the
  /// present moment, until which a recorder that is at work has seen. `progress` is called with the bytes read so far,
  /// and those to be read.
  package mutating func read(
    now: Moment = JournalClock.system.now(), progress: (Int, Int) -> Void = { _, _ in },
    _ take: @escaping (OutageLog.Finding) -> Void
  ) throws(SystemError) {
    let (since, until, targets) = (since, until, targets)
    var seen: Set<String> = []
    var log = OutageLog { finding in
      let (target, from, to) = finding.place
      if to < since || from > until { return }
      if let target {
        if targets?.contains(target) == false { return }
        seen.insert(target)
      }
      take(finding)
    }
    var reader = JournalReader(directory) { log.skip(isFile: $0) }
    try reader.read(since: since, progress: progress) { log.take($0) }
    skippedLines = reader.skippedLines
    skippedFiles = reader.skippedFiles
    log.finish(now: try directory.isBeingWritten() ? now : nil)
    self.seen = seen
  }
}

extension OutageLog.Finding {
  fileprivate var place: (target: String?, from: Int64, to: Int64) {
    switch self {
    case .watched(let target, _, let from, let to): (target, from, to)
    case .outage(let outage): (outage.target, outage.began, outage.ended)
    case .path(_, let from, let to), .asleep(let from, let to): (nil, from, to)
    }
  }
}
