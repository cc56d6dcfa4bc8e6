// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

@testable import Dialtone
@testable import DialtoneDiagnosis

/// Reads the bytes as the answer of a name server, and of a root server.
func fuzzDNS(_ bytes: [UInt8]) {
  let answer = DNSMessage.answer(bytes, to: "a.example", .a)
  if let answer {
    // A record of an address has at least 16 bytes.
    require(answer.addresses.count * 16 <= bytes.count, "more addresses than fit")
    require(Set(answer.addresses).count == answer.addresses.count, "an address twice")
  }
  let id = bytes.count < 2 ? 0 : UInt16(bytes[0]) << 8 | UInt16(bytes[1])
  require(DNSMessage.isOfRoot(bytes, id: id) == nil || answer != nil, "a root's answer that is none")
  require(DNSMessage.isOfRoot(bytes, id: id ^ 1) == nil, "an answer to another question's number")
}
