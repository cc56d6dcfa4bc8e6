// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone

/// A target, and the text it was typed as.
struct WatchedTarget: Equatable, Sendable {
  let typed: String
  let target: ReachabilityTarget

  /// The words that are targets. A host of such a name is written with a dot at its end.
  static let words = ["internet", "local-network"]

  /// Where no target is typed.
  static let usual = WatchedTarget(typed: "internet", target: .internet)

  /// Reads a target. The interface asked for stands in for the zone of a link-local address.
  init(_ text: String, interface: String? = nil) throws {
    typed = text
    switch text.lowercased() {
    case "internet": target = .internet
    case "local-network": target = .localNetwork
    default: target = try Self.host(text, interface: interface)
    }
  }

  init(typed: String, target: ReachabilityTarget) {
    self.typed = typed
    self.target = target
  }

  private static func host(_ text: String, interface: String?) throws -> ReachabilityTarget {
    if interface != nil, let address = IPAddress(text), address.isLinkLocal { return .address(address) }
    do {
      return try .host(text)
    } catch {
      throw ValidationError("TARGET: \(error.message)")
    }
  }

  /// The address that the target is; `nil` where it is none.
  var address: IPAddress? {
    if case .address(let address) = target.storage { address } else { nil }
  }
}
