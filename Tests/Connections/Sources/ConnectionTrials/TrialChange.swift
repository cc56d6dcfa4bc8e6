// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NetworkLab

/// One kind of change, as it is played in a lab with two uplinks.
struct TrialChange: Sendable {
  let name: String
  /// Whether the second uplink is there.
  var hasSecond = true
  /// Whether clients have a connection, on which nothing is under way, when the change comes.
  var isWarm = true
  /// What is done before the clients connect.
  var prepare: @Sendable (TrialWorld) throws -> Void = { _ in }
  let make: @Sendable (TrialWorld) throws -> Void
  /// What ends the outage that `make` began. The time counts from here if there is one.
  var undo: (@Sendable (TrialWorld) throws -> Void)?
  /// Brings the lab back, if `undo` does not.
  var restore: @Sendable (TrialWorld) throws -> Void = { _ in }

  /// How long an outage lasts. What was sent at its beginning is sent again after 0.2, 0.6, 1.4, 3.0 and 6.2 seconds,
  /// by the kernel's rules: so the path is back while the next time is further away than the grace.
  static let outage = Duration.seconds(4)

  static let all: [TrialChange] = [
    TrialChange(name: "address gone, another uplink there") {
      try $0.removeAddress()
    } restore: {
      try $0.addAddress()
    },
    TrialChange(name: "address gone and back", hasSecond: false) {
      try $0.removeAddress()
    } undo: {
      try $0.addAddress()
    },
    TrialChange(name: "route gone and back", hasSecond: false) {
      try $0.client.deleteRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    } undo: {
      try $0.client.addRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    },
    TrialChange(name: "carrier gone and back", hasSecond: false) {
      try $0.server.down("s0")
    } undo: {
      try $0.server.up("s0")
    },
    TrialChange(name: "unreachable route there and gone") {
      try $0.client.addRoute("192.0.2.80/32", kind: .unreachable)
    } undo: {
      try $0.client.deleteRoute("192.0.2.80/32", kind: .unreachable)
    },
    TrialChange(name: "VPN by tun up", make: { try $0.raiseTunnel() }, restore: { try $0.lowerTunnel() }),
    TrialChange(name: "VPN by tun down", prepare: { try $0.raiseTunnel() }, make: { try $0.lowerTunnel() }),
    TrialChange(name: "default moved, old source still works") {
      try $0.moveDefault()
    } restore: {
      try $0.moveDefaultBack()
    },
    TrialChange(name: "default moved, router drops the old source") {
      try $0.server.sysctl("ipv4/conf/s1/rp_filter", 1)
      try $0.moveDefault()
    } restore: {
      try $0.moveDefaultBack()
      try $0.server.sysctl("ipv4/conf/s1/rp_filter", 0)
    },
    TrialChange(name: "new address beside the old") {
      try $0.client.addAddress("10.0.0.9/24", "u0")
    } restore: {
      try $0.client.deleteAddress("10.0.0.9/24", "u0")
    },
    TrialChange(name: "200 veth pairs made and deleted") {
      try $0.client.addVeths("x", count: 200)
      try $0.client.deleteVeths()
    },
    TrialChange(name: "a back-off under way: route gone and back", hasSecond: false, isWarm: false) {
      try $0.client.deleteRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    } undo: {
      try $0.client.addRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    },
    // The router of the first uplink drops everything, which no route tells.
    TrialChange(name: "an attempt under way: address gone, another uplink there", isWarm: false) {
      try $0.dropFirstUplink()
    } undo: {
      try $0.removeAddress()
    } restore: {
      try $0.addAddress()
      try $0.restoreFirstUplink()
    },
  ]
}

extension TrialChange {
  private init(
    name: String, hasSecond: Bool = true, isWarm: Bool = true, make: @escaping @Sendable (TrialWorld) throws -> Void,
    undo: (@Sendable (TrialWorld) throws -> Void)? = nil,
    restore: @escaping @Sendable (TrialWorld) throws -> Void = { _ in }
  ) {
    self.name = name
    self.hasSecond = hasSecond
    self.isWarm = isWarm
    self.make = make
    self.undo = undo
    self.restore = restore
  }
}
#endif
