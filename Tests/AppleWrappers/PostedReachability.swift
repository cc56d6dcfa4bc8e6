// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// As older programs for Apple's platforms do it: run loops, an unretained `info`, notifications, restarts.

#if canImport(SystemConfiguration)
import SystemConfiguration
#elseif canImport(DialtoneSystemConfiguration)
import DialtoneSystemConfiguration
#endif

private func reachabilityCallback(
  reachability: SCNetworkReachability, flags: SCNetworkReachabilityFlags, info: UnsafeMutableRawPointer?
) {
  guard let info = info else { return }
  let poster = Unmanaged<PostedReachability>.fromOpaque(info).takeUnretainedValue()
  poster.flagsChanged(flags)
}

/// Posts a notification for each change, on the run loop of the thread that starts it.
package class PostedReachability: NSObject {
  package enum Failure: Error, Equatable {
    case cannotCreate(Int32)
    case cannotSetCallback(Int32)
    case cannotSchedule(Int32)
  }

  package static let didChange = Notification.Name("PostedReachabilityChanged")

  private let reachability: SCNetworkReachability
  private let center: NotificationCenter
  private var runLoop: CFRunLoop?
  package private(set) var flags: SCNetworkReachabilityFlags = []

  package init(address: String, center: NotificationCenter) throws {
    var socketAddress = sockaddr_in()
    socketAddress.sin_len = UInt8(MemoryLayout.size(ofValue: socketAddress))
    socketAddress.sin_family = sa_family_t(AF_INET)
    inet_pton(AF_INET, address, &socketAddress.sin_addr)
    let created = withUnsafePointer(to: &socketAddress) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { rebound in
        SCNetworkReachabilityCreateWithAddress(kCFAllocatorDefault, rebound)
      }
    }
    guard let reachability = created else { throw Failure.cannotCreate(SCError()) }
    self.reachability = reachability
    self.center = center
    super.init()
  }

  deinit { stop() }

  package func start() throws {
    guard runLoop == nil else { return }
    var context = SCNetworkReachabilityContext(version: 0, info: nil, retain: nil, release: nil, copyDescription: nil)
    context.info = UnsafeMutableRawPointer(Unmanaged<PostedReachability>.passUnretained(self).toOpaque())
    if !SCNetworkReachabilitySetCallback(reachability, reachabilityCallback, &context) {
      stop()
      throw Failure.cannotSetCallback(SCError())
    }
    let current: CFRunLoop = CFRunLoopGetCurrent()
    if !SCNetworkReachabilityScheduleWithRunLoop(reachability, current, CFRunLoopMode.defaultMode.rawValue) {
      stop()
      throw Failure.cannotSchedule(SCError())
    }
    runLoop = current
    SCNetworkReachabilityGetFlags(reachability, &flags)
  }

  package func stop() {
    if let runLoop = runLoop {
      SCNetworkReachabilityUnscheduleFromRunLoop(reachability, runLoop, CFRunLoopMode.defaultMode.rawValue)
    }
    runLoop = nil
    SCNetworkReachabilitySetCallback(reachability, nil, nil)
  }

  fileprivate func flagsChanged(_ flags: SCNetworkReachabilityFlags) {
    guard self.flags != flags else { return }
    self.flags = flags
    center.post(name: PostedReachability.didChange, object: self, userInfo: ["flags": NSNumber(value: flags.rawValue)])
  }

  /// Whether the default path is there, asked once.
  package static func isOnline() -> Bool {
    var zero = sockaddr_in(
      sin_len: UInt8(MemoryLayout<sockaddr_in>.size), sin_family: sa_family_t(AF_INET), sin_port: 0,
      sin_addr: in_addr(s_addr: 0), sin_zero: (0, 0, 0, 0, 0, 0, 0, 0))
    guard
      let reachability = withUnsafePointer(
        to: &zero,
        {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { SCNetworkReachabilityCreateWithAddress(nil, $0) }
        })
    else { return false }
    var flags = SCNetworkReachabilityFlags()
    if !SCNetworkReachabilityGetFlags(reachability, &flags) { return false }
    let isReachable = (flags.rawValue & UInt32(kSCNetworkFlagsReachable)) != 0
    let needsConnection = (flags.rawValue & UInt32(kSCNetworkFlagsConnectionRequired)) != 0
    return isReachable && !needsConnection
  }
}
