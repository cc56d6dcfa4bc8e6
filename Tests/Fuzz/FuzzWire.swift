// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

@testable import Dialtone

/// Reads the bytes as a datagram of the kernel, and each message in it as every kind of message.
func fuzzWire(_ bytes: [UInt8]) {
  // Bytes have no padding between them.
  let span = unsafe bytes.span.bytes
  var cursor = NetlinkMessageCursor(count: span.byteCount)
  do throws(NetlinkFormatError) {
    while let message = try cursor.next(in: span) {
      require(message.body.lowerBound >= 16 && message.body.upperBound <= span.byteCount, "a body outside the datagram")
      readAsAll(message, span)
    }
  } catch {
    // Bytes that are no messages are refused.
  }
}

private func readAsAll(_ message: NetlinkMessage, _ bytes: RawSpan) {
  if let acknowledgement = NetlinkAcknowledgement(message, in: bytes) {
    require(acknowledgement.errno >= 0, "a negative errno")
    _ = acknowledgement.text(in: bytes)
  }
  if let generic = GenericNetlinkMessage(message, in: bytes) {
    _ = generic.familyID(in: bytes)
    _ = generic.wirelessInterfaceIndex(in: bytes)
  }
  _ = message.subject
  let types: [NetlinkMessageType] = [.newLink, .newAddress, .newRoute, .newRule, .newNexthop, .newNeighbour]
  // The body is read as every type, so that one corpus serves all.
  for type in types {
    let header = NetlinkHeader(length: message.header.length, type: type, flags: message.flags, sequence: 0)
    let message = NetlinkMessage(header: header, body: message.body)
    if let link = LinkMessage(message, in: bytes), let kept = Link(link, kind: .other) {
      require(kept.name.text.utf8.count <= InlineName.capacity, "a long name")
    }
    _ = AddressMessage(message, in: bytes)
    var nexthops: [RouteNexthop] = []
    if let route = RouteMessage(message, in: bytes, nexthops: &nexthops) {
      _ = route.covers(IPAddressBits(ipv4: 0xC629_0004))
      // Other families count in other ways.
      if route.family == .ipv4 || route.family == .ipv6 {
        require(route.destinationLength <= (route.family == .ipv4 ? 32 : 128), "a long prefix")
        let prefix = IPPrefix(message, in: bytes)
        require(prefix?.length == Int(route.destinationLength), "another length")
        require(route.destination == nil || prefix?.address == route.destination, "another destination")
      }
    }
    _ = RuleMessage(message, in: bytes)
    _ = NexthopMessage(message, in: bytes)
    _ = NeighbourMessage(message, in: bytes)
  }
  guard let range = message.attributes(after: 12) else { return }
  var attributes = NetlinkAttributeCursor(range)
  while let attribute = attributes.next(in: bytes) {
    require(
      range.lowerBound <= attribute.payload.lowerBound && attribute.payload.upperBound <= range.upperBound,
      "an attribute outside its message")
  }
}
