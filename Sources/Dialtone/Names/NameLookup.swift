// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem

/// What is looked up. Two lookups may ask the same.
package struct NameQuestion: Hashable, Sendable {
  /// The name in lower case, with A-labels (RFC 5890), as ``HostName/ascii`` has it.
  package let name: String
  /// The only address family to look up; `nil` for both.
  package let family: IPAddress.Family?

  package init(name: String, family: IPAddress.Family?) {
    self.name = name
    self.family = family
  }
}

package enum NameLookupResult: Sendable, Equatable {
  /// Its addresses, in the order in which to try them.
  case addresses([IPAddress])
  /// The name has no address, or does not exist.
  case noAddress
  /// The lookup failed, for now.
  case failed
  /// The lookup failed since the process or the system had run out of descriptors, threads or memory (errno(3)).
  case exhausted(errno: CInt)
}

/// Finds the addresses of a name that has A-labels. It may take any time, and is called on a thread of the
/// ``NameLookupPool``. One of a script returns `nil` while it hangs.
package typealias NameLookup = @Sendable (_ name: String, _ family: IPAddress.Family?) -> NameLookupResult?

/// The system's lookup, getaddrinfo(3): hosts file, DNS, mDNS, as nsswitch.conf(5) says. It gets only A-labels, so that
/// neither the locale nor a library of the system decides which name is asked for (``InternationalName``).
package func systemNameLookup(_ name: String, _ family: IPAddress.Family?) -> NameLookupResult {
  var hints = unsafe addrinfo()
  unsafe hints.ai_socktype = CInt(csystem_SOCK_STREAM)  // otherwise each address comes once for each type
  switch family {
  case nil: unsafe hints.ai_family = AF_UNSPEC
  case .ipv4?: unsafe hints.ai_family = AF_INET
  case .ipv6?: unsafe hints.ai_family = AF_INET6
  }
  var list: UnsafeMutablePointer<addrinfo>?
  let status = ForkGate.atRest { unsafe getaddrinfo(name, nil, &hints, &list) }
  guard status == 0 else {
    // Without a descriptor, the resolver says that there is no such name.
    if let errno = exhaustion() { return .exhausted(errno: errno) }
    switch status {
    case EAI_NONAME, CInt(csystem_EAI_NODATA), CInt(csystem_EAI_ADDRFAMILY): return .noAddress
    default: return .failed
    }
  }
  var addresses: [IPAddress] = []
  // The list is ours until it is freed.
  var next = unsafe list
  defer { unsafe freeaddrinfo(list) }
  while let entry = unsafe next {
    if let address = unsafe address(of: entry.pointee), !addresses.contains(address) { addresses.append(address) }
    unsafe next = entry.pointee.ai_next
  }
  return addresses.isEmpty ? .noAddress : .addresses(addresses)
}

/// Returns why no file can be opened at this moment, or `nil` if one can.
private func exhaustion() -> CInt? {
  // The path becomes a C string for the call.
  let descriptor = unsafe csystem_open("/dev/null", O_RDONLY | O_CLOEXEC)
  if descriptor < 0 {
    let errno = csystem_errno()
    return [EMFILE, ENFILE, ENOMEM].contains(errno) ? errno : nil
  }
  // Closes it at once.
  _ = OwnedDescriptor(descriptor)
  return nil
}

/// Returns the address in an entry of getaddrinfo's list, which says how long it is; `nil` if it is of another family.
private func address(of entry: addrinfo) -> IPAddress? {
  do throws(ReachabilityError) {
    return try unsafe IPAddress(socketAddress: entry.ai_addr, length: entry.ai_addrlen)
  } catch {
    return nil
  }
}
