// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone

/// Sees packets leave this machine and come in, behind its own firewall on the way out and before it on the way in
/// (packet(7)). So it tells a local firewall from a remote one. It needs CAP_NET_RAW. Belongs to one thread.
final class PacketWitness {
  private let owner: OwnedDescriptor
  private(set) var record = PacketRecord()
  private var buffer = [UInt8](repeating: 0, count: 2_048)

  /// - Returns: `nil` without the privilege.
  init?() {
    let descriptor = csystem_packet_socket()
    if descriptor < 0 { return nil }
    owner = OwnedDescriptor(descriptor)
  }

  var descriptor: CInt { owner.rawValue }

  func read() {
    var packet = csystem_packet()
    while true {
      // The call writes at most as many bytes as it is told there is room for, and fills in the structure.
      let count = unsafe csystem_receive_packet(descriptor, &buffer, buffer.count, &packet)
      if count < 0 { break }
      let isOutgoing = packet.is_outgoing != 0
      // What is for others, or for all, is no answer to this machine.
      guard isOutgoing || packet.is_to_this_host != 0,
        let observed = ObservedPacket(
          buffer.prefix(count), length: packet.length, etherType: packet.protocol,
          isChecked: isOutgoing || packet.is_checked != 0)
      else { continue }
      record.note(observed, at: PacketRecord.Place(interface: packet.interface, isOutgoing: isOutgoing))
    }
    if csystem_lost_packets(descriptor) > 0 { record.noteLoss() }
  }

  /// What was seen of the packets of a socket; `nil` if it has no port of its own.
  func sight(of socket: ProbeSocket) -> PacketRecord.Sight? { socket.flow.map { record.sight(of: $0) } }
}
#endif
