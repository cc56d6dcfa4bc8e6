// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem

@testable import Dialtone
@testable import DialtoneSites

/// Reads the bytes as control messages of an error queue (cmsg(3)).
func fuzzICMP(_ bytes: [UInt8]) {
  var refusal = csystem_refusal()
  // As the kernel's: aligned, and no longer than it says.
  let isFound = unsafe withUnsafeTemporaryAllocation(byteCount: max(1, bytes.count), alignment: 16) { buffer in
    unsafe buffer.copyBytes(from: bytes)
    guard let start = buffer.baseAddress else { return false }
    return unsafe csystem_read_refusal(UnsafeRawPointer(start), bytes.count, &refusal) == 1
  }
  if isFound {
    do throws(ReachabilityError) {
      // The length is that of the structure.
      let address = try unsafe IPAddress(
        socketAddress: &refusal.offender, length: MemoryLayout.size(ofValue: refusal.offender))
      let found = ConnectionRefusal(offender: address, isOwn: false, type: refusal.type, code: refusal.code)
      require(!found.words(gateway: nil).isEmpty, "a refusal without words")
    } catch {
      // Of no family.
    }
  }
}
