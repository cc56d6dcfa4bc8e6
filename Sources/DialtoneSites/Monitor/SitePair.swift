// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// What a monitor asks: one URL, or the http and the https URL of one site.
struct SitePair: Equatable, Sendable {
  var primary: SiteURL
  /// The http URL, where the primary one is https and both were given.
  var plain: SiteURL?

  /// One verdict for both: available where https is, partial where only http is; else what http was answered by a portal, else
  /// what https came to.
  static func combine(plain: SiteVerdict, secure: SiteVerdict) -> SiteVerdict {
    if secure.isAvailable || secure.kind == .offline { return secure }
    if plain.kind == .captivePortal { return plain }
    guard plain.isAvailable else { return secure }
    return SiteVerdict(
      url: secure.url, kind: .partial, status: secure.status, error: secure.error, address: secure.address,
      interface: secure.interface, certificateExpires: secure.certificateExpires, timings: secure.timings,
      timestamp: secure.timestamp)
  }
}
