// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// The states that a test expects, in the words of Scenarios.md. Two are equal if status, flags, interface (name, index
/// and kind), gateway and reason are equal.
extension NetworkLab {
  /// Reachable over the interface, by a gateway; or without one, and the caller adds `isDirect`.
  func reachable(
    _ name: String, _ kind: InterfaceKind = .wired, via gateway: String? = nil, flags: ReachabilityFlags = []
  ) throws -> Reachability {
    Reachability(
      status: .reachable, flags: flags.union(.reachable), interface: try interface(name, kind),
      gateway: try gateway.map { try #require(IPAddress($0)) })
  }

  /// Unreachable, with the interface that is the reason, if there is one.
  func unreachable(
    _ reason: Reachability.Reason, _ name: String? = nil, _ kind: InterfaceKind = .wired
  ) throws -> Reachability {
    Reachability(status: .unreachable, interface: try name.map { try interface($0, kind) }, reason: reason)
  }

  func interface(_ name: String, _ kind: InterfaceKind = .wired) throws -> NetworkInterface {
    try #require(NetworkInterface(name: name, index: UInt32(try index(of: name)), kind: kind))
  }

  /// Waits until the operational state of every veth and bridge agrees with its carrier. The kernel has then announced
  /// all changes of carriers, which it does some time after the operations that cause them.
  func waitForCarriers() async throws {
    // Here no socket could read the announcements.
    if refusesNetlinkSockets { return }
    try await eventually("carriers are announced") {
      try run {
        var isPending = false
        var client = try NetlinkClient(.route)
        _ = try client.dump(.getLink) { step, bytes in
          guard case .message(let message) = step, let link = LinkMessage(message, in: bytes), link.flags.contains(.up),
            link.infoKind == "veth" || link.infoKind == "bridge"
          else { return }
          let isUp = link.operationalState == .up || link.operationalState == .dormant
          if link.flags.contains(.lowerUp) != isUp, link.operationalState != .unknown { isPending = true }
        }
        return !isPending
      }
    }
  }

  /// Waits until the kernel has announced a change of carrier. It does so some time after the operation, and only for
  /// the final state.
  func waitUntilOperating(_ name: String, _ isOperating: Bool) async throws {
    try await eventually(within: .patience, "\(name) is \(isOperating ? "" : "not ")operating") {
      try run { LinuxNetwork().interfaces().first { $0.interface.name == name }?.isOperating == isOperating }
    }
  }
}

extension LabMonitors {
  /// Waits for the last of the states, then for everything announced so far. Expects that exactly `expected` was
  /// delivered.
  func expect(
    _ recording: Recording, _ expected: Reachability..., sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    do {
      try await eventually(within: .patience, "the last one is delivered") { recording.last ≈ expected.last }
    } catch {
      // The expectation below reports it, with everything that was delivered.
    }
    try await settle()
    #expect(recording.states ≈ expected, sourceLocation: sourceLocation)
  }
}
#endif
