// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if !canImport(Darwin)
public import Foundation

/// Success.
public var kSCStatusOK: Int { 0 }
/// An error without a number of its own.
public var kSCStatusFailed: Int { 1001 }
/// An argument cannot be: another family, an empty name, a schedule that exists or does not.
public var kSCStatusInvalidArgument: Int { 1002 }
/// The system denies access.
public var kSCStatusAccessError: Int { 1003 }
/// The system does not say whether the target is reachable.
public var kSCStatusReachabilityUnknown: Int { 4001 }

/// Returns why the last call of this module on the calling thread failed; 0 if it succeeded.
///
/// - Returns: One of the `kSCStatus` numbers.
public func SCError() -> CInt { CInt(LastError.value) }

/// Returns a text for a number of ``SCError()``.
///
/// - Parameter status: The number.
/// - Returns: A C string that lives as long as the program.
public func SCErrorString(_ status: CInt) -> UnsafePointer<CChar> {
  let text: StaticString =
    switch Int(status) {
    case kSCStatusOK: "Success!"
    case kSCStatusFailed: "Failed!"
    case kSCStatusInvalidArgument: "Invalid argument"
    case kSCStatusAccessError: "Permission denied"
    case kSCStatusReachabilityUnknown: "Network reachability cannot be determined"
    default: "Unknown error"
    }
  // A static string is a C string: it ends with a zero. Both types are one byte.
  return unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

/// An error of Core Foundation. On Linux it is Foundation's.
public typealias CFError = NSError

/// The domain of ``SCCopyLastError()``.
public var kCFErrorDomainSystemConfiguration: CFString { NSString(string: "com.apple.SystemConfiguration") }

/// Returns ``SCError()`` as an error, with its text.
public func SCCopyLastError() -> CFError {
  let status = SCError()
  // The text lives as long as the program.
  let text = unsafe String(cString: SCErrorString(status))
  return NSError(
    domain: "com.apple.SystemConfiguration", code: Int(status), userInfo: [NSLocalizedDescriptionKey: text])
}

/// The last error of each thread.
enum LastError {
  private static let key = "io.github.dialtone.SCError"

  static var value: Int {
    get { Foundation.Thread.current.threadDictionary[key] as? Int ?? kSCStatusOK }
    set { Foundation.Thread.current.threadDictionary[key] = newValue }
  }

  /// Notes whether a call succeeded, and why not. Returns whether it did.
  static func note(_ status: Int) -> Bool {
    value = status
    return status == kSCStatusOK
  }
}
#endif
