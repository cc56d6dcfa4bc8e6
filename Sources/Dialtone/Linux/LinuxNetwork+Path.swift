// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Netlink

extension LinuxNetwork {
  /// So many destinations are asked for at a time.
  private static let batchSize = 256

  package func path(_ configuration: PathConfiguration) -> NetworkPath {
    guard let queries, isSynchronised else {
      pollAgain(after: Self.pollInterval)
      return .denied
    }
    let assembly = NetworkPathAssembly(decision, configuration)
    let candidates = assembly.candidates
    let internet = [IPAddress.Family.ipv4, .ipv6].map(TargetRecord.rootServer)
    let servers = NameServers.configured(root: nameConfigurationRoot)

    var asked: [(target: IPAddress, destination: KernelQueries.Destination)] = []
    func ask(_ target: IPAddress, over output: UInt32?, mark: UInt32) {
      let destination = KernelQueries.Destination(address: target.bits, source: nil, output: output, mark: mark)
      asked.append((target, destination))
    }
    for output in [nil] + candidates.map(\.index) {
      for target in internet { ask(target, over: output, mark: configuration.mark) }
    }
    // Whoever resolves names knows nothing of our mark.
    for server in servers {
      ask(server, over: server.zone.flatMap { _ in links.link(named: server.inlineZone)?.index }, mark: 0)
    }

    var ways: [NetworkPathAssembly.Way] = []
    for start in stride(from: 0, to: asked.count, by: Self.batchSize) {
      let batch = asked[start..<min(start + Self.batchSize, asked.count)]
      for (question, replies) in zip(batch, queries.routes(to: batch.map(\.destination))) {
        let state = decision.decide(question.target, replies, output: question.destination.output)
        // As for targets: a query that failed is asked again whether or not anything changes.
        if state.status == .undetermined { pollAgain(after: Self.pollInterval) }
        ways.append(.init(state, metric: replies.metric))
      }
    }
    func pair(_ position: Int) -> [NetworkPathAssembly.Way] { Array(ways[(2 * position)..<(2 * position + 2)]) }
    return assembly.path(
      general: pair(0), bound: candidates.enumerated().map { .init($1, pair($0 + 1)) },
      nameServers: ways.suffix(servers.count).map(\.state))
  }
}

extension RouteReplies {
  /// The metric of the matching route; 0 where there is none, or it has none.
  fileprivate var metric: UInt32 { if case .route(let route) = match { route.priority ?? 0 } else { 0 } }
}
#endif
