// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin) || DIALTONE_APPLE_SOURCE
internal import CDialtoneSystem

#if DIALTONE_APPLE_SOURCE
internal import Dialtone
#endif

/// Asks connect(2) on a datagram socket whether there is a way to an address, and which source the system chooses for
/// it. Nothing is sent.
enum AddressProbe {
  enum Outcome {
    /// There is a way for packets with this source.
    case connected(Dialtone.IPAddress)
    /// There is none.
    case refused
    /// No socket could be made, or there is another error: nothing is known.
    case unknown
  }

  /// Connects a socket that is bound to the interface with this index; 0 is none.
  static func connect(
    to address: Dialtone.IPAddress, from source: Dialtone.IPAddress? = nil, over interface: UInt32 = 0
  ) -> Outcome {
    let family = address.family == .ipv4 ? AF_INET : AF_INET6
    let descriptor = csystem_datagram_socket(family)
    if descriptor < 0 { return .unknown }
    let owner = OwnedDescriptor(descriptor)
    if interface != 0, csystem_bind_to_interface(owner.rawValue, family, interface) != 0 { return .unknown }
    if let source, unsafe call(bind, owner.rawValue, source, port: 0, scope: interface) != 0 { return .refused }
    // 9 is the discard port (RFC 863).
    switch unsafe call(CDialtoneSystem.connect, owner.rawValue, address, port: 9, scope: interface) {
    case 0: return chosenSource(owner.rawValue).map(Outcome.connected) ?? .unknown
    case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EADDRNOTAVAIL, EACCES, EINVAL: return .refused
    default: return .unknown
    }
  }

  /// Calls bind(2) or connect(2). Returns the errno, or 0.
  private static func call(
    _ function: (CInt, UnsafePointer<sockaddr>?, socklen_t) -> CInt, _ descriptor: CInt, _ address: Dialtone.IPAddress,
    port: UInt16, scope: UInt32
  ) -> CInt {
    let result = unsafe address.withSocketAddress(port: port, scope: scope) { unsafe function(descriptor, $0, $1) }
    return result == 0 ? 0 : csystem_errno()
  }

  private static func chosenSource(_ descriptor: CInt) -> Dialtone.IPAddress? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    // The pointer is to the whole structure, whose size is given. What was written is an address of its family.
    let result = unsafe withUnsafeMutablePointer(to: &storage) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
    }
    guard result == 0 else { return nil }
    do throws(ReachabilityError) {
      return Dialtone.IPAddress(try unsafe Dialtone.IPAddress(socketAddress: &storage, length: length).bits)
    } catch {
      return nil
    }
  }
}

extension Dialtone.IPAddress {
  /// Calls `body` with the address as bind(2) and connect(2) take it, and its length. A link-local address without a
  /// zone gets this scope.
  func withSocketAddress<Result>(
    port: UInt16 = 0, scope: UInt32 = 0, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    func call<Structure>(_ structure: Structure) -> Result {
      var structure = structure
      let size = MemoryLayout<Structure>.size
      // The pointers are to the whole structure, whose size is given, and are used only during the calls.
      return unsafe withUnsafeMutablePointer(to: &structure) {
        unsafe csystem_set_address_length($0, UInt8(size))
        return unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, socklen_t(size)) }
      }
    }
    if let v4 = ipv4SocketAddress(port: port) { return call(v4) }
    var v6 = ipv6SocketAddress(port: port) ?? sockaddr_in6()
    if isLinkLocal, v6.sin6_scope_id == 0 { v6.sin6_scope_id = scope }
    return call(v6)
  }
}
#endif
