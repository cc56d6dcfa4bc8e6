// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

/// Another library: it follows its servers by tasks, each with a monitor of its own.
public actor ServerWatch {
  private var states: [IPAddress: Reachability] = [:]
  private var tasks: [Task<Void, Never>] = []

  /// Follows nothing yet.
  public init() {}

  /// Follows the servers at these addresses, too.
  public func follow(_ servers: [IPAddress]) {
    for server in servers {
      let updates = ReachabilityMonitor(.address(server)).updates
      tasks.append(
        Task { [weak self] in
          for await state in updates { await self?.note(state, of: server) }
        })
    }
  }

  /// Stops following all servers.
  public func stop() {
    for task in tasks { task.cancel() }
    tasks = []
  }

  /// The number of servers with a known state.
  public var knownCount: Int { states.count }

  private func note(_ state: Reachability, of server: IPAddress) { states[server] = state }
}
