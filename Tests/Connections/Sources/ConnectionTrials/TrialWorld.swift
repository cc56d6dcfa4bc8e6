// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab
import Dispatch
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOPosix
import NetworkLab
import Synchronization

/// A client with two uplinks, and its servers behind them: nginx, gRPC, an echo.
final class TrialWorld: Sendable {
  let lab: ConnectionLab
  var client: NetworkLab { lab.client }
  var server: NetworkLab { lab.server }
  /// Where the clients run: some make their sockets where they are called.
  let executor: LabExecutor
  private let nginx: NginxLab
  private let group: MultiThreadedEventLoopGroup
  private let rpc: GRPCServer<HTTP2ServerTransport.Posix>
  private let serving: Task<Void, any Error>
  private let tunnel = Mutex<Tunnel?>(nil)

  init(hasSecond: Bool) async throws {
    lab = try await ConnectionLab(second: hasSecond, threads: 2)
    executor = try LabExecutor(lab.client)
    nginx = try await NginxLab(lab.server)
    group = try lab.server.run { MultiThreadedEventLoopGroup(numberOfThreads: 1) }
    let rpc = EchoRPC.server(group)
    self.rpc = rpc
    let executor = try LabExecutor(lab.server)
    serving = Task(executorPreference: executor) { try await rpc.serve() }
    _ = try await rpc.listeningAddress
  }

  func stop() async throws {
    serving.cancel()
    _ = await serving.result
    try await group.shutdownGracefully()
    try await lab.stop()
  }

  // MARK: Changes

  func removeAddress() throws { try client.deleteAddress("10.0.0.1/24", "u0") }

  func addAddress() throws {
    try client.addAddress("10.0.0.1/24", "u0")
    try client.addRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
  }

  func moveDefault() throws { try client.addRoute("default", via: "10.0.1.2", dev: "u1", metric: 10) }

  func moveDefaultBack() throws { try client.deleteRoute("default", via: "10.0.1.2", dev: "u1", metric: 10) }

  /// Reverse path filtering: answers to that address leave by another link.
  func dropFirstUplink() throws {
    try server.sysctl("ipv4/conf/s0/rp_filter", 1)
    try server.addRoute("10.0.0.1/32", via: "10.0.1.1", dev: "s1")
  }

  func restoreFirstUplink() throws {
    try server.deleteRoute("10.0.0.1/32", via: "10.0.1.1", dev: "s1")
    try server.sysctl("ipv4/conf/s0/rp_filter", 0)
  }

  /// As wg-quick does: everything without its mark goes through the tunnel, except what the main table has a route for
  /// that is not the default.
  func raiseTunnel() throws {
    let new = try Tunnel(client, server)
    tunnel.withLock { $0 = new }
    try client.up("tun0")
    try client.addAddress("10.8.0.2/32", "tun0")
    try server.up("tun0")
    try server.addAddress("10.8.0.1/32", "tun0")
    try server.addRoute("10.8.0.2/32", dev: "tun0")
    try client.addRoute("default", dev: "tun0", table: 51_820)
    try client.addRule(priority: 101, .lookup(51_820), mark: 51_820, inverted: true)
    try client.addRule(priority: 100, .lookup(LabTable.main), suppressPrefixLength: 0)
  }

  func lowerTunnel() throws {
    try client.deleteRule(priority: 100)
    try client.deleteRule(priority: 101)
    tunnel.withLock { $0.take() }?.close()
  }
}

/// A tunnel between two labs, by a tun device in each. Like WireGuard's, its far end only takes packets that come from
/// the address that belongs to the near end.
///
/// `@unchecked Sendable`: the sources are made in init and only cancelled later, which any thread may do.
private final class Tunnel: @unchecked Sendable {
  private let sources: [any DispatchSourceRead]

  init(_ client: NetworkLab, _ server: NetworkLab) throws {
    // The name is only read, during the call.
    let open: @Sendable () throws -> CInt = {
      let descriptor = unsafe lab_open_tun("tun0", false, false)
      if descriptor < 0 { throw LabError("ip tuntap add tun0", code: -descriptor) }
      // A read that waits for a packet would hold up the device's end.
      guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else { throw LabError("fcntl", code: errno) }
      return descriptor
    }
    let near = try client.run(open)
    let far = try server.run(open)
    sources = [
      Self.pump(from: near, to: far) { $0.count >= 16 && $0[12..<16].elementsEqual([10, 8, 0, 2]) },
      Self.pump(from: far, to: near) { _ in true },
    ]
  }

  /// Each packet is one read.
  private static func pump(
    from source: CInt, to target: CInt, _ passes: @escaping @Sendable (ArraySlice<UInt8>) -> Bool
  ) -> any DispatchSourceRead {
    let pump = DispatchSource.makeReadSource(fileDescriptor: source, queue: DispatchQueue(label: "tunnel"))
    pump.setEventHandler {
      var packet = [UInt8](repeating: 0, count: 65_536)
      // The kernel writes within the array's count.
      let count = unsafe read(source, &packet, packet.count)
      guard count > 0, passes(packet[..<count]) else { return }
      // What cannot be sent is lost, as on any link.
      _ = unsafe write(target, packet, count)
    }
    pump.setCancelHandler { lab_close(source) }
    pump.activate()
    return pump
  }

  func close() {
    for source in sources { source.cancel() }
  }
}
#endif
