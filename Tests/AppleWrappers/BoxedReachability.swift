// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// As programs for Apple's platforms follow a host: a class of their own, of which the system knows a weak box.

#if canImport(SystemConfiguration)
import SystemConfiguration
#elseif canImport(DialtoneSystemConfiguration)
import DialtoneSystemConfiguration
#endif

/// Follows a host or the default path on a queue, and tells a listener of each change on another one.
package final class BoxedReachability: @unchecked Sendable {
  package enum Status: Equatable, Sendable {
    case unknown
    case notReachable
    case reachable(overCellular: Bool)

    init(_ flags: SCNetworkReachabilityFlags) {
      let isAutomatic = flags.contains(.connectionOnDemand) || flags.contains(.connectionOnTraffic)
      let isReachable =
        flags.contains(.reachable)
        && (!flags.contains(.connectionRequired) || (isAutomatic && !flags.contains(.interventionRequired)))
      self = isReachable ? .reachable(overCellular: flags.contains(.isWWAN)) : .notReachable
    }
  }

  package typealias Listener = @Sendable (Status) -> Void

  private final class WeakBox {
    weak var owner: BoxedReachability?
    init(_ owner: BoxedReachability) { self.owner = owner }
  }

  private let reachability: SCNetworkReachability
  private let reachabilityQueue = DispatchQueue(label: "boxed-reachability")
  private let lock = NSLock()
  private var listener: Listener?
  private var listenerQueue: DispatchQueue?
  private var previous: Status?

  package convenience init?(host: String) {
    guard let reachability = SCNetworkReachabilityCreateWithName(nil, host) else { return nil }
    self.init(reachability)
  }

  package convenience init?() {
    var zero = sockaddr()
    zero.sa_len = UInt8(MemoryLayout<sockaddr>.size)
    zero.sa_family = sa_family_t(AF_INET)
    guard let reachability = SCNetworkReachabilityCreateWithAddress(nil, &zero) else { return nil }
    self.init(reachability)
  }

  private init(_ reachability: SCNetworkReachability) { self.reachability = reachability }

  deinit { stopListening() }

  package var status: Status { flags.map(Status.init) ?? .unknown }

  package var flags: SCNetworkReachabilityFlags? {
    var flags = SCNetworkReachabilityFlags()
    return SCNetworkReachabilityGetFlags(reachability, &flags) ? flags : nil
  }

  @discardableResult
  package func startListening(onQueue queue: DispatchQueue = .main, onUpdate listener: @escaping Listener) -> Bool {
    stopListening()
    lock.lock()
    listenerQueue = queue
    self.listener = listener
    lock.unlock()

    let box = WeakBox(self)  // until the context is retained, below
    var context = SCNetworkReachabilityContext(
      version: 0,
      info: Unmanaged.passUnretained(box).toOpaque(),
      retain: { info in
        let unmanaged = Unmanaged<WeakBox>.fromOpaque(info)
        _ = unmanaged.retain()
        return UnsafeRawPointer(unmanaged.toOpaque())
      },
      release: { info in
        Unmanaged<WeakBox>.fromOpaque(info).release()
      },
      copyDescription: { info in
        let box = Unmanaged<WeakBox>.fromOpaque(info).takeUnretainedValue()
        let description = box.owner?.flags.map { "\($0.rawValue)" } ?? "nil"
        return Unmanaged.passRetained(description as CFString)
      }
    )
    let callback: SCNetworkReachabilityCallBack = { _, flags, info in
      guard let info = info else { return }
      let box = Unmanaged<WeakBox>.fromOpaque(info).takeUnretainedValue()
      box.owner?.notify(flags)
    }
    let isQueueAdded = SCNetworkReachabilitySetDispatchQueue(reachability, reachabilityQueue)
    let isCallbackAdded = withExtendedLifetime(box) {
      SCNetworkReachabilitySetCallback(reachability, callback, &context)
    }

    // The first state is told by itself.
    if let present = flags {
      reachabilityQueue.async { [weak self] in self?.notify(present) }
    }
    return isQueueAdded && isCallbackAdded
  }

  package func stopListening() {
    SCNetworkReachabilitySetCallback(reachability, nil, nil)
    SCNetworkReachabilitySetDispatchQueue(reachability, nil)
    lock.lock()
    listener = nil
    listenerQueue = nil
    previous = nil
    lock.unlock()
  }

  private func notify(_ flags: SCNetworkReachabilityFlags) {
    let new = Status(flags)
    lock.lock()
    defer { lock.unlock() }
    guard previous != new else { return }
    previous = new
    guard let listener = listener else { return }
    listenerQueue?.async { listener(new) }
  }
}
