// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import NetworkLab
import TestSupport
import Testing

/// An interface can be given by its index: that of `lo` is 1 in every namespace (net/core/dev.c, LOOPBACK_IFINDEX).
@Suite(.needsNamespaces, .timeLimit(.minutes(5)))
struct IndexProcessTests {
  @Test func takesAnIndexForAnInterface() async throws {
    let lab = try NetworkLab()
    let known = try await Tool.run(["status", "-i", "1", "127.0.0.1"], in: lab)
    #expect(known.error == "", "it is there")
    let unknown = try await Tool.run(["status", "-i", "77", "127.0.0.1"], in: lab)
    #expect(unknown.error == "dialtone: --interface: there is no interface \"77\" yet; there is lo\n")
    let listed = try await Tool.run(["interfaces", "1"], in: lab)
    #expect(listed.ending == .exited(0) && listed.error == "", "\(listed.error)")
    #expect(listed.output.split(separator: "\n").dropFirst().map { $0.prefix(3) } == ["lo "], "\(listed.output)")
    let missing = try await Tool.run(["interfaces", "1", "77"], in: lab)
    #expect(missing.ending == .exited(1) && missing.output == listed.output)
    #expect(missing.error == "dialtone: there is no interface \"77\"; there is lo\n")
  }
}
