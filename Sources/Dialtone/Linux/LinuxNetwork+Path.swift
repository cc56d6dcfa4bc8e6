// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Netlink

extension LinuxNetwork {
  /// So many destinations are asked for at a time.
  private static let batchSize = 256

  package func path(_ configuration: PathConfiguration) -> PathAnswer {
    guard queries != nil, isSynchronised else {
      pollAgain(after: Self.pollInterval)
      return PathAnswer(.denied)
    }
    let assembly = NetworkPathAssembly(decision, configuration)
    let candidates = assembly.candidates
    let outputs = [nil] + candidates.map(\.index)
    let ways = ways(over: outputs, mark: configuration.mark)
    let bound = zip(candidates, ways.dropFirst()).map { NetworkPathAssembly.Ways($0, $1) }

    let servers = NameServers.configured(root: nameConfigurationRoot)
    var serverStates: [Reachability] = []
    // Whoever resolves names knows nothing of our mark.
    answer(servers.map { PathQuery(.address($0)) }) { _, state in serverStates.append(state) }
    return PathAnswer(
      assembly.path(general: ways[0], bound: bound, nameServers: serverStates), nameServers: servers,
      queryCount: 2 * outputs.count + servers.count)
  }

  /// The ways to the Internet over each of the outputs, by IPv4 and by IPv6; `nil` is any.
  private func ways(over outputs: [UInt32?], mark: UInt32) -> [[NetworkPathAssembly.Way]] {
    guard let queries else { return [] }
    let decision = decision
    let targets = [IPAddress.Family.ipv4, .ipv6].map(TargetRecord.rootServer)
    var ways: [[NetworkPathAssembly.Way]] = []
    for start in stride(from: 0, to: outputs.count, by: Self.batchSize / targets.count) {
      let batch = outputs[start..<min(start + Self.batchSize / targets.count, outputs.count)]
      let replies = queries.routes(
        to: batch.flatMap { output in
          targets.map {
            KernelQueries.Destination(
              address: $0.bits, source: nil, output: output, mark: mark, transport: .tcp, port: 0)
          }
        })
      for (position, output) in batch.enumerated() {
        ways.append(
          targets.indices.map { index in
            let reply = replies[position * targets.count + index]
            let state = decision.decide(targets[index], reply, output: output)
            // As for targets: a query that failed is asked again whether or not anything changes.
            if state.status == .undetermined { pollAgain(after: Self.pollInterval) }
            return NetworkPathAssembly.Way(state, metric: reply.metric)
          })
      }
    }
    return ways
  }
}

extension RouteReplies {
  /// The metric of the matching route; 0 where there is none, or it has none.
  fileprivate var metric: UInt32 { if case .route(let route) = match { route.priority ?? 0 } else { 0 } }
}
#endif
