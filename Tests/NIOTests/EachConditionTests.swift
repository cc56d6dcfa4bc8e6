// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneNIO
import DialtoneTesting
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@Test(.timeLimit(.minutes(1)))
func eachConditionOfAConnection() async throws {
  let network = ScriptedNetwork()
  network.set(.wired)
  let (changes, change) = AsyncStream.makeStream(of: ConnectionCondition.self)
  let registry = ConnectionRegistry(environment: network.environment) { change.yield($0.condition) }
  var conditions = changes.makeAsyncIterator()

  let channel = NIOAsyncTestingChannel()  // add your handlers to it
  let loop = Task {
    while !Task.isCancelled {
      await channel.testingEventLoop.run()
      try await Task.sleep(for: .milliseconds(1))
    }
  }
  defer { loop.cancel() }
  channel.localAddress = try SocketAddress(ipAddress: "192.0.2.2", port: 50_000)
  try await channel.followPath(in: registry).get()
  let first = channel.eventLoop.submit {
    try channel.pipeline.syncOperations.handler(type: PathHandler.self).condition
  }
  #expect(try await first.get() == .unknown)  // it is not connected yet
  try await channel.connect(to: SocketAddress(ipAddress: "198.51.100.1", port: 443)).get()
  #expect(await conditions.next() == .fine)

  network.set(.unreachable(.noCarrier))
  #expect(await conditions.next() == .waiting)
  network.set(.wired)
  #expect(await conditions.next() == .fine)
  network.set(.wifi)
  #expect(await conditions.next() == .doubtful)
  network.set(.unreachable(.noAddress), from: IPAddress("192.0.2.2")!)
  #expect(await conditions.next() == .dead)

  // What is stalled only a socket of the kernel knows. Fire it, or any other event, yourself.
  channel.pipeline.fireUserInboundEventTriggered(NetworkEvents.ConditionUpdate(condition: .stalled))
  channel.pipeline.fireUserInboundEventTriggered(NetworkEvents.ViabilityUpdate(isViable: false))
  channel.pipeline.fireErrorCaught(
    ConnectionLostError(.stalled, local: IPAddress("192.0.2.2")!, remote: IPAddress("198.51.100.1")!))
}

/// What the page says is what was tried.
@Test func thePageShowsTheTestOfEachCondition() throws {
  let test = try sourceText("Tests/NIOTests/EachConditionTests.swift")
  let page = try sourceText("Sources/DialtoneNIO/DialtoneNIO.docc/Connections.md")
  let begin = try #require(test.firstRange(of: "@Test")).lowerBound
  let end = try #require(test.firstRange(of: "\n\n/// What the page")).lowerBound
  #expect(page.contains(test[begin..<end]))
}
