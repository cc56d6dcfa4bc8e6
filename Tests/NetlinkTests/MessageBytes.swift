// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Testing

@testable import Dialtone

/// Gives an array's bytes to `body` in the form that the parser takes.
func withBytes<Result, Failure: Error>(
  of array: [UInt8], _ body: (RawSpan) throws(Failure) -> Result
) throws(Failure) -> Result {
  // SAFETY: bytes have no padding between them.
  try body(unsafe array.span.bytes)
}

/// Decodes the first message in an array.
func decode<Value>(_ array: [UInt8], _ body: (NetlinkMessage, RawSpan) -> Value?) throws -> Value {
  let value = try withBytes(of: array) { bytes in
    var cursor = NetlinkMessageCursor(count: bytes.byteCount)
    return try cursor.next(in: bytes).flatMap { body($0, bytes) }
  }
  return try #require(value)
}

/// Writes one message with the builder.
func message(
  _ type: NetlinkMessageType, _ flags: NetlinkFlags = [], _ body: (inout NetlinkRequestBuilder) -> Void
) -> [UInt8] {
  var builder = NetlinkRequestBuilder()
  builder.begin(type, flags)
  body(&builder)
  builder.end()
  return builder.bytes
}

func ipv4(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) -> IPAddressBits {
  IPAddressBits(ipv4: UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d))
}

/// Only the seed of this run's random tests, from `DIALTONE_SEED` if that is set.
///
/// It is an argument of each such test: so the log shows it with the test, even if the process crashes.
let seeds: [UInt64] = {
  // SAFETY: getenv(3) returns a string that ends with NUL, and nothing here changes the environment.
  let given = unsafe getenv("DIALTONE_SEED").map { unsafe String(cString: $0) }
  return [given.flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64(UInt32.max))]
}()
