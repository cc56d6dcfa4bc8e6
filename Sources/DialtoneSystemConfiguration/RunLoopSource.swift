// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if !canImport(Darwin)
internal import CoreFoundation
internal import Dialtone
internal import Foundation
internal import Synchronization

/// A source of one target in any number of run loops and modes.
///
/// Invariants:
/// - It ends with its last run loop, and never has another one then.
/// - The run loop knows the target by a number alone. So a call that begins while another thread ends the source finds
///   the target, or nothing.
final class RunLoopSource: Sendable {
  /// A place in a run loop. Run loops, sources and names of modes can be used from any thread (CFRunLoop.h).
  private struct Entry: @unchecked Sendable {
    let runLoop: CFRunLoop
    let mode: CoreFoundation.CFString

    func isAt(_ other: CFRunLoop, _ mode: CoreFoundation.CFString) -> Bool {
      runLoop === other && CFEqual(self.mode, mode)
    }
  }

  /// As above: sources can be used from any thread.
  private struct Source: @unchecked Sendable {
    let source: CFRunLoopSource
  }

  private struct State {
    /// A place is in it as often as it was added.
    var entries: [Entry] = []
    var hasEnded = false
  }

  /// A target that a run loop knows by its number. The schedule keeps it. The reference never changes, and all of the
  /// target's state is behind a lock.
  private final class WeakReference: @unchecked Sendable {
    weak let object: SCNetworkReachability?
    init(_ object: SCNetworkReachability) { self.object = object }
  }

  private static let targets = Lock<[Int: WeakReference]>([:])
  private static let lastNumber = Atomic(0)

  private let number: Int
  private let source: Source
  private let state = Lock(State())

  init(_ target: SCNetworkReachability) {
    let number = Self.lastNumber.add(1, ordering: .relaxed).newValue
    self.number = number
    let reference = WeakReference(target)
    Self.targets.withLock { $0[number] = reference }
    var context = unsafe CFRunLoopSourceContext()
    // A number in a pointer's clothes: nobody follows it.
    unsafe context.info = UnsafeMutableRawPointer(bitPattern: number)
    unsafe context.perform = { info in RunLoopSource.call(Int(bitPattern: info)) }
    // It copies the context.
    source = Source(source: unsafe CFRunLoopSourceCreate(nil, 0, &context))
  }

  deinit { end() }

  private static func call(_ number: Int) {
    let reference = targets.withLock { $0[number] }
    reference?.object?.callFromRunLoop()
  }

  /// Returns the mode of this name.
  static func mode(_ name: CFString) -> CoreFoundation.CFString {
    let text = String(describing: name)
    // Run loops know the common modes by this very object, not by its text.
    if text == RunLoop.Mode.common.rawValue, let common = kCFRunLoopCommonModes { return common }
    // The text is copied.
    return unsafe CFStringCreateWithCString(nil, text, CFStringBuiltInEncodings.UTF8.rawValue)
  }

  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Adds the source to a run loop. Returns `false` if it has ended.
  func add(_ runLoop: CFRunLoop, _ mode: CoreFoundation.CFString) -> Bool {
    let entry = Entry(runLoop: runLoop, mode: mode)
    return state.withLock { state in
      if state.hasEnded { return false }
      state.entries.append(entry)
      CFRunLoopAddSource(entry.runLoop, source.source, entry.mode)
      return true
    }
  }

  /// Takes back one call of `add`, if there was one for this place. Returns `false` if the source is nowhere.
  func remove(_ runLoop: CFRunLoop, _ mode: CoreFoundation.CFString) -> Bool {
    let entry = Entry(runLoop: runLoop, mode: mode)
    let (wasThere, isLast) = state.withLock { state in
      func index() -> Int? { state.entries.firstIndex { $0.isAt(entry.runLoop, entry.mode) } }
      guard let first = index() else { return (!state.entries.isEmpty, false) }
      state.entries.remove(at: first)
      if index() == nil { CFRunLoopRemoveSource(entry.runLoop, source.source, entry.mode) }
      state.hasEnded = state.entries.isEmpty
      return (true, state.hasEnded)
    }
    if isLast { end() }
    return wasThere
  }

  /// Has one of the run loops call the target.
  func signal() {
    let entries = state.withLock { $0.entries }
    CFRunLoopSourceSignal(source.source)
    for entry in entries { CFRunLoopWakeUp(entry.runLoop) }
  }

  func end() {
    state.withLock {
      $0.hasEnded = true
      $0.entries = []
    }
    CFRunLoopSourceInvalidate(source.source)
    _ = Self.targets.withLock { $0.removeValue(forKey: number) }
  }
}
#endif
