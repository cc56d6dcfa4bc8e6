// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
package import DialtoneSites

/// Whom an exporter probes. It asks in the place of everybody who can reach it, so it has to be told for whom.
package struct ProbePolicy: Sendable {
  package struct Refusal: Error {
    package let message: String
  }

  private var names: Set<String> = []
  private var networks: [AddressAdmission.Network] = []
  /// Whether anything may be probed except link-local and metadata addresses.
  private let isOpen: Bool

  /// For an exporter that only this machine reaches.
  package static let local = ProbePolicy()

  private init() { isOpen = true }

  /// - Parameter allowed: Host names, addresses, and networks such as 192.0.2.0/24; at least one.
  /// - Throws: ``Refusal`` for a text that is none of these.
  package init(allowing allowed: [String]) throws(Refusal) {
    isOpen = false
    for text in allowed {
      if let network = try Self.network(text) {
        if AddressAdmission.excludes(network) || !text.contains("/") && !AddressAdmission().admits(network.address) {
          throw Refusal(
            message: "\(text) is link-local or site-local, or a cloud's metadata service: no list opens the way there")
        }
        networks.append(network)
      } else {
        do throws(ReachabilityError) {
          names.insert(try HostName(text).canonical.text)
        } catch {
          throw Refusal(message: "\(error)")
        }
      }
    }
  }

  /// An address or a network; `nil` for a name.
  private static func network(_ text: String) throws(Refusal) -> AddressAdmission.Network? {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = IPAddress(parts[0]) else {
      if parts.count == 1 { return nil }
      throw Refusal(message: "\(HostText.quoted(text[...])) is no network; write it as 192.0.2.0/24 or 2001:db8::/32")
    }
    // The first 96 bits of an IPv4-mapped network are no part of the IPv4 one (RFC 4291, 2.5.5.2).
    let lengths = address.family == .ipv4 ? 0...32 : address.unmapped.family == .ipv4 ? 96...128 : 0...128
    guard let length = parts.count == 1 ? lengths.upperBound : Int(parts[1]), lengths.contains(length),
      let network = AddressAdmission.Network(address, length: length - lengths.lowerBound)
    else {
      let range = "\(lengths.lowerBound) to \(lengths.upperBound)"
      throw Refusal(message: "\(HostText.quoted(text[...])) has no length from \(range)")
    }
    return network
  }

  /// The addresses to which a probe of the host may connect; `nil` if it may not be probed at all.
  package func admission(of host: SiteURL.Host) -> AddressAdmission? {
    if isOpen { return AddressAdmission() }
    switch host {
    case .name(let name) where names.contains(name.text):
      // Who owns a name decides where it leads: it leads to this machine only if that is what it is called.
      return AddressAdmission(excludesLoopback: name.text != "localhost", listed: networks)
    case .name: return networks.isEmpty ? nil : AddressAdmission(networks: networks)
    case .address(let address):
      let admission = AddressAdmission(networks: networks)
      return admission.admits(address) ? admission : nil
    }
  }
}
