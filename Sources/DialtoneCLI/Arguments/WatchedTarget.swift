// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone

/// A target, and the text it was typed as, without the user information of a URL, which may be a secret.
struct WatchedTarget: Equatable, Sendable {
  let typed: String
  let target: ReachabilityTarget

  /// The words that are targets. A host of such a name is written with a dot at its end.
  static let words = ["internet", "local-network"]

  /// Where no target is typed.
  static let usual = WatchedTarget(typed: "internet", target: .internet)

  /// Reads a target. The interface asked for stands in for the zone of a link-local address.
  init(_ text: String, interface: String? = nil) throws {
    typed = Self.withoutUserInformation(text)
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

  /// A URL without what stands before the @ of its authority (RFC 3986, 3.2); any other text as it is.
  private static func withoutUserInformation(_ text: String) -> String {
    // By scalars: as Characters, a combining mark would hide the separator that it follows.
    guard let scheme = text.unicodeScalars.firstRange(of: "://".unicodeScalars) else { return text }
    let authority = text.unicodeScalars[scheme.upperBound...].prefix { !"/?#\\".unicodeScalars.contains($0) }
    guard let at = authority.lastIndex(of: "@") else { return text }
    return String(text[..<scheme.upperBound]) + String(text[authority.index(after: at)...])
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
