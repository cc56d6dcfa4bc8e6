// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

extension NetworkLab {
  /// B of Scenarios.md: v0 with 10.0.0.1/24 and v1, and a default route via 10.0.0.2.
  package func makeB(metric: UInt32? = nil) throws {
    try addVeth("v0", "v1")
    try up("v0", "v1")
    try waitUntilRunning("v0")
    try addAddress("10.0.0.1/24", "v0")
    try addRoute("default", via: "10.0.0.2", dev: "v0", metric: metric)
  }

  /// W of Scenarios.md: w0 with 10.1.0.1/24 and w1, and a default route via 10.1.0.2 with that metric; `nil` adds none.
  package func makeW(metric: UInt32? = nil) throws {
    try addVeth("w0", "w1")
    try up("w0", "w1")
    try waitUntilRunning("w0")
    try addAddress("10.1.0.1/24", "w0")
    if let metric { try addRoute("default", via: "10.1.0.2", dev: "w0", metric: metric) }
  }
}
#endif
