// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if !canImport(Darwin)
internal import Dialtone
internal import DialtoneFoundation
public import CoreFoundation

/// A name, an address or a pair of addresses whose reachability can be asked and followed, as in Apple's
/// SystemConfiguration.
///
/// While it is scheduled on a queue or a run loop, it lives, and its callback is called. You can use it from any
/// thread. It is no `Sendable`, as on Apple's platforms.
public final class SCNetworkReachability {
  /// What is watched.
  enum Subject: Sendable {
    /// A host name. Unscheduled, it is not looked up: the answer is that of the default path.
    case name(ReachabilityTarget)
    /// An address, or a pair of them.
    case address(ReachabilityTarget)
    /// The default path: 0.0.0.0 and `::`.
    case defaultPath
    /// A text that no host can have as its name. Unscheduled, it is a name like others; looked up, it has no address.
    case nobody
  }

  /// What a callback is called for a change of.
  struct Signature: Equatable, Sendable {
    var flags: SCNetworkReachabilityFlags
    var interface: UInt32?
    var isDenied: Bool
  }

  /// The callback and what belongs to it. Its release may run code of the caller, so it happens outside all locks.
  ///
  /// The closures and the pointer are the caller's, who vouches that they can be used on the queue or run loop that the
  /// caller schedules.
  @safe final class Callback: @unchecked Sendable {
    let callout: (SCNetworkReachability, SCNetworkReachabilityFlags, UnsafeMutableRawPointer?) -> Void
    let info: UnsafeMutableRawPointer?
    private let release: (@Sendable (UnsafeRawPointer) -> Void)?

    init(
      _ callout: @escaping (SCNetworkReachability, SCNetworkReachabilityFlags, UnsafeMutableRawPointer?) -> Void,
      _ context: SCNetworkReachabilityContext?
    ) {
      unsafe self.callout = callout
      unsafe release = context?.release
      // The pointer is only handed to the caller's own closures.
      if let info = unsafe context?.info, let retain = unsafe context?.retain {
        unsafe self.info = UnsafeMutableRawPointer(mutating: retain(info))
      } else {
        unsafe info = context?.info
      }
    }

    deinit {
      if let info = unsafe info { unsafe release?(info) }
    }
  }

  /// Where callbacks are called.
  enum Place: Sendable {
    case queue(DispatchQueue)
    case runLoops(RunLoopSource)
  }

  private struct State {
    var callback: Callback?
    var place: Place?
    /// The number of the schedule: what belongs to an earlier one is dropped.
    var number = 0
    var monitor: ReachabilityMonitor?
    var observation: ReachabilityObservation?
    /// The schedule holds this object until it ends.
    var keeper: Reference?
    /// The newest state of this schedule; `nil` before the first.
    var known: Signature?
    /// What a question is answered with before that.
    var presumed: Signature?
    /// What the caller was told, by the last callback or answer.
    var told: Signature?
    /// Whether a callback is on its way or runs.
    var isUnderWay = false
  }

  private let subject: Subject
  private let environment: ReachabilityEnvironment
  private let state = Lock(State())

  init(_ subject: Subject) {
    self.subject = subject
    environment = .assumed
  }

  // MARK: Questions

  /// The present state; while scheduled, the newest that is known.
  func signature() -> Signature {
    let scheduled = state.withLock { state in state.place == nil ? nil : state.known ?? state.presumed }
    if let scheduled { return scheduled }
    let now = ask()
    state.withLock { if $0.place == nil { $0.told = now } }
    return now
  }

  private func ask() -> Signature {
    let target = if case .address(let address) = subject { address } else { ReachabilityTarget.internet }
    return signature(Reachability.now(target, environment: environment), of: target)
  }

  /// The default path has no address that could be on the link or on this machine. A connection that has to be made
  /// first is a transient one.
  private func signature(_ state: Reachability, of target: ReachabilityTarget) -> Signature {
    var flags = SCNetworkReachabilityFlags(rawValue: state.flags.rawValue)
    if target == .internet { flags.subtract([.isDirect, .isLocalAddress]) }
    if flags.contains(.connectionRequired) { flags.insert(.transientConnection) }
    // By which interface nothing can leave is no news.
    return Signature(flags: flags, interface: flags.isEmpty ? nil : state.interface?.index, isDenied: state.isDenied)
  }

  // MARK: The callback

  func set(_ callback: Callback?) {
    let (former, due) = state.withLock { state in
      let former = state.callback
      state.callback = callback
      return (former, Self.due(&state))
    }
    begin(due)
    withExtendedLifetime(former) {}
  }

  /// Returns where, and for which schedule, a callback has to begin, if one is due and none is under way.
  private static func due(_ state: inout State) -> (place: Place, number: Int)? {
    guard let place = state.place, state.callback != nil, !state.isUnderWay, let known = state.known,
      known != state.told
    else { return nil }
    state.isUnderWay = true
    return (place, state.number)
  }

  private func begin(_ due: (place: Place, number: Int)?) {
    guard let (place, number) = due else { return }
    let reference = Reference(self)
    switch place {
    case .queue(let queue): queue.async { reference.object.call(number) }
    case .runLoops(let source): source.signal()
    }
  }

  /// Calls the callback with the newest flags, unless the schedule has ended or nothing is new.
  private func call(_ number: Int) {
    let call = state.withLock { state -> (Callback, SCNetworkReachabilityFlags)? in
      guard state.number == number else { return nil }
      guard let known = state.known, known != state.told, let callback = state.callback else {
        state.isUnderWay = false
        return nil
      }
      state.told = known
      return (callback, known.flags)
    }
    guard let (callback, flags) = call else { return }
    // The callback keeps its info until it has returned, even if it is replaced meanwhile.
    withExtendedLifetime(callback) { unsafe callback.callout(self, flags, callback.info) }
    begin(
      state.withLock { state in
        guard state.number == number else { return nil }
        state.isUnderWay = false
        return Self.due(&state)
      })
  }

  /// Called by the run loop.
  func callFromRunLoop() { call(state.withLock { $0.number }) }

  // MARK: Schedules

  /// Begins to watch. Returns `false` if it is scheduled.
  func schedule(on place: Place) -> Bool {
    let presumed = ask()
    let number = state.withLock { state -> Int? in
      if state.place != nil { return nil }
      state.place = place
      state.number += 1
      state.presumed = presumed
      state.known = nil
      state.isUnderWay = false
      state.keeper = Reference(self)
      switch subject {
      // The first state of a name is always told.
      case .name, .nobody: state.told = nil
      case .address, .defaultPath: state.told = state.told ?? presumed
      }
      return state.number
    }
    guard let number else { return false }
    let target: ReachabilityTarget
    switch subject {
    case .name(let name): target = name
    case .address(let address): target = address
    case .defaultPath: target = .internet
    case .nobody:
      tell(Signature(flags: [], interface: nil, isDenied: false), number)
      return true
    }
    // The first flags of a name are those of its lookup's result.
    var configuration = ReachabilityConfiguration()
    configuration.waitsForNames = true
    let monitor = ReachabilityMonitor(target, configuration: configuration, environment: environment)
    let reference = Reference(self)
    let observation = monitor.observe { state in
      reference.object.tell(reference.object.signature(state, of: target), number)
    }
    let isCurrent = state.withLock { state in
      guard state.number == number else { return false }
      (state.monitor, state.observation) = (monitor, observation)
      return true
    }
    if !isCurrent { observation.cancel() }
    return true
  }

  private func tell(_ signature: Signature, _ number: Int) {
    begin(
      state.withLock { state in
        guard state.number == number else { return nil }
        state.known = signature
        return Self.due(&state)
      })
  }

  /// Ends the schedule if it is in a place that meets the condition. Returns whether it did.
  func unschedule(if condition: (Place) -> Bool) -> Bool {
    let ended = state.withLock { state -> (Place, ReachabilityMonitor?, ReachabilityObservation?)? in
      guard let place = state.place, condition(place) else { return nil }
      defer { (state.place, state.monitor, state.observation, state.keeper) = (nil, nil, nil, nil) }
      state.number += 1
      return (place, state.monitor, state.observation)
    }
    // What it held is released here, outside the lock.
    ended?.2?.cancel()
    return ended != nil
  }

  /// Where it is scheduled.
  var place: Place? { state.withLock { $0.place } }
}

/// Carries the object to other threads. All its state is behind a lock, and what is not is constant.
struct Reference: @unchecked Sendable {
  let object: SCNetworkReachability

  init(_ object: SCNetworkReachability) { self.object = object }
}

@available(*, unavailable)
extension SCNetworkReachability: Sendable {}

/// Returns the number of the type. On Linux these are no objects of Core Foundation, so no object there has it.
public func SCNetworkReachabilityGetTypeID() -> CFTypeID { 0 }

extension SCNetworkReachability: Hashable {
  /// Returns whether both are the same object.
  public static func == (a: SCNetworkReachability, b: SCNetworkReachability) -> Bool { a === b }

  /// Feeds what `==` compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
#endif
