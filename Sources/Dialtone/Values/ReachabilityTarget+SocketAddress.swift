// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem

extension ReachabilityTarget {
  /// The address in a C structure, `sockaddr_in` or `sockaddr_in6`, as ``address(_:port:)`` takes it.
  ///
  /// You can also give a `sockaddr_storage` or another structure that begins with one of them. Its port is the
  /// target's; 0 is none. The unspecified address is the Internet over that family.
  ///
  /// ```swift
  /// let target = try ReachabilityTarget(socketAddress: entry.ai_addr, length: entry.ai_addrlen)  // of getaddrinfo
  /// ```
  ///
  /// ``IPAddress/init(socketAddress:length:)`` says what is checked.
  ///
  /// - Parameters:
  ///   - socketAddress: The structure, of any alignment; read before the call returns, and not kept.
  ///   - length: How many bytes there are; no more are read.
  /// - Throws: ``ReachabilityError`` with the code `invalidAddress` if there is no address or the length is too
  ///   small.
  public init(
    socketAddress: UnsafeRawPointer?, length: some BinaryInteger
  ) throws(ReachabilityError) {
    // The caller vouches for the bytes, as this function's contract asks.
    let address = try unsafe IPAddress(socketAddress: socketAddress, length: length)
    self = .address(address, port: unsafe Self.port(socketAddress))
  }

  /// The remote address in a C structure, reached from the local one in another, as ``address(_:from:port:)`` takes
  /// them.
  ///
  /// - Parameters:
  ///   - socketAddress: The remote address, as for ``init(socketAddress:length:)``.
  ///   - length: How many bytes it has.
  ///   - localSocketAddress: The address of this machine.
  ///   - localLength: How many bytes it has.
  /// - Throws: ``ReachabilityError`` with the code `invalidAddress` if one of them is not as it should be; the
  ///   message says which.
  public init(
    socketAddress: UnsafeRawPointer?, length: some BinaryInteger, from localSocketAddress: UnsafeRawPointer?,
    length localLength: some BinaryInteger
  ) throws(ReachabilityError) {
    // The caller vouches for the bytes, as this function's contract asks.
    let remote = try unsafe IPAddress(
      socketAddress: socketAddress, length: length, subject: "the remote socket address")
    let local = try unsafe IPAddress(
      socketAddress: localSocketAddress, length: localLength, subject: "the local socket address")
    self = .address(remote, from: local, port: unsafe Self.port(socketAddress))
  }

  /// Returns the port of a structure from which an address was read. It has the same offset in both structures. The
  /// caller vouches for the bytes.
  private static func port(_ socketAddress: UnsafeRawPointer?) -> UInt16? {
    let offset = MemoryLayout<sockaddr_in>.offset(of: \.sin_port) ?? 2
    // Two bytes within the structure, which the caller vouches for.
    return unsafe socketAddress.map {
      UInt16(bigEndian: unsafe $0.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }
  }
}
