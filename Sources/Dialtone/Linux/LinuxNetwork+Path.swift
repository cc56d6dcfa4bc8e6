// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
extension LinuxNetwork {
  /// How many destinations are asked for at a time.
  private static let batchSize = 256

  func path(_ configuration: PathConfiguration) -> PathAnswer {
    guard queries != nil, schedule.isReady else {
      pollAgain()
      return PathAnswer(.denied(for: schedule.denial))
    }
    // A change is announced once they are read.
    guard let servers = nameConfiguration.servers else { return .pending }
    let assembly = NetworkPathAssembly(decision, configuration)
    var links = assembly.candidates
    let before = queryCount
    var ways = ways(over: [nil] + links.map(\.index), mark: configuration.mark)
    // Mostly there are none.
    let others = assembly.others(takenBy: ways[0], than: links)
    ways += self.ways(over: others.map(\.index), mark: configuration.mark)
    links += others
    let bound = zip(links, ways.dropFirst()).map { NetworkPathAssembly.Ways($0, $1) }

    var serverStates: [Reachability] = []
    // The system's resolver knows nothing of our mark, and asks by UDP first (RFC 7766, 5).
    answer(servers.map { RouteQuery(.address($0), transport: .udp, port: 53) }) { _, state in serverStates.append(state)
    }
    return PathAnswer(
      assembly.path(general: ways[0], bound: bound, nameServers: serverStates), nameServers: servers,
      queryCount: queryCount - before)
  }

  /// Returns the ways to the Internet over each of the outputs, by IPv4 and by IPv6. An output of `nil` is any link.
  private func ways(over outputs: [UInt32?], mark: UInt32) -> [[NetworkPathAssembly.Way]] {
    let targets = [IPAddress.Family.ipv4, .ipv6].map(TargetRecord.rootServer)
    var ways: [[NetworkPathAssembly.Way]] = []
    for start in stride(from: 0, to: outputs.count, by: Self.batchSize / targets.count) {
      let batch = outputs[start..<min(start + Self.batchSize / targets.count, outputs.count)]
      var found: [ConnectLookup] = []
      for output in batch {
        for target in targets {
          let destination = KernelQueries.Destination(
            address: target.bits, source: nil, output: output, mark: mark, transport: .tcp, port: 0)
          found.append(ConnectLookup(target, destination, number: found.count))
        }
      }
      lookUp(&found, decision)
      found.sort { $0.number < $1.number }
      ways += stride(from: 0, to: found.count, by: targets.count).map { first in
        found[first..<first + targets.count].map { NetworkPathAssembly.Way($0.state, metric: $0.metric) }
      }
    }
    return ways
  }
}
#endif
