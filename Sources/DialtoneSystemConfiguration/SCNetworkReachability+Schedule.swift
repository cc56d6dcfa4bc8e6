// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if !canImport(Darwin)
public import CoreFoundation
public import Dispatch

/// A function that is called after a change, with the target, its flags and the context's `info`.
///
/// On Apple's platforms it is a C function, so it captures nothing. Here it may capture what is `Sendable`.
public typealias SCNetworkReachabilityCallBack =
  @Sendable (
    _ target: SCNetworkReachability, _ flags: SCNetworkReachabilityFlags, _ info: UnsafeMutableRawPointer?
  ) -> Void

/// What a callback is called with, and who keeps it.
@unsafe public struct SCNetworkReachabilityContext {
  /// 0.
  public var version: CFIndex
  /// The last argument of the callback.
  public var info: UnsafeMutableRawPointer?
  /// Called once by `SCNetworkReachabilitySetCallback`, with `info`; what it returns is passed on.
  public var retain: (@Sendable (UnsafeRawPointer) -> UnsafeRawPointer)?
  /// Called once, after the callback was replaced and runs no more, or the target is gone.
  public var release: (@Sendable (UnsafeRawPointer) -> Void)?
  /// Never called on Linux.
  public var copyDescription: (@Sendable (UnsafeRawPointer) -> Unmanaged<CFString>)?

  /// A context without `info`.
  public init() { unsafe self.init(version: 0, info: nil, retain: nil, release: nil, copyDescription: nil) }

  /// Creates a context of its parts.
  public init(
    version: CFIndex, info: UnsafeMutableRawPointer?, retain: (@Sendable (UnsafeRawPointer) -> UnsafeRawPointer)?,
    release: (@Sendable (UnsafeRawPointer) -> Void)?,
    copyDescription: (@Sendable (UnsafeRawPointer) -> Unmanaged<CFString>)?
  ) {
    unsafe self.version = version
    unsafe self.info = info
    unsafe self.retain = retain
    unsafe self.release = release
    unsafe self.copyDescription = copyDescription
  }
}

@available(*, unavailable)
extension SCNetworkReachabilityContext: Sendable {}

/// Reads the flags of a target.
///
/// Unscheduled, the system is asked now; a name is not looked up, and has the flags of the default path. Scheduled, the
/// newest flags are returned. Never waits for the network.
///
/// - Parameters:
///   - target: The target.
///   - flags: Where the flags go.
/// - Returns: Whether they are known; if the system denies access to the network's state, they are not.
@discardableResult
public func SCNetworkReachabilityGetFlags(
  _ target: SCNetworkReachability, _ flags: UnsafeMutablePointer<SCNetworkReachabilityFlags>
) -> Bool {
  let signature = target.signature()
  // The caller vouches for the pointer.
  unsafe flags.pointee = signature.flags
  return LastError.note(signature.isDenied ? kSCStatusReachabilityUnknown : kSCStatusOK)
}

/// Sets the function that is called after each change of the flags or the interface, once the target is scheduled.
///
/// A scheduled name also has a first call, as soon as something is known of it. An address has not: read its flags.
///
/// - Parameters:
///   - target: The target.
///   - callout: The function; `nil` for none. The former one runs no more, unless it has just begun.
///   - context: What it is called with; copied. Its `retain` is called before this returns.
/// - Returns: `true`.
@discardableResult
public func SCNetworkReachabilitySetCallback(
  _ target: SCNetworkReachability,
  _ callout: ((SCNetworkReachability, SCNetworkReachabilityFlags, UnsafeMutableRawPointer?) -> Void)?,
  _ context: UnsafeMutablePointer<SCNetworkReachabilityContext>?
) -> Bool {
  // The caller vouches for the pointer, which is not kept.
  if let callout = unsafe callout {
    target.set(unsafe SCNetworkReachability.Callback(callout, context?.pointee))
  } else {
    target.set(nil)
  }
  return LastError.note(kSCStatusOK)
}

/// Has callbacks called on a queue, or no more.
///
/// A scheduled target lives until it is unscheduled. If you unschedule it on the same serial queue, no call begins
/// afterwards.
///
/// - Parameters:
///   - target: The target.
///   - queue: The queue; `nil` to unschedule. There is one call at a time, even if the queue is concurrent.
/// - Returns: `false` if there is a queue or a run loop already, or none to unschedule; ``SCError()`` says so.
@discardableResult
public func SCNetworkReachabilitySetDispatchQueue(_ target: SCNetworkReachability, _ queue: DispatchQueue?) -> Bool {
  let isDone =
    if let queue {
      target.schedule(on: .queue(queue))
    } else {
      target.unschedule { if case .queue = $0 { true } else { false } }
    }
  return LastError.note(isDone ? kSCStatusOK : kSCStatusInvalidArgument)
}

/// Has callbacks called by a run loop in a mode. A target can be scheduled on several, and on one several times.
///
/// - Parameters:
///   - target: The target.
///   - runLoop: The run loop.
///   - runLoopMode: The name of the mode.
/// - Returns: `false` if there is a queue already; ``SCError()`` says so.
@discardableResult
public func SCNetworkReachabilityScheduleWithRunLoop(
  _ target: SCNetworkReachability, _ runLoop: CFRunLoop, _ runLoopMode: CFString
) -> Bool {
  SCNetworkReachabilityScheduleWithRunLoop(target, runLoop, RunLoopSource.mode(runLoopMode))
}

/// Has callbacks called by a run loop in a mode, given as Core Foundation's own constant.
@discardableResult
public func SCNetworkReachabilityScheduleWithRunLoop(
  _ target: SCNetworkReachability, _ runLoop: CFRunLoop, _ runLoopMode: CoreFoundation.CFString
) -> Bool {
  while true {
    switch target.place {
    case .queue?: return LastError.note(kSCStatusInvalidArgument)
    case .runLoops(let source)?:
      // It may just have ended, on another thread.
      if source.add(runLoop, runLoopMode) { return LastError.note(kSCStatusOK) }
    case nil:
      let source = RunLoopSource(target)
      _ = source.add(runLoop, runLoopMode)
      if target.schedule(on: .runLoops(source)) { return LastError.note(kSCStatusOK) }
      source.end()
    }
  }
}

/// Has callbacks called no more by a run loop in a mode, once it is called as often as the target was scheduled there.
///
/// - Parameters:
///   - target: The target.
///   - runLoop: The run loop.
///   - runLoopMode: The name of the mode.
/// - Returns: `false` if it is scheduled on no run loop; ``SCError()`` says so.
@discardableResult
public func SCNetworkReachabilityUnscheduleFromRunLoop(
  _ target: SCNetworkReachability, _ runLoop: CFRunLoop, _ runLoopMode: CFString
) -> Bool {
  SCNetworkReachabilityUnscheduleFromRunLoop(target, runLoop, RunLoopSource.mode(runLoopMode))
}

/// Has callbacks called no more by a run loop in a mode, given as Core Foundation's own constant.
@discardableResult
public func SCNetworkReachabilityUnscheduleFromRunLoop(
  _ target: SCNetworkReachability, _ runLoop: CFRunLoop, _ runLoopMode: CoreFoundation.CFString
) -> Bool {
  guard case .runLoops(let source)? = target.place, source.remove(runLoop, runLoopMode) else {
    return LastError.note(kSCStatusInvalidArgument)
  }
  if source.hasEnded {
    _ = target.unschedule { if case .runLoops(let present) = $0 { present === source } else { false } }
  }
  return LastError.note(kSCStatusOK)
}
#endif
