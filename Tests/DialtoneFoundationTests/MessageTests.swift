// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneFoundation
import DialtoneTesting
import Foundation
import TestSupport
import Testing

/// The same with typed messages.
@Suite(.timeLimit(.minutes(5)))
struct MessageTests {
  @Test func wasDeterminedComesOnceAndChangesInTheirOrder() async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let monitor = network.monitor()
    let center = NotificationCenter()
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    let listening = [
      center.addObserver(of: monitor, for: .reachabilityWasDetermined) { message in
        continuation.yield("determined \(message.reachability.number ?? 0)")
      },
      center.addObserver(of: monitor, for: .reachabilityDidChange) { message in
        continuation.yield("changed \(message.reachability.number ?? 0)")
      },
    ]
    let token = monitor.postMessages(to: center)
    var heard: [String] = []
    var iterator = stream.makeAsyncIterator()
    for number in 1...5 {
      network.set(.numbered(number))
      while let text = await iterator.next() {
        heard.append(text)
        if text == "changed \(number)" { break }
      }
    }
    // Either of two observers may be told first.
    while !heard.contains("determined 1"), let text = await iterator.next() { heard.append(text) }
    #expect(heard.filter { $0 != "determined 1" } == (1...5).map { "changed \($0)" })
    #expect(heard.count == 6)
    withExtendedLifetime((listening, token)) {}
  }

  @Test func aListenerToOneMonitorDoesNotHearOthers() async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let center = NotificationCenter()
    let (heard, unheard) = (network.monitor(), network.monitor(.localNetwork))
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let listening = center.addObserver(of: heard, for: ReachabilityMonitor.DidChangeMessage.self) { _ in
      continuation.yield(0)
    }
    let other = unheard.postMessages(to: center)
    try await network.settle()
    // Only now does the listener get anything.
    let all = center.addObserver(of: ReachabilityMonitor.self, for: .reachabilityDidChange) { message in
      if message.reachability.number == 2 { continuation.finish() }
    }
    network.set(.numbered(2))
    var count = 0
    for await _ in stream { count += 1 }
    #expect(count == 0)
    withExtendedLifetime((listening, other, all)) {}
  }

  @Test func aReleasedRegistrationPostsNothingAndReleasesTheMonitor() async throws {
    let network = ScriptedNetwork()
    network.set(.numbered(1))
    let center = NotificationCenter()
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let listening = center.addObserver(of: ReachabilityMonitor.self, for: .reachabilityDidChange) { message in
      continuation.yield(message.reachability.number ?? 0)
    }
    weak var gone: ReachabilityMonitor?
    do {
      let monitor = network.monitor()
      gone = monitor
      let token = monitor.postMessages(to: center)
      var iterator = stream.makeAsyncIterator()
      #expect(await iterator.next() == 1)
      withExtendedLifetime(token) {}
    }
    try await eventually("the monitor is released") { gone == nil }
    network.set(.numbered(2))
    try await network.settle()
    continuation.finish()
    var rest: [Int] = []
    for await number in stream { rest.append(number) }
    #expect(rest.isEmpty)
    withExtendedLifetime(listening) {}
  }
}
