// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin) || DIALTONE_APPLE_SOURCE
internal import CDialtoneSystem
internal import Dispatch

#if DIALTONE_APPLE_SOURCE
internal import Dialtone
internal import DialtoneNetwork
internal import DialtoneSystemConfiguration
#else
internal import Network
#if !os(watchOS)  // which has no SCNetworkReachability
internal import SystemConfiguration
#endif
#endif

/// What Apple's frameworks have announced, until the engine reads it. They call it on a queue of their own.
final class AppleAnnouncements: Sendable {
  private struct State {
    var paths: [PathRestriction: NWPath] = [:]
    var hasChanged = false
  }

  private let state = Lock(State())
  private let wake: @Sendable () -> Void

  init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

  /// The newest path; `nil` before the first.
  func path(_ restriction: PathRestriction) -> NWPath? { state.withLock { $0.paths[restriction] } }

  func update(_ path: NWPath, of restriction: PathRestriction) {
    state.withLock {
      $0.paths[restriction] = path
      $0.hasChanged = true
    }
    wake()
  }

  func note() {
    state.withLock { $0.hasChanged = true }
    wake()
  }

  /// Returns whether anything has changed since the last call.
  func take() -> Bool {
    state.withLock { state in
      defer { state.hasChanged = false }
      return state.hasChanged
    }
  }
}

/// Which interfaces a path monitor is to count, as `NWPathMonitor` can be told it.
enum PathRestriction: Hashable, Sendable {
  case none
  case required(NWInterface.InterfaceType)
  case prohibited([NWInterface.InterfaceType])

  private static let types: [NWInterface.InterfaceType] = [.other, .wifi, .cellular, .wiredEthernet]

  /// The narrowest restriction that leaves out no interface that the configuration allows.
  init(_ configuration: PathConfiguration) {
    let allowed = Self.types.filter { type in
      Self.kinds(of: type).contains { configuration.allows($0) }
    }
    if allowed.count == Self.types.count {
      self = .none
    } else if allowed.count == 1 {
      self = .required(allowed[0])
    } else {
      self = .prohibited(Self.types.filter { !allowed.contains($0) })
    }
  }

  /// Apple counts tunnels among the others.
  private static func kinds(of type: NWInterface.InterfaceType) -> [InterfaceKind] {
    switch type {
    case .wifi: [.wifi]
    case .cellular: [.cellular]
    case .wiredEthernet: [.wired]
    default: [.tunnel, .other]
    }
  }

  func makeMonitor() -> NWPathMonitor {
    switch self {
    case .none: NWPathMonitor()
    case .required(let type): NWPathMonitor(requiredInterfaceType: type)
    case .prohibited(let types): NWPathMonitor(prohibitedInterfaceTypes: types)
    }
  }
}

#if os(watchOS)
/// watchOS has no SCNetworkReachability: ``AddressProbe`` answers alone, and changes of the path announce all others.
struct AddressReachability {
  init?(_ address: Dialtone.IPAddress, from source: Dialtone.IPAddress? = nil) { return nil }
  var flags: ReachabilityFlags? { nil }
  func announce(to announcements: AppleAnnouncements, on queue: DispatchQueue) {}
}
#else
/// The reachability of one address, which on Apple's platforms SCNetworkReachability alone knows.
final class AddressReachability {
  private let target: SCNetworkReachability
  private var isAnnounced = false

  /// `nil` if the system makes no such target.
  init?(_ address: Dialtone.IPAddress, from source: Dialtone.IPAddress? = nil) {
    // The structures are copied during the calls.
    let made =
      unsafe address.withSocketAddress { remote, _ in
        guard let source else { return unsafe SCNetworkReachabilityCreateWithAddress(nil, remote) }
        return unsafe source.withSocketAddress { local, _ in
          unsafe SCNetworkReachabilityCreateWithAddressPair(nil, local, remote)
        }
      }
    guard let made else { return nil }
    target = made
  }

  deinit {
    if isAnnounced {
      SCNetworkReachabilitySetCallback(target, nil, nil)
      SCNetworkReachabilitySetDispatchQueue(target, nil)
    }
  }

  /// The flags now; `nil` if the system does not say.
  var flags: ReachabilityFlags? {
    var flags = SCNetworkReachabilityFlags()
    // It writes during the call.
    return unsafe SCNetworkReachabilityGetFlags(target, &flags) ? ReachabilityFlags(rawValue: flags.rawValue) : nil
  }

  /// Has each change announced, until this is released.
  func announce(to announcements: AppleAnnouncements, on queue: DispatchQueue) {
    // The system keeps the announcements by these closures, until the callback is taken back.
    var context = unsafe SCNetworkReachabilityContext(
      version: 0, info: Unmanaged.passUnretained(announcements).toOpaque(),
      retain: { unsafe UnsafeRawPointer(Unmanaged<AppleAnnouncements>.fromOpaque($0).retain().toOpaque()) },
      release: { unsafe Unmanaged<AppleAnnouncements>.fromOpaque($0).release() }, copyDescription: nil)
    unsafe SCNetworkReachabilitySetCallback(
      target,
      { _, _, info in
        guard let info = unsafe info else { return }
        unsafe Unmanaged<AppleAnnouncements>.fromOpaque(info).takeUnretainedValue().note()
      }, &context)
    SCNetworkReachabilitySetDispatchQueue(target, queue)
    isAnnounced = true
  }
}
#endif
#endif
