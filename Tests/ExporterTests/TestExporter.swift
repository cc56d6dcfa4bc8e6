// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneExporter
import DialtoneSites
import Dispatch
import NIOCore
import NIOPosix
import TestSupport
import Testing

/// An exporter that listens on a free port of loopback. It ends with this object.
final class TestExporter: Sendable {
  let url: String
  private let server: ExporterServer

  init(
    _ configuration: ExporterConfiguration = .usual, policy: ProbePolicy = .local,
    targets: [(name: String, target: WatchedTargets.Target)] = [],
    patience: ExporterServer.Patience = .unhurried, environment: SiteEnvironment? = nil, connectionLimit: Int = 1_024,
    more: @escaping @Sendable () -> [MetricFamily] = { [] }
  ) async throws {
    let exporter = Exporter(
      configuration: configuration, policy: policy, watched: try WatchedTargets(targets), process: ProcessMetrics(),
      environment: environment, more: more)
    let server = ExporterServer(exporter, patience: patience, connectionLimit: connectionLimit)
    self.server = server
    url = try await Task.detached { try server.listen(on: .network(IPAddress("127.0.0.1"), port: 0)) }.value
  }

  deinit { server.stop(within: .zero) }

  func stop() async {
    let server = server
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        server.stop(within: .seconds(240))
        continuation.resume()
      }
    }
  }

  var port: Int { Int(url.split(separator: ":").last?.dropLast() ?? "") ?? 0 }

  /// Sends these bytes, and returns what came until the server closed the connection.
  func exchange(_ request: String, into received: Box<String> = Box("")) async throws -> String {
    // The server listens as long as this object is there.
    defer { withExtendedLifetime(self) {} }
    let channel = try await connect(into: received)
    // The server may close before it has read all: what it has answered counts.
    channel.writeAndFlush(ByteBuffer(string: request), promise: nil)
    try await channel.closeFuture.get()
    return received.value
  }

  /// A connection to it that takes what comes.
  func connect(into received: Box<String>) async throws -> any Channel {
    try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Receiver(received))
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
  }

  /// Gets a path. Returns the whole answer.
  func get(_ path: String, fields: String = "") async throws -> String {
    try await exchange("GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(fields)\r\n")
  }

  /// Probes, and returns the samples: each with its labels as they are written. A busy machine has much time for it.
  func probe(_ target: String, _ module: String = "http_2xx", more: String = "") async throws -> [String: Double] {
    let fields = "X-Prometheus-Scrape-Timeout-Seconds: 240\r\n"
    return samples(in: try await get("/probe?target=\(target)&module=\(module)\(more)", fields: fields))
  }

  func samples(in answer: String) -> [String: Double] {
    var samples: [String: Double] = [:]
    let body = answer.firstRange(of: "\r\n\r\n").map { answer[$0.upperBound...] } ?? answer[...]
    for line in body.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
      guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else { continue }
      samples[String(line[..<space])] = value
    }
    return samples
  }

  private final class Receiver: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let received: Box<String>

    init(_ received: Box<String>) { self.received = received }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let text = String(decoding: unwrapInboundIn(data).readableBytesView, as: UTF8.self)
      received.update { $0 += text }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }
}

extension [String: Double] {
  /// The verdict, as `verdict/stage/reason`.
  var verdict: String {
    guard let sample = keys.first(where: { $0.hasPrefix("dialtone_probe_verdict_info") }) else { return "" }
    return sample.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map { String($0.element) }.joined(separator: "/")
  }
}

extension ExporterServer.Patience {
  /// For tests that are not about slow clients: all tests together keep a machine busy.
  static var unhurried: Self {
    var patience = Self()
    (patience.request, patience.answer) = (.seconds(240), .seconds(240))
    return patience
  }
}
