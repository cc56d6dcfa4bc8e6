// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if !canImport(Darwin)
public import CoreFoundation
public import Foundation

/// A string of Core Foundation. On Linux it is Foundation's, so that `"text" as CFString` compiles, as on Apple's
/// platforms.
public typealias CFString = NSString

// So that `RunLoop.Mode.common as CFString` compiles, too.
extension RunLoop.Mode: @retroactive _SwiftNewtypeWrapper, @retroactive _ObjectiveCBridgeable {
  /// What it is bridged to.
  public typealias _ObjectiveCType = NSString
}

/// A mode of a run loop, as the Swift importer gives it on Apple's platforms.
public struct CFRunLoopMode: RawRepresentable, Hashable {
  /// The mode's name.
  public let rawValue: CFString

  /// The mode of this name.
  public init(rawValue: CFString) { self.rawValue = rawValue }

  /// The mode of this name.
  public init(_ rawValue: CFString) { self.rawValue = rawValue }

  /// The usual mode, `kCFRunLoopDefaultMode`.
  public static var defaultMode: CFRunLoopMode! { CFRunLoopMode(RunLoop.Mode.default.rawValue as NSString) }

  /// All modes that are declared common, `kCFRunLoopCommonModes`.
  public static var commonModes: CFRunLoopMode! { CFRunLoopMode(RunLoop.Mode.common.rawValue as NSString) }
}

@available(*, unavailable)
extension CFRunLoopMode: Sendable {}

/// Runs the run loop of the calling thread in a mode, which on Linux would be a string of Core Foundation.
///
/// - Parameters:
///   - mode: The mode.
///   - seconds: How long to run at most; with 0, what is ready is handled.
///   - returnAfterSourceHandled: Whether to return once one source was handled.
/// - Returns: Why it returned.
@discardableResult
public func CFRunLoopRunInMode(
  _ mode: CFRunLoopMode!, _ seconds: CFTimeInterval, _ returnAfterSourceHandled: Bool
) -> CFRunLoopRunResult {
  CoreFoundation.CFRunLoopRunInMode(RunLoopSource.mode(mode.rawValue), seconds, returnAfterSourceHandled)
}
#endif
