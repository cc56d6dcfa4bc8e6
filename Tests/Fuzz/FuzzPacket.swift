// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

@testable import Dialtone
@testable import DialtoneDiagnosis

/// Reads the bytes as packets, one after another: three bytes of how each came, and how long it is.
func fuzzPacket(_ bytes: [UInt8]) {
  var record = PacketRecord(limit: 8)
  var rest = bytes[...]
  var flows: Set<PacketRecord.Flow> = []
  while let kind = rest.popFirst(), let way = rest.popFirst(), let length = rest.popFirst() {
    let packet = rest.prefix(Int(length))
    rest = rest.dropFirst(Int(length))
    let etherTypes: [UInt16] = [0x0800, 0x86DD, 0x0806, 0x88B5]
    // The whole packet may be longer than what was read of it.
    let whole = packet.count + Int(kind >> 4)
    let observed = ObservedPacket(
      packet, length: whole, etherType: etherTypes[Int(kind & 3)], isChecked: way & 2 != 0)
    guard let observed else { continue }
    record.note(observed, at: PacketRecord.Place(interface: UInt32(way >> 4), isOutgoing: way & 1 != 0))
    switch observed {
    case .segment(let segment): flows.insert(PacketRecord.Flow(endpoints: segment.endpoints, isStream: true))
    case .datagram(let endpoints): flows.insert(PacketRecord.Flow(endpoints: endpoints, isStream: false))
    case .neighbourQuestion(let address), .neighbourAnswer(let address): _ = record.neighbour(address)
    case .sealed: break
    }
  }
  for flow in flows {
    let sight = record.sight(of: flow)
    require(sight.answerCount == 0 || sight.hasLeft == true, "an answer to what never left")
    require(sight.hasLeft != true || !sight.leavingBy.isEmpty, "it has left by no interface")
  }
}
