// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NIOConcurrencyHelpers
import NIOCore

/// A server's record of its connections. Event loops write it, tests read it.
final class SiteServerRecord: Sendable {
  private struct State {
    var connections: [SiteConnection] = []
    var count = 0
    var open: [Int: any Channel] = [:]
    var isClosed = false
  }

  private let isRecording: Bool
  private let state = NIOLockedValueBox(State())

  init(isRecording: Bool) { self.isRecording = isRecording }

  var connections: [SiteConnection] { state.withLockedValue { $0.connections } }
  var count: Int { state.withLockedValue { $0.count } }
  var openCount: Int { state.withLockedValue { $0.open.count } }

  /// Returns the number of a new connection.
  func accept(_ channel: any Channel) -> Int {
    let peer = channel.remoteAddress?.ipAddress ?? ""
    let (number, isClosed) = state.withLockedValue { state in
      let number = state.count
      state.count += 1
      state.open[number] = channel
      if isRecording { state.connections.append(SiteConnection(accepted: .now, peer: peer)) }
      return (number, state.isClosed)
    }
    channel.closeFuture.whenComplete { _ in
      self.state.withLockedValue { _ = $0.open.removeValue(forKey: number) }
      self.update(number) { $0.closed = .now }
    }
    // It was accepted while the server was being released.
    if isClosed { channel.close(promise: nil) }
    return number
  }

  func update(_ number: Int, _ body: (inout SiteConnection) -> Void) {
    guard isRecording else { return }
    state.withLockedValue { body(&$0.connections[number]) }
  }

  func closeAll() {
    let channels = state.withLockedValue { state in
      state.isClosed = true
      return Array(state.open.values)
    }
    for channel in channels { SiteReset.reset(channel) }
  }
}
#endif
