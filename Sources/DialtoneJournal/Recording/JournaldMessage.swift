// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneCommand

/// An event for the journal of systemd, in its native protocol
/// (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/): fields of its own, and one MESSAGE_ID for each kind.
package enum JournaldMessage {
  package static let socket = "/run/systemd/journal/socket"

  /// The datagram; `nil` for what nobody wants to read there.
  package static func bytes(_ event: JournalEvent) -> [UInt8]? {
    guard let (identifier, priority, text) = head(event.kind) else { return nil }
    var fields = [
      ("MESSAGE", text), ("MESSAGE_ID", identifier), ("PRIORITY", String(priority)), ("SYSLOG_IDENTIFIER", "dialtone"),
      ("DIALTONE_EVENT", event.name),
    ]
    switch event.kind {
    case .begin(let outage, _), .cause(let outage): fields += Self.fields(outage)
    case .end(let outage, _, _):
      let lasted = Outage(outage, at: event.at, .open, seen: []).lasted
      fields += Self.fields(outage) + [("DIALTONE_LASTED_USEC", String(lasted))]
    case .up(let target), .unknown(let target, _): fields.append(("DIALTONE_TARGET", target))
    default: break
    }
    return fields.flatMap { field($0, $1) }
  }

  /// Sends a datagram. It waits for nobody: what the journal does not take is lost, and stands in the file.
  package static func send(_ message: [UInt8], to socket: String = socket) {
    // Both are read during the call, as many bytes as it is told.
    _ = unsafe message.withUnsafeBytes { unsafe command_send_local(socket, $0.baseAddress, $0.count) }
  }

  private static func head(_ kind: JournalEvent.Kind) -> (identifier: String, priority: Int, text: String)? {
    switch kind {
    case .start(let recorder):
      ("ebc35c58665e4d0ca1da51c4e07f5148", 6, "recording \(recorder.targets.joined(separator: ", "))")
    case .stop(let reason): ("f0cd9a8b2fd74fb6a3a533efb36da56f", 6, "recording ends: \(reason)")
    case .begin(let outage, let isContinued):
      (
        "ca31b34dff10415da16305a90447b24a", 4,
        "\(outage.target): outage \(isContinued ? "goes on" : "begins"): \(outage.words)"
      )
    case .cause(let outage):
      ("a0b9b0bee82941a582331168e2e1bbf7", 5, "\(outage.target): \(outage.explanation?.summary ?? outage.words)")
    case .end(let outage, let how, _):
      ("ecfdc0a2cd674e5b9c1493a1088352fa", 5, "\(outage.target): outage is over: \(how)")
    case .path(let path):
      ("1eeac86715ba45519b49ec529d5a781b", 6, "packets leave by \(path.interface ?? "no interface"): \(path.status)")
    case .sleep: ("7baca4e9713e4ec3a9e7d6fa8ee5de97", 6, "the machine was suspended")
    case .clock: ("ad563d8330e34eef9a2c7d75571ba2a7", 6, "the clock was set")
    case .unknown(let target, _):
      ("a645af13fa614986a796e81875ce109d", 5, "\(target): it is no longer known whether it is reachable")
    case .alive, .file, .up: nil
    }
  }

  private static func fields(_ outage: OpenOutage) -> [(String, String)] {
    let known: [(String, String?)] = [
      ("DIALTONE_TARGET", outage.target), ("DIALTONE_LAYER", outage.layer.rawValue), ("DIALTONE_REASON", outage.reason),
      ("DIALTONE_CAUSE", outage.explanation?.cause), ("DIALTONE_CONFIDENCE", outage.explanation?.confidence),
    ]
    return known.compactMap { name, value in value.map { (name, $0) } }
  }

  /// A value with a line break has its length before it, as 64 bits in little-endian order.
  private static func field(_ name: String, _ value: String) -> [UInt8] {
    let bytes = Array(value.utf8)
    let length = (0..<8).map { UInt8(truncatingIfNeeded: bytes.count >> ($0 * 8)) }
    return Array(name.utf8) + (bytes.contains(0x0A) ? [0x0A] + length : [0x3D]) + bytes + [0x0A]
  }
}
