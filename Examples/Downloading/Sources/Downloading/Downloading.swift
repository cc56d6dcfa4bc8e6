// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import DialtoneHTTPClient
import DialtoneNIO
import Foundation
import NIOCore

/// Downloads a file, and goes on where it was when the uplink changes.
///
///     Downloading http://example.com/large.iso large.iso
@main
struct Downloading {
  /// The server answers with another status.
  struct Refused: Error { let status: UInt }

  let client: HTTPClient
  let policy: HTTPPathPolicy

  static func main() async throws {
    guard CommandLine.arguments.count == 3 else {
      print("usage: Downloading URL FILE")
      exit(64)
    }
    // Connections whose path is gone are closed at once. What came so far is kept here, so nothing is lost.
    var connections = ConnectionPolicy()
    connections.grace = .zero
    var policy = HTTPPathPolicy()
    policy.registry = ConnectionRegistry(policy: connections) { print("connection:", $0.condition) }
    var configuration = HTTPClient.Configuration()
    configuration.followPath(in: policy.registry)
    let downloading = Downloading(client: HTTPClient(configuration: configuration), policy: policy)
    do {
      try await downloading.download(CommandLine.arguments[1], to: CommandLine.arguments[2])
      try await downloading.client.shutdown()
    } catch {
      try await downloading.client.shutdown()
      throw error
    }
  }

  private func download(_ url: String, to path: String) async throws {
    try Data().write(to: URL(fileURLWithPath: path))
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    var received = 0
    while true {
      let before = received
      do {
        if try await receive(url, from: &received, into: file) { break }
      } catch  where received > before {
        print("goes on after \(received) bytes: \(error)")
      }
    }
    try file.close()
    print("\(received) bytes")
  }

  /// Receives what is left. It waits for a path first, as long as a minute. Returns whether the file is complete.
  private func receive(_ url: String, from received: inout Int, into file: FileHandle) async throws -> Bool {
    var request = HTTPClientRequest(url: url)
    if received > 0 { request.headers.add(name: "range", value: "bytes=\(received)-") }
    let response = try await client.execute(request, deadline: .now() + .minutes(1), path: policy)
    switch response.status {
    case .partialContent: break
    case .ok:
      // From the beginning: the first time, and if the server does not know ranges.
      try file.truncate(atOffset: 0)
      received = 0
    case .rangeNotSatisfiable: return true
    default: throw Refused(status: response.status.code)
    }
    for try await chunk in response.body {
      try file.write(contentsOf: Data(chunk.readableBytesView))
      received += chunk.readableBytes
    }
    return true
  }
}
