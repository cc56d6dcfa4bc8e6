// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneFoundation
import Dispatch
import Foundation
import Synchronization

/// Records the notifications of a center, and lets a test wait for them. It listens until it is released.
final class Listener: Sendable {
  /// What a listener sees of one notification, without the monitor, which a record must not keep.
  struct Heard: Sendable, Equatable {
    var name: Notification.Name
    var state: Reachability?
    var flags: ReachabilityFlags?
    var flagsNumber: UInt32?
    var monitor: ObjectIdentifier?
    var isOnMainQueue: Bool
  }

  /// The expected notification never came.
  struct Silence: Error {
    var heard: [Heard]
  }

  private let center: NotificationCenter
  // Set in init, used in deinit, and not touched between.
  private nonisolated(unsafe) let tokens: [any NSObjectProtocol]
  private let log: Log
  private let stream: AsyncStream<Heard>

  private final class Log: Sendable {
    let heard = Lock<[Heard]>([])
  }

  /// Listens for the names, from one monitor or from any object.
  init(
    _ center: NotificationCenter, to names: [Notification.Name] = [.reachabilityWasDetermined, .reachabilityDidChange],
    of monitor: ReachabilityMonitor? = nil, _ handler: @escaping @Sendable (Heard) -> Void = { _ in }
  ) {
    let log = Log()
    let (stream, continuation) = AsyncStream.makeStream(of: Heard.self)
    self.center = center
    self.log = log
    self.stream = stream
    unsafe tokens = names.map { name in
      center.addObserver(forName: name, object: monitor, queue: nil) { notification in
        let info = notification.userInfo
        let heard = Heard(
          name: notification.name, state: notification.reachability,
          flags: info?[ReachabilityNotificationKey.flags] as? ReachabilityFlags,
          flagsNumber: (info?[ReachabilityNotificationKey.flagsNumber] as? NSNumber)?.uint32Value,
          monitor: (notification.object as? ReachabilityMonitor).map(ObjectIdentifier.init),
          isOnMainQueue: DispatchQueue.isMain)
        log.heard.withLock { $0.append(heard) }
        handler(heard)
        continuation.yield(heard)
      }
    }
  }

  deinit { for token in unsafe tokens { center.removeObserver(token) } }

  var heard: [Heard] { log.heard.withLock { $0 } }
  var names: [Notification.Name] { heard.map(\.name) }
  var count: Int { heard.count }

  /// Waits until one more notification has a state that meets the condition. Only one task may wait at a time.
  @discardableResult
  func hear(_ condition: @Sendable (Heard) -> Bool) async throws -> Heard {
    for await heard in stream where condition(heard) { return heard }
    // The test's time limit is over.
    throw Silence(heard: heard)
  }

  /// Waits for the change to the path of this number.
  @discardableResult
  func hear(change number: Int) async throws -> Heard {
    try await hear { $0.name == .reachabilityDidChange && $0.state?.number == number }
  }
}

extension DispatchQueue {
  private static let mark: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    main.setSpecific(key: key, value: true)
    return key
  }()

  /// Whether this runs on the main queue, as the main actor does. (On Linux, both need not use the main thread.)
  fileprivate static var isMain: Bool { getSpecific(key: mark) ?? false }
}
