// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone

/// Asks over http for a name that cannot exist, at addresses that nobody has: only a network that wants a login
/// answers. Belongs to one thread.
struct PortalProbe {
  /// Addresses for documentation alone (RFC 5737; RFC 9637). Some networks use one of the ranges all the same, so two
  /// of IPv4 are asked, and both have to answer.
  private static let hosts = ["198.51.100.254", "203.0.113.254", "192.0.2.254", "3fff::fffe"].compactMap(IPAddress.init)
  private static let count = 2
  /// How long it may take until somebody takes a connection, in milliseconds: a portal is near. And until an answer
  /// comes on one, as nobody else takes any: the portal, or the line, may be slow.
  private static let (longest, answer): (Int64, Int64) = (800, 2_500)

  let inquiry: DiagnosisInquiry
  let patience: Patience

  func finding(_ witness: KernelWitness) -> PortalFinding {
    let host = "dialtone-\(String(UInt64.random(in: 0...UInt64.max), radix: 36)).invalid"
    let request = Array("GET / HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n".utf8)
    let targets = inquiry.families.map { self.targets($0, witness) }
    var sockets = targets.joined().map {
      ProbeSocket($0.target, port: 80, isStream: true, interface: inquiry.interface($0))
    }.filter { $0.start == EINPROGRESS }
    var asked: [ProbeSocket] = []
    var statuses: [IPAddress: Int] = [:]
    var end = patience.moment(in: Self.longest)
    while !(sockets.isEmpty && asked.isEmpty), TimeSource.system.now() < end {
      let list =
        sockets.map { ($0.descriptor, wantsWriting: true) } + asked.map { ($0.descriptor, wantsWriting: false) }
      guard let events = patience.wait(list, until: end) else { break }
      let ready = Set(events.map { list[$0.position].0 })
      for socket in asked where ready.contains(socket.descriptor) {
        statuses[socket.address] = socket.receive().flatMap(Self.status)
      }
      for family in targets where !family.isEmpty {
        let found = family.compactMap { statuses[$0.target] }.map { PortalFinding(status: $0) }
        if found.count == family.count { return found.first { !$0.isPortal } ?? found[0] }
      }
      asked.removeAll { ready.contains($0.descriptor) }
      let taken = sockets.filter { ready.contains($0.descriptor) && $0.takeError() == 0 && $0.send(request) == 0 }
      if !taken.isEmpty { end = patience.moment(in: Self.answer) }
      asked += taken
      sockets.removeAll { ready.contains($0.descriptor) }
    }
    return PortalFinding(status: nil)
  }

  /// The ways to addresses of a family that nobody has: one with a route of its own is somebody's.
  private func targets(_ family: IPAddress.Family, _ witness: KernelWitness) -> [KernelEvidence] {
    let ways = Self.hosts.lazy.filter { $0.family == family }.map { witness.evidence($0, inquiry.path(port: 80)) }
    return Array(ways.filter { $0.gateway != nil && $0.sendsPackets && $0.route?.prefixLength == 0 }.prefix(Self.count))
  }

  /// The status of an answer of HTTP/1 (RFC 9112, 4); `nil` if it is none.
  private static func status(_ bytes: [UInt8]) -> Int? {
    guard bytes.starts(with: Array("HTTP/1.".utf8)), bytes.count >= 12, bytes[8] == 0x20 else { return nil }
    return Int(String(decoding: bytes[9..<12], as: UTF8.self))
  }
}
#endif
