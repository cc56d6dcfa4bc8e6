// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import MessageBuilding
import Testing

@testable import Dialtone

struct NetlinkAcknowledgementTests {
  private func read(_ bytes: [UInt8]) throws -> (NetlinkAcknowledgement, text: String?) {
    try decode(bytes) { message, bytes in
      NetlinkAcknowledgement(message, in: bytes).map { ($0, $0.text(in: bytes)) }
    }
  }

  @Test func readsAnErrorWithoutText() throws {
    let (acknowledgement, text) = try read(RecordedMessage.noRoute.bytes)
    #expect(acknowledgement.errno == 101)
    #expect(!acknowledgement.isSuccess)
    #expect(text == nil)
  }

  @Test(arguments: [RecordedMessage.refusal, .refusalUncapped])
  func findsTheTextBehindTheRequest(message: RecordedMessage) throws {
    let (acknowledgement, text) = try read(message.bytes)
    #expect(acknowledgement.errno == 22)
    #expect(text == "ipv4: Invalid values in header for route get request")
  }

  @Test func findsTheTextBesideTheOffsetOfTheAttribute() throws {
    let (acknowledgement, text) = try read(RecordedMessage.refusalOfAttribute.bytes)
    #expect(acknowledgement.errno == 34)
    #expect(text == "Attribute failed policy validation")
  }

  @Test func readsTheEndOfADump() throws {
    let (acknowledgement, text) = try read(RecordedMessage.done.bytes)
    #expect(acknowledgement.isSuccess)
    #expect(text == nil)
  }

  @Test func readsAFailedDumpWithText() throws {
    let bytes = message(.done, [.multi, .acknowledgementTLVs]) {
      $0.store(Int32(-95), at: $0.appendHeader(byteCount: 4))
      $0.append(NetlinkAcknowledgement.messageAttribute, string: "no dump here")
    }
    let (acknowledgement, text) = try read(bytes)
    #expect(acknowledgement.errno == 95)
    #expect(text == "no dump here")
  }

  @Test func readsSuccessWithAWarning() throws {
    // After success only the header of the request is repeated, capped or not.
    let bytes = message(.error, .acknowledgementTLVs) {
      _ = $0.appendHeader(byteCount: 4)
      $0.store(UInt32(400), at: $0.appendHeader(byteCount: 16))
      $0.append(NetlinkAcknowledgement.messageAttribute, string: "deprecated")
    }
    let (acknowledgement, text) = try read(bytes)
    #expect(acknowledgement.isSuccess)
    #expect(text == "deprecated")
  }

  @Test(arguments: [0, 3, 0xffff_fff0, .max] as [UInt32])
  func survivesALyingLengthOfTheRequest(length: UInt32) throws {
    let bytes = message(.error, .acknowledgementTLVs) {
      $0.store(Int32(-22), at: $0.appendHeader(byteCount: 4))
      $0.store(length, at: $0.appendHeader(byteCount: 16))
    }
    let (acknowledgement, text) = try read(bytes)
    #expect(acknowledgement.errno == 22)
    #expect(text == nil)
  }

  @Test func survivesTheSmallestNumber() throws {
    let bytes = message(.error) { $0.store(Int32.min, at: $0.appendHeader(byteCount: 4)) }
    #expect(try read(bytes).0.errno == .max)
  }

  @Test(arguments: [RecordedMessage.answer4.bytes, message(.error) { _ in }])
  func isNoneIfTheMessageIsAnotherOrTooShort(bytes: [UInt8]) throws {
    #expect(try decode(bytes) { .some(NetlinkAcknowledgement($0, in: $1)) } == nil)
  }
}
