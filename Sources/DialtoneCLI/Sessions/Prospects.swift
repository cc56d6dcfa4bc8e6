// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Whether anything is under way that could bring the network: a wired link with a carrier, or a radio that is on.
/// Pure.
///
/// Times are those of one monotonic clock.
struct Prospects {
  /// How long nothing may be under way before a wait is given up.
  private let grace: Duration
  /// Since when there has been nothing; `nil` if there is something.
  private var hopelessSince: Duration?

  init(grace: Duration) { self.grace = grace }

  /// When a wait is given up, if nothing changes until then; `nil` while there is hope.
  var end: Duration? { hopelessSince.map { $0 + grace } }

  /// Takes the interfaces as they are. Returns whether there has been no prospect for the whole time of grace.
  mutating func areGone(_ interfaces: [InterfaceStatus], at now: Duration) -> Bool {
    if interfaces.contains(where: Self.isPromising) {
      hopelessSince = nil
      return false
    }
    let since = hopelessSince ?? now
    hopelessSince = since
    return now - since >= grace
  }

  /// Tunnels, dummies and `lo` do not bring the network by themselves.
  static func isPromising(_ status: InterfaceStatus) -> Bool {
    switch status.interface.kind {
    case .wired: status.isOperating || status.reason == .dormant
    case .wifi, .cellular: status.isUp && status.reason != .radioBlocked
    default: false
    }
  }

  /// Why nothing is to be expected: each link that could bring the network, and what it lacks.
  static func words(for interfaces: [InterfaceStatus]) -> String {
    let links = interfaces.filter { [.wired, .wifi, .cellular].contains($0.interface.kind) }
    if links.isEmpty { return "there is no wired, Wi-Fi or cellular interface" }
    return links.map { link in
      let reason = link.reason.map { TextReportFormatter.words(for: $0, takesAnyInterface: false) }
      return "\(TerminalText.visible(link.interface.description)): \(reason ?? "does not operate")"
    }.joined(separator: "; ")
  }
}
