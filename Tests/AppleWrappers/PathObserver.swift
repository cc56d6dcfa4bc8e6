// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// As newer programs for Apple's platforms do it.

#if canImport(Network)
import Network
#elseif canImport(DialtoneNetwork)
import DialtoneNetwork
#endif

/// Follows the path with a handler.
package final class PathObserver {
  package enum Connection: String, Sendable { case wifi, cellular, ethernet, other, none, unsupported }

  private let monitor: NWPathMonitor
  private let queue = DispatchQueue(label: "path-observer", qos: .utility)

  package init(requiredInterfaceType: NWInterface.InterfaceType? = nil) {
    monitor = requiredInterfaceType.map { NWPathMonitor(requiredInterfaceType: $0) } ?? NWPathMonitor()
  }

  deinit { monitor.cancel() }

  package func start(_ update: @escaping @Sendable (Connection, _ supportsDNS: Bool) -> Void) {
    monitor.pathUpdateHandler = { path in
      update(PathObserver.connection(of: path), path.supportsDNS)
    }
    monitor.start(queue: queue)
  }

  package func stop() { monitor.cancel() }

  package var isOnline: Bool { monitor.currentPath.status == .satisfied }

  static func connection(of path: NWPath) -> Connection {
    switch path.status {
    case .unsatisfied, .requiresConnection:
      switch path.unsatisfiedReason {
      case .cellularDenied, .wifiDenied, .localNetworkDenied, .vpnInactive: return .unsupported
      case .notAvailable: return .none
      @unknown default: return .none
      }
    case .satisfied: break
    @unknown default: return .unsupported
    }
    if path.usesInterfaceType(.wifi) { return .wifi }
    if path.usesInterfaceType(.cellular) { return .cellular }
    return path.availableInterfaces.first?.type == .wiredEthernet ? .ethernet : .other
  }

  /// The names of the first interfaces, path by path, until the sequence has ended or `limit` paths came.
  package static func names(of monitor: NWPathMonitor, limit: Int) async -> [String] {
    var names: [String] = []
    for await path in monitor {
      names.append(path.availableInterfaces.first?.name ?? "-")
      if names.count == limit { break }
    }
    return names
  }

  /// The same from a handler, by way of a stream.
  package static func statuses() -> AsyncStream<Bool> {
    AsyncStream { continuation in
      let monitor = NWPathMonitor()
      monitor.pathUpdateHandler = { continuation.yield($0.status == .satisfied) }
      continuation.onTermination = { _ in monitor.cancel() }
      monitor.start(queue: DispatchQueue(label: "statuses"))
    }
  }
}
