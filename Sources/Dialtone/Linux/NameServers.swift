// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Netlink

/// The name servers that getaddrinfo(3) asks, by resolv.conf(5).
package enum NameServers {
  /// As many as libc takes (MAXNS, resolv.h).
  private static let limit = 3

  /// The servers of `/etc/resolv.conf` below `root`; the one on this machine where it names none, or is not there. The unspecified
  /// address is this machine's too: packets to it go there.
  package static func configured(root: String = "") -> [IPAddress] {
    parse(SystemFile.text(at: root + "/etc/resolv.conf") ?? "")
  }

  package static func parse(_ text: String) -> [IPAddress] {
    var servers: [IPAddress] = []
    for line in text.split(whereSeparator: \.isNewline) {
      // The keyword begins the line (resolv.conf(5)).
      guard line.hasPrefix("nameserver"), servers.count < limit else { continue }
      let words = line.split { $0 == " " || $0 == "\t" }
      guard words.first == "nameserver", words.count > 1, let address = IPAddress(words[1])?.unmapped else { continue }
      servers.append(address.isUnspecified ? loopback(address.family) : address)
    }
    return servers.isEmpty ? [loopback(.ipv4)] : servers
  }

  private static func loopback(_ family: IPAddress.Family) -> IPAddress {
    switch family {
    case .ipv4: IPAddress(ipv4: 0x7F00_0001)
    case .ipv6: IPAddress(IPAddressBits(ipv6High: 0, low: 1))
    }
  }
}
#endif
