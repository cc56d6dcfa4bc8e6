// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if !canImport(Darwin)
public import CoreFoundation
internal import Dialtone
public import Foundation

/// Creates a target for a host name, or for an address if the name is one's text.
///
/// The name is looked up once it is scheduled, not before. A text that no host can have as its name, such as a URL,
/// makes a target too, without an address.
///
/// - Parameters:
///   - allocator: Not used.
///   - nodename: The name as a C string.
/// - Returns: The target; `nil` if the name is empty. Then ``SCError()`` says so.
public func SCNetworkReachabilityCreateWithName(
  _ allocator: CFAllocator?, _ nodename: UnsafePointer<CChar>
) -> SCNetworkReachability? {
  // The caller vouches for a C string; it is copied.
  let name = unsafe String(cString: nodename)
  if name.isEmpty { return refused() }
  if let address = IPAddress.inAnyForm(name) { return reachability(of: address) }
  _ = LastError.note(kSCStatusOK)
  do throws(ReachabilityError) {
    let target = try ReachabilityTarget.host(name)
    // A name with a port, or a URL, is none. Neither is an address in brackets.
    return SCNetworkReachability(target.port == nil && !name.hasPrefix("[") ? .name(target) : .nobody)
  } catch {
    return SCNetworkReachability(.nobody)
  }
}

/// Creates a target for an IPv4 or IPv6 address. 0.0.0.0 and `::` are the default path, an address of 169.254/16 is the
/// network that this machine is attached to.
///
/// - Parameters:
///   - allocator: Not used.
///   - address: A `sockaddr_in` or `sockaddr_in6`, of which the port does not count. It is copied.
/// - Returns: The target; `nil` if the address is of another family. Then ``SCError()`` says so.
public func SCNetworkReachabilityCreateWithAddress(
  _ allocator: CFAllocator?, _ address: UnsafePointer<sockaddr>
) -> SCNetworkReachability? {
  // The caller vouches for an address of the family that it names.
  guard let address = unsafe read(address) else { return refused() }
  return reachability(of: address)
}

/// Creates a target for an address that is reached from one of this machine's own.
///
/// - Parameters:
///   - allocator: Not used.
///   - localAddress: The address of this machine; `nil`, 0.0.0.0 or `::` for any.
///   - remoteAddress: The address to reach; `nil` for the Internet over the local one's family.
/// - Returns: The target; `nil` if both are `nil`, or one is of another family. Then ``SCError()`` says so.
public func SCNetworkReachabilityCreateWithAddressPair(
  _ allocator: CFAllocator?, _ localAddress: UnsafePointer<sockaddr>?, _ remoteAddress: UnsafePointer<sockaddr>?
) -> SCNetworkReachability? {
  // As above, for each that is there.
  let (local, remote) = unsafe (localAddress.flatMap { unsafe read($0) }, remoteAddress.flatMap { unsafe read($0) })
  if unsafe (localAddress != nil && local == nil) || (remoteAddress != nil && remote == nil) { return refused() }
  switch (local, remote) {
  case (nil, nil): return refused()
  case (nil, let remote?): return reachability(of: remote)
  case (let local?, let remote):
    let anything = local.unmapped.family == .ipv4 ? IPAddress("0.0.0.0") : IPAddress("::")
    guard let remote = remote ?? anything else { return refused() }
    if local.unmapped.isUnspecified { return reachability(of: remote) }
    _ = LastError.note(kSCStatusOK)
    return SCNetworkReachability(.address(.address(remote, from: local)))
  }
}

private func reachability(of address: IPAddress) -> SCNetworkReachability {
  _ = LastError.note(kSCStatusOK)
  if address.unmapped.isUnspecified { return SCNetworkReachability(.defaultPath) }
  return SCNetworkReachability(.address(address.unmapped.isIPv4LinkLocal ? .localNetwork : .address(address)))
}

private func refused() -> SCNetworkReachability? {
  _ = LastError.note(kSCStatusInvalidArgument)
  return nil
}

/// Returns the address; `nil` if it is of another family. The caller vouches for the bytes.
private func read(_ pointer: UnsafePointer<sockaddr>) -> IPAddress? {
  do throws(ReachabilityError) {
    return try unsafe IPAddress(socketAddress: pointer, length: pointer.pointee.sa_len)
  } catch {
    // The only errors left are another family, and none.
    return nil
  }
}
#endif
