// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Invariant: `bytes` holds whole requests up to the one begun last, each padded to a multiple of four. Once `end()` was
// called, its length is in its header. `starts` holds the offset of each.

/// Writes requests one after another into one buffer, which it reuses.
///
/// Several requests in one buffer are pipelined: one system call sends them all. Bytes that are not written stay zero,
/// which is what the kernel's strict checking wants (`NETLINK_GET_STRICT_CHK`).
package struct NetlinkRequestBuilder: Sendable {
  package private(set) var bytes: [UInt8] = []
  private var starts: [Int] = []

  package init() {}

  package var count: Int { starts.count }

  /// Where in `bytes` a request is, header and padding included.
  package func range(of index: Int) -> Range<Int> {
    starts[index]..<(index + 1 < starts.count ? starts[index + 1] : bytes.count)
  }

  package mutating func removeAll(keepingCapacity: Bool = true) {
    bytes.removeAll(keepingCapacity: keepingCapacity)
    starts.removeAll(keepingCapacity: keepingCapacity)
  }

  /// Begins a request; its header's length is written by ``end()``.
  package mutating func begin(_ type: NetlinkMessageType, _ flags: NetlinkFlags, sequence: UInt32 = 0) {
    let start = grow(by: NetlinkHeader.byteCount)
    starts.append(start)
    store(type.rawValue, at: start + 4)
    store(flags.rawValue, at: start + 6)
    store(sequence, at: start + 8)
  }

  /// Ends the request begun last.
  package mutating func end() {
    guard let start = starts.last else { return }
    store(UInt32(bytes.count - start), at: start)
  }

  /// Gives requests consecutive sequence numbers, so that a prepared buffer can be sent again and again.
  package mutating func number(_ requests: Range<Int>, from first: UInt32) {
    var sequence = first
    for index in requests {
      store(sequence, at: starts[index] + 8)
      sequence &+= 1
    }
  }

  /// Appends the fixed header that follows the message header. In rtnetlink it begins with the family. All else in it
  /// is zero.
  ///
  /// - Returns: its offset, for ``store(_:at:)``.
  @discardableResult
  package mutating func appendHeader(byteCount: Int, family: KernelAddressFamily = .unspecified) -> Int {
    let start = grow(by: (byteCount + 3) & ~3)
    if family != .unspecified { store(family.rawValue, at: start) }
    return start
  }

  /// Overwrites an integer in host byte order inside what was already appended.
  package mutating func store<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, at offset: Int) {
    var span = bytes.mutableSpan
    // SAFETY: a byte may hold any value, so raw stores cannot make an invalid one; storeBytes checks the bounds.
    var target = unsafe span.mutableBytes
    target.storeBytes(of: value, toByteOffset: offset, as: T.self)
  }

  // MARK: Attributes

  package mutating func append<T: FixedWidthInteger & BitwiseCopyable>(_ type: UInt16, _ value: T) {
    let payload = appendAttribute(type, payloadCount: MemoryLayout<T>.size)
    store(value, at: payload)
  }

  package mutating func append(_ type: UInt16, address: IPAddressBits) {
    let payload = appendAttribute(type, payloadCount: address.byteCount)
    if address.isIPv6 {
      store(address.high.bigEndian, at: payload)
      store(address.low.bigEndian, at: payload + 8)
    } else {
      store(UInt32(truncatingIfNeeded: address.low).bigEndian, at: payload)
    }
  }

  package mutating func append(_ type: UInt16, bytes payload: [UInt8]) {
    let start = appendAttribute(type, payloadCount: payload.count)
    bytes.replaceSubrange(start..<(start + payload.count), with: payload)
  }

  /// Appends a string and the NUL that ends it.
  package mutating func append(_ type: UInt16, string: String) {
    append(type, bytes: Array(string.utf8) + [0])
  }

  private mutating func appendAttribute(_ type: UInt16, payloadCount: Int) -> Int {
    let length = NetlinkAttribute.headerByteCount + payloadCount
    let start = grow(by: (length + 3) & ~3)
    store(UInt16(length), at: start)
    store(type, at: start + 2)
    return start + NetlinkAttribute.headerByteCount
  }

  private mutating func grow(by count: Int) -> Int {
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: count))
    return start
  }
}
