// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Path monitors. Their answers are made of several queries each, so they are asked as a whole whenever anything changed that
/// could touch them: any link or address, and the routes to where the Internet's queries go.
extension EngineState {
  func addPath(_ storage: ValueStorage<NetworkPath>, _ configuration: PathConfiguration) {
    if paths.isEmpty {
      for query in pathQueries { node(of: query).isOfPaths = true }
    }
    paths[ObjectIdentifier(storage)] = PathRecord(storage, configuration)
    arePathsStale = true
  }

  func removePath(_ storage: ValueStorage<NetworkPath>) {
    paths[ObjectIdentifier(storage)] = nil
    if !paths.isEmpty { return }
    for query in pathQueries {
      let node = node(of: query)
      node.isOfPaths = false
      removeIfUnused(node)
    }
  }

  /// What has routes to these addresses announced.
  private var pathQueries: [PathQuery] { [.ipv4, .ipv6].map { PathQuery(.address(TargetRecord.rootServer($0))) } }

  func askPaths() {
    if !arePathsStale { return }
    arePathsStale = false
    for record in paths.values { record.answer = source.path(record.configuration) }
  }

  func decidePaths(realtime: Int64, now: Int64, outcome: inout Outcome) {
    for record in paths.values {
      guard var new = record.answer else { continue }
      record.answer = nil
      let storage = record.storage
      let old = storage.current
      new.realtime = new == old ? old.realtime : realtime
      switch record.machine.decided(new, after: old, now: now) {
      case .ignore: break
      case .store: storage.store(new)
      case .deliver:
        storage.store(new)
        storage.release()
        outcome.touched.append(storage)
      case .holdBack(let until):
        storage.store(new, holdingBack: true)
        outcome.touched.append(storage)
        if !record.hasSettlingTimer {
          record.hasSettlingTimer = true
          timers.add(.settlePath(record), at: until)
        }
      }
    }
  }

  func settle(_ record: PathRecord, now: Int64, outcome: inout Outcome) {
    record.hasSettlingTimer = false
    switch record.machine.settle(now: now) {
    case .deliver:
      record.storage.release()
      outcome.touched.append(record.storage)
    case .holdBack(let until):
      record.hasSettlingTimer = true
      timers.add(.settlePath(record), at: until)
    case .ignore, .store: break
    }
  }
}
