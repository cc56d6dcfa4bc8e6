// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if !canImport(Darwin)
package import Dialtone
public import Dispatch

/// Follows the ways by which packets can leave this machine, as Apple's `NWPathMonitor` does.
///
/// ```swift
/// let monitor = NWPathMonitor()
/// monitor.pathUpdateHandler = { path in print(path.status) }
/// monitor.start(queue: DispatchQueue(label: "paths"))
/// ```
///
/// A monitor can be started once. The first path comes on the queue as soon as it is known, then each change, one at a
/// time. A started monitor lives until it is cancelled, even if nobody holds it. After ``cancel()`` no path comes, and
/// the monitor cannot be started again. You can use it from any thread.
///
/// Instead of the handler you can iterate: `for await path in NWPathMonitor()`.
public final class NWPathMonitor: Sendable {
  private struct State {
    var handler: (@Sendable (NWPath) -> Void)?
    var queue: DispatchQueue?
    /// What watches, from the start or the first iterator to the cancellation.
    var monitor: PathMonitor?
    /// Holds this object, which holds it: a started monitor lives until it is cancelled.
    var observation: ReachabilityObservation?
    var iterations: [ObjectIdentifier: AsyncStream<NWPath>.Continuation] = [:]
    /// The path before the start, and after the cancellation.
    var resting = NWPath(.unknown)
    var isCancelled = false
  }

  private let configuration: PathConfiguration
  private let environment: ReachabilityEnvironment
  private let state = Lock(State())

  package init(_ configuration: PathConfiguration, environment: ReachabilityEnvironment) {
    self.configuration = configuration
    self.environment = environment
  }

  /// Creates a monitor of all interfaces.
  public convenience init() { self.init(PathConfiguration(), environment: .assumed) }

  /// Creates a monitor of the interfaces of one type.
  ///
  /// A path over the loopback interface is never satisfied: packets for the Internet cannot leave by it.
  public convenience init(requiredInterfaceType: NWInterface.InterfaceType) {
    var configuration = PathConfiguration()
    configuration.requiredKinds = requiredInterfaceType.kinds
    self.init(configuration, environment: .assumed)
  }

  /// Creates a monitor of the interfaces of all types except these.
  public convenience init(prohibitedInterfaceTypes: [NWInterface.InterfaceType]) {
    var configuration = PathConfiguration()
    configuration.prohibitedKinds = Set(prohibitedInterfaceTypes.flatMap(\.kinds))
    self.init(configuration, environment: .assumed)
  }

  /// A new monitor of wired interfaces. On Linux it is satisfied if packets for the Internet can leave by one of them.
  public static var ethernetChannel: NWPathMonitor { NWPathMonitor(requiredInterfaceType: .wiredEthernet) }

  /// The function that is called with each path, on the queue of ``start(queue:)``.
  ///
  /// Set it before the start: a path that came before is not repeated. It is released when the monitor is cancelled.
  @preconcurrency public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
    get { state.withLock { $0.handler } }
    set {
      let old = state.withLock { state in
        defer { if !state.isCancelled { state.handler = newValue } }
        return state.handler
      }
      // What it holds is released outside the lock.
      withExtendedLifetime(old) {}
    }
  }

  /// The newest path. Before the first one is known it is unsatisfied, without interfaces; after the cancellation it
  /// stays as it was. Never blocks.
  public var currentPath: NWPath {
    let (monitor, resting) = state.withLock { ($0.monitor, $0.resting) }
    return monitor.map { NWPath($0.current) } ?? resting
  }

  /// The queue of the handler; `nil` before the start.
  public var queue: DispatchQueue? { state.withLock { $0.queue } }

  /// Starts to watch, and calls the handler on `queue` from now on.
  ///
  /// The second and further calls do nothing, and so does one after ``cancel()``.
  ///
  /// - Parameter queue: The queue of the handler. There is one call at a time, even if the queue is concurrent.
  public func start(queue: DispatchQueue) {
    let isFirst = state.withLock { state in
      if state.isCancelled || state.queue != nil { return false }
      state.queue = queue
      return true
    }
    guard isFirst, let monitor = watch() else { return }
    // Some changes of a path, such as that of a reason, do not show in Apple's words.
    let observation = monitor.observe(\.inAppleWords, on: queue) { path in self.pathUpdateHandler?(path) }
    let isCancelled = state.withLock { state in
      if !state.isCancelled { state.observation = observation }
      return state.isCancelled
    }
    if isCancelled { observation.cancel() }
  }

  /// Stops to watch, and releases the handler.
  ///
  /// If you call it on the queue of the handler, no call begins afterwards. On another thread, one that has just begun
  /// may still run. Iterations end. Calling it twice does nothing.
  public func cancel() {
    // The path is read outside the lock, and kept if no other thread was quicker.
    let last = currentPath
    let former = state.withLock { state -> State in
      let former = state
      if state.isCancelled { return former }
      state = State()
      state.queue = former.queue
      state.resting = last
      state.isCancelled = true
      return former
    }
    former.observation?.cancel()
    for iteration in former.iterations.values { iteration.finish() }
    // The handler and the monitor are released here, outside the lock.
    withExtendedLifetime(former) {}
  }

  /// Returns what watches, made if need be; `nil` after the cancellation.
  private func watch() -> PathMonitor? {
    let (monitor, isCancelled) = state.withLock { ($0.monitor, $0.isCancelled) }
    if monitor != nil || isCancelled { return monitor }
    // Made outside the lock. If another thread was quicker, this one is released again.
    let new = PathMonitor(configuration: configuration, environment: environment)
    return state.withLock { state in
      if state.isCancelled { return nil }
      if state.monitor == nil { state.monitor = new }
      return state.monitor
    }
  }

  // MARK: Iteration

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Returns the paths, until the monitor is cancelled or nobody asks for them any more.
  func paths() -> AsyncStream<NWPath> {
    let (paths, continuation) = AsyncStream.makeStream(of: NWPath.self, bufferingPolicy: .bufferingNewest(1))
    guard let observation = watch()?.observe(\.inAppleWords, { continuation.yield($0) }) else {
      continuation.finish()
      return paths
    }
    let key = ObjectIdentifier(observation)
    continuation.onTermination = { [weak self] _ in
      observation.cancel()
      self?.state.withLock { $0.iterations[key] = nil }
    }
    let isCancelled = state.withLock { state in
      if !state.isCancelled { state.iterations[key] = continuation }
      return state.isCancelled
    }
    if isCancelled { continuation.finish() }
    return paths
  }
}

extension NetworkPath {
  fileprivate var inAppleWords: NWPath { NWPath(self) }
}
#endif
