// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
import NetworkLab
import TestSupport
import Testing

/// Whole programs inside a lab: requests of URLSession, which has threads of its own, and the example that downloads.
@Suite(
  .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(5)), .serialized)
struct ProgramTests {
  private static let url = "http://\(ConnectionLab.address):8080/"

  private func size(_ file: URL) throws -> Int {
    guard FileManager.default.fileExists(atPath: file.path) else { return 0 }
    return try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
  }

  @Test("URLSession: a request whose path goes is repeated on the other one, POST is not", arguments: ["GET", "POST"])
  func aRequestIsUnderWay(_ method: String) async throws {
    let lab = try await ConnectionLab()
    let server = try await HTTPLab(lab.server)
    server.holdsNext.withLock { $0 = true }
    let program = try Program.start("SessionProbe", [method, Self.url, method == "GET" ? "30" : "3"], in: lab.client)
    try await eventually("it has arrived") { server.requests.withLock { $0.count } == 1 }
    try lab.client.deleteAddress("10.0.0.1/24", "u0")
    let output = try await program.output.text(within: .seconds(60))
    // URLError.timedOut is -1001: it has one deadline, whatever libcurl does.
    #expect(output == (method == "GET" ? "begin\n200 ok\n" : "begin\nerror -1001\n"))
    #expect(server.requests.withLock { $0 } == Array(repeating: "\(method) /", count: method == "GET" ? 2 : 1))
    try await server.stop()
    try await lab.stop()
  }

  @Test("URLSession: a request waits for the path, within its time")
  func aRequestWaits() async throws {
    let lab = try await ConnectionLab(second: false)
    let server = try await HTTPLab(lab.server)
    try lab.client.deleteRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    let program = try Program.start("SessionProbe", ["GET", Self.url, "1", "30"], in: lab.client)
    for line in ["begin", "unavailable no-route", "begin"] {
      #expect(try await program.output.line(within: .seconds(60)) == line)
    }
    try lab.client.addRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    #expect(try await program.output.text(within: .seconds(60)).hasSuffix("200 ok\n"))
    #expect(server.requests.withLock { $0 } == ["GET /"])
    try await server.stop()
    try await lab.stop()
  }

  @Test(
    "the example's attempt to connect is under way when its address goes: it leaves by the other uplink at once",
    .enabled(if: NginxLab.path != nil, "nginx is not installed"))
  func aDownloadBeginsElsewhere() async throws {
    let lab = try await ConnectionLab()
    let nginx = try await NginxLab(lab.server)
    defer { withExtendedLifetime(nginx) {} }
    // The router of the first uplink drops what comes from there, which no route tells.
    try lab.server.sysctl("ipv4/conf/s0/rp_filter", 1)
    try lab.server.addRoute("10.0.0.1/32", via: "10.0.1.1", dev: "s1")
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("dialtone-download-\(UUID())")
    let program = try Program.start("Downloading", ["http://\(ConnectionLab.address)/", file.path], in: lab.client)
    // Port 80 is 0050, and SYN_SENT is 02.
    try await eventually("it connects") {
      try lab.client.run { try String(contentsOfFile: "/proc/thread-self/net/tcp", encoding: .utf8) }
        .contains(":0050 02 ")
    }
    let start = ContinuousClock.now
    try lab.client.deleteAddress("10.0.0.1/24", "u0")
    // "ok"
    try await eventually("it is there") { try size(file) == 2 }
    // The client gives an attempt ten seconds, and the end of the program waits for it.
    #expect(ContinuousClock.now - start < .seconds(8))
    #expect(try await program.output.text(within: .seconds(60)).hasSuffix("2 bytes\n"))
    try FileManager.default.removeItem(at: file)
    try await lab.stop()
  }

  @Test(
    "the example's download goes on where it was when the uplink changes, twice",
    .enabled(if: NginxLab.path != nil, "nginx is not installed"))
  func aDownloadGoesOn() async throws {
    let lab = try await ConnectionLab()
    let nginx = try await NginxLab(lab.server)
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("dialtone-download-\(UUID())")
    defer { withExtendedLifetime(nginx) {} }
    let program = try Program.start(
      "Downloading", ["http://\(ConnectionLab.address)/file", file.path], in: lab.client)
    try await eventually("it has begun") { try size(file) > 1 << 20 }
    try lab.client.deleteAddress("10.0.0.1/24", "u0")
    let before = try size(file)
    try await eventually("it goes on") { try size(file) > before + 1 << 20 }
    try lab.client.addAddress("10.0.0.1/24", "u0")
    try lab.client.addRoute("default", via: "10.0.0.2", dev: "u0", metric: 100)
    try lab.client.deleteAddress("10.0.1.1/24", "u1")
    let output = try await program.output.text(within: .seconds(60))
    #expect(try size(file) == NginxLab.fileSize)
    #expect(output.hasSuffix("\(NginxLab.fileSize) bytes\n"), "\(output)")
    // It did go on, and did not begin again.
    #expect(output.components(separatedBy: "goes on after ").count == 3, "\(output)")
    try FileManager.default.removeItem(at: file)
    try await lab.stop()
  }
}
#endif
