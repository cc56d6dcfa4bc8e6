// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Dialtone
import Testing

/// Socket addresses in the form that C gives them.
struct SocketAddressTests {
  private static func ipv4(_ value: UInt32, port: UInt16 = 443) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = value.bigEndian
    return address
  }

  private static func ipv6(_ text: String, scope: UInt32 = 0) throws -> sockaddr_in6 {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = UInt16(443).bigEndian
    address.sin6_flowinfo = 7
    address.sin6_scope_id = scope
    try #require(unsafe inet_pton(AF_INET6, text, &address.sin6_addr) == 1)
    return address
  }

  private func message(_ body: () throws -> ReachabilityTarget) -> String? {
    #expect(throws: ReachabilityError.self) { try body() }.flatMap { $0.code == .invalidAddress ? $0.message : nil }
  }

  @Test(arguments: [
    (UInt32(0xC000_0201), "192.0.2.1"), (0x7F00_0001, "127.0.0.1"), (0, "0.0.0.0"), (.max, "255.255.255.255"),
  ])
  func takesIPv4(value: UInt32, text: String) throws {
    var address = Self.ipv4(value)
    let target = try unsafe ReachabilityTarget(socketAddress: &address, length: MemoryLayout<sockaddr_in>.size)
    #expect(target == .address(ip(text), port: 443))
    address.sin_port = 0
    let portless = try unsafe ReachabilityTarget(socketAddress: &address, length: MemoryLayout<sockaddr_in>.size)
    #expect(portless == .address(ip(text)) && portless == .address(IPAddress(ipv4: value)))
  }

  @Test(arguments: [
    ("2001:db8::1", UInt32(0), "2001:db8::1"), ("::", 0, "::"), ("fe80::1", 3, "fe80::1%3"),
    ("fe80::1", .max, "fe80::1%4294967295"), ("fe80::1", 0, "fe80::1"), ("ff02::fb", 2, "ff02::fb%2"),
    ("ff12::1", 3, "ff12::1%3"), ("ff32::1", 3, "ff32::1%3"), ("ff11::1", 3, "ff11::1%3"), ("ff15::1", 3, "ff15::1"),
    ("2001:db8::1", 3, "2001:db8::1"),
    ("::ffff:192.0.2.1", 0, "::ffff:192.0.2.1"),
  ])
  func takesIPv6WithItsScopeAsAZone(text: String, scope: UInt32, expected: String) throws {
    var address = try Self.ipv6(text, scope: scope)
    let length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let target = try unsafe ReachabilityTarget(socketAddress: &address, length: length)
    #expect(target == .address(ip(expected), port: 443))
    #expect(try unsafe IPAddress(socketAddress: &address, length: length) == ip(expected))
  }

  @Test func takesAPointerToSockaddrAndALargerLength() throws {
    var storage = sockaddr_storage()
    let address = Self.ipv4(0xC000_0201)
    unsafe withUnsafeMutableBytes(of: &storage) { storage in
      unsafe withUnsafeBytes(of: address) { unsafe storage.copyMemory(from: $0) }
    }
    let target = try unsafe withUnsafePointer(to: &storage) { pointer in
      try unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { (pointer: UnsafePointer<sockaddr>) in
        try unsafe ReachabilityTarget(
          socketAddress: pointer, length: socklen_t(MemoryLayout<sockaddr_storage>.size))
      }
    }
    #expect(target == .address(ip("192.0.2.1"), port: 443))
  }

  @Test func takesUnalignedBytes() throws {
    let bytes = try unsafe [0] + withUnsafeBytes(of: Self.ipv6("2001:db8::1")) { unsafe Array($0) }
    let target = try unsafe bytes.withUnsafeBytes { bytes in
      try unsafe ReachabilityTarget(socketAddress: bytes.baseAddress.map { unsafe $0 + 1 }, length: bytes.count - 1)
    }
    #expect(target == .address(ip("2001:db8::1"), port: 443))
  }

  @Test func takesWhatGetaddrinfoGives() throws {
    var hints = unsafe addrinfo()
    unsafe hints.ai_flags = AI_NUMERICHOST
    var list: UnsafeMutablePointer<addrinfo>?
    try #require(unsafe getaddrinfo("2001:db8::7", nil, &hints, &list) == 0)
    defer { unsafe freeaddrinfo(list) }
    let entry = try unsafe #require(list).pointee
    let target = try unsafe ReachabilityTarget(socketAddress: entry.ai_addr, length: entry.ai_addrlen)
    #expect(target == .address(ip("2001:db8::7")))
  }

  /// Each is in memory of exactly its size: the address sanitizer reports a byte read beyond.
  @Test(arguments: [-1, 0, 1, 2, 4, 8, 15])
  func refusesTooFewBytesForAny(length: Int) throws {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: max(length, 0), alignment: 1)
    defer { unsafe bytes.deallocate() }
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: UInt8(AF_INET))
    let message = message {
      try unsafe ReachabilityTarget(socketAddress: UnsafeRawPointer(bytes.baseAddress), length: length)
    }
    if length > 0 {
      #expect(
        message == "the socket address has \(length) bytes, too few for any: one of IPv4 (sockaddr_in) has 16")
    } else {
      #expect(message != nil)
    }
  }

  @Test(arguments: [16, 24, 27])
  func refusesTooFewBytesForIPv6(length: Int) throws {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 1)
    defer { unsafe bytes.deallocate() }
    unsafe withUnsafeBytes(of: try Self.ipv6("2001:db8::1")) { address in
      unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: address[..<length]))
    }
    let message = message {
      try unsafe ReachabilityTarget(socketAddress: UnsafeRawPointer(bytes.baseAddress), length: length)
    }
    #expect(message == "the socket address has \(length) bytes, too few for IPv6: one of it (sockaddr_in6) has 28")
  }

  @Test func refusesNoPointerAndOtherFamilies() {
    #expect(
      message { try unsafe ReachabilityTarget(socketAddress: nil, length: 16) }
        == "the socket address is missing: its pointer is nil")
    var address = Self.ipv4(1)
    address.sin_family = sa_family_t(AF_UNIX)
    #expect(
      message { try unsafe ReachabilityTarget(socketAddress: &address, length: 16) }
        == "the socket address is of family \(AF_UNIX), neither IPv4 (AF_INET) nor IPv6 (AF_INET6)")
    address.sin_family = sa_family_t(AF_UNSPEC)
    #expect(
      message { try unsafe ReachabilityTarget(socketAddress: &address, length: 16) }
        == "the socket address has no family; set it to AF_INET or AF_INET6")
  }

  @Test func takesPairs() throws {
    var remote = try Self.ipv6("2001:db8::1")
    var local = try Self.ipv6("fe80::2", scope: 4)
    let size = MemoryLayout<sockaddr_in6>.size
    let pair = try unsafe ReachabilityTarget(
      socketAddress: &remote, length: size, from: &local, length: socklen_t(size))
    #expect(pair == .address(ip("2001:db8::1"), from: ip("fe80::2%4"), port: 443))
    #expect(
      message { try unsafe ReachabilityTarget(socketAddress: &remote, length: size, from: nil, length: size) }
        == "the local socket address is missing: its pointer is nil")
    #expect(
      message { try unsafe ReachabilityTarget(socketAddress: &remote, length: 20, from: &local, length: size) }
        == "the remote socket address has 20 bytes, too few for IPv6: one of it (sockaddr_in6) has 28")
  }
}
