// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

extension NetworkLab {
  /// `ip address add ADDRESS dev INTERFACE`. IPv6 addresses are usable at once, unless `flags` lacks `.noDAD`.
  package func addAddress(
    _ address: String, _ interface: String, peer: String? = nil, flags: LabAddressFlags = .noDAD,
    valid: UInt32? = nil, preferred: UInt32? = nil
  ) throws {
    try self.address(.add, address, interface, peer: peer, flags: flags, valid: valid, preferred: preferred)
  }

  /// Adds `count` IPv4 addresses, fast: 16.0.0.1/32, 16.0.0.2/32, … The kernel's time grows with the square of the
  /// number.
  package func addAddresses(count: Int, _ interface: String) throws {
    let index = try index(of: interface)
    let messages = (1...count).map { number in
      var message = LabMessage(RTM_NEWADDR, flags: LabVerb.add.flags)
      message.append(LabFamily.v4.rawValue, UInt8(32), UInt8(0), UInt8(0), index)
      let address = (UInt32(16) << 24 + UInt32(number)).bigEndian
      message.attribute(IFA_LOCAL, LabMessage.integers(address))
      message.attribute(IFA_ADDRESS, LabMessage.integers(address))
      return message
    }
    try writer.send(messages, "adding \(count) addresses to \(interface)")
  }

  package func deleteAddress(_ address: String, _ interface: String) throws {
    try self.address(.delete, address, interface)
  }

  /// `ip address VERB ADDRESS [peer PEER] dev INTERFACE`. Lifetimes are in seconds; `nil` is for ever.
  package func address(
    _ verb: LabVerb, _ address: String, _ interface: String, peer: String? = nil, flags: LabAddressFlags = .noDAD,
    valid: UInt32? = nil, preferred: UInt32? = nil
  ) throws {
    let local = try LabAddress(address)
    let remote = try peer.map { text throws(LabError) in try LabAddress(text) }
    // Only IPv6 has duplicate address detection.
    let flags = local.family == .v6 ? flags : flags.subtracting([.noDAD, .managesTemporary])
    var message = LabMessage(verb == .delete ? RTM_DELADDR : RTM_NEWADDR, flags: verb.flags)
    // struct ifaddrmsg: family, prefix length, flags (see IFA_FLAGS), scope, index
    message.append(local.family.rawValue, remote?.prefix ?? local.prefix, UInt8(0), UInt8(0))
    message.append(try index(of: interface))
    message.attribute(IFA_LOCAL, local.bytes)
    message.attribute(IFA_ADDRESS, (remote ?? local).bytes)
    message.attribute(IFA_FLAGS, flags.rawValue)
    if valid != nil || preferred != nil {
      var lifetimes = LabMessage.integers(preferred ?? .max, valid ?? .max)  // struct ifa_cacheinfo
      lifetimes += LabMessage.integers(UInt32(0), UInt32(0))
      message.attribute(IFA_CACHEINFO, lifetimes)
    }
    try writer.send(message, "ip address \(verb) \(address)\(peer.map { " peer \($0)" } ?? "") dev \(interface)")
  }
}
#endif
