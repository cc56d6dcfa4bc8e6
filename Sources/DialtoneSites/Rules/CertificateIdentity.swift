// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Whether a certificate is for a site (RFC 9525). Only its subject alternative names count: DNS names for a name, and
/// addresses for an address.
///
/// NIOSSL's own check is not used. It takes the common name of a certificate without such names. For a name, it also
/// takes a certificate for the address that was connected to. Somebody who leads a name astray may well have one.
enum CertificateIdentity {
  enum AlternativeName: Equatable {
    case dns([UInt8])
    /// 4 or 16 bytes in network order.
    case address([UInt8])
  }

  static func matches(_ host: SiteURL.Host, _ names: [AlternativeName]) -> Bool {
    switch host {
    case .name(let name): names.contains { covers($0, Array(name.text.utf8)) }
    case .address(let address): names.contains(.address(address.unmapped.networkBytes))
    }
  }

  /// Whether there are names of the site's kind. Without, OpenSSL takes the common name of a certificate for a host's
  /// (X509_check_host(3)), and browsers do not.
  static func hasNames(_ names: [AlternativeName], for host: SiteURL.Host) -> Bool {
    if case .address = host { return true }
    return names.contains { if case .dns = $0 { true } else { false } }
  }

  /// Whether the name in a certificate covers `host`, which is in lower case and A-labels, without trailing dot.
  private static func covers(_ name: AlternativeName, _ host: [UInt8]) -> Bool {
    guard case .dns(let bytes) = name else { return false }
    var pattern = bytes.map(ASCII.folded)
    if pattern.last == dot { pattern.removeLast() }
    if pattern == host { return true }
    // RFC 9525, 6.3: a star stands for the whole first label. At least two labels follow it, or it would cover a whole
    // top-level domain.
    guard pattern.starts(with: [UInt8(ascii: "*"), dot]), let hostDot = host.firstIndex(of: dot), hostDot > 0 else {
      return false
    }
    let rest = pattern[1...]
    return rest.dropFirst().contains(dot) && rest == host[hostDot...]
  }

  private static let dot = UInt8(ascii: ".")
}
