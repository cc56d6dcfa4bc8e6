// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
extension LinuxNetwork {
  func path(_ configuration: PathConfiguration) -> PathAnswer {
    guard queries != nil, schedule.isReady else {
      pollAgain()
      return PathAnswer(.denied(for: schedule.denial))
    }
    // A change is announced once they are read.
    guard let servers = nameServers else { return .pending }
    let assembly = NetworkPathAssembly(decision, configuration)
    var links = assembly.candidates
    let before = queryCount
    var ways = ways(over: [nil] + links.map(\.index), mark: configuration.mark)
    // Mostly there are none.
    let others = assembly.others(takenBy: ways[0], than: links)
    ways += self.ways(over: others.map(\.index), mark: configuration.mark)
    links += others
    let bound = zip(links, ways.dropFirst()).map { NetworkPathAssembly.Ways(link: $0, ways: $1) }

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
    var found: [ConnectLookup] = []
    for output in outputs {
      for target in [IPAddress.rootServer(.ipv4), .rootServer(.ipv6)] {
        let destination = KernelQueries.Destination(
          address: target.bits, source: nil, output: output, mark: mark, transport: .tcp, port: 0)
        found.append(ConnectLookup(target, destination, number: found.count))
      }
    }
    lookUp(&found)
    found.sort { $0.number < $1.number }
    return stride(from: 0, to: found.count, by: 2).map { first in
      found[first...first + 1].map { NetworkPathAssembly.Way($0.state, metric: $0.metric) }
    }
  }
}
#endif
