// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// The root servers of the DNS, which the Internet itself runs: what is known of them by heart tells a lie.
enum RootServers {
  /// The name of the first one.
  static let name = "a.root-servers.net"

  /// The addresses of all (IANA, root hints), a to m.
  static let addresses: [IPAddress.Family: [String]] = [
    .ipv4: [
      "198.41.0.4", "170.247.170.2", "192.33.4.12", "199.7.91.13", "192.203.230.10", "192.5.5.241", "192.112.36.4",
      "198.97.190.53", "192.36.148.17", "192.58.128.30", "193.0.14.129", "199.7.83.42", "202.12.27.33",
    ],
    .ipv6: [
      "2001:503:ba3e::2:30", "2801:1b8:10::b", "2001:500:2::c", "2001:500:2d::d", "2001:500:a8::e", "2001:500:2f::f",
      "2001:500:12::d0d", "2001:500:1::53", "2001:7fe::53", "2001:503:c27::2:30", "2001:7fd::1", "2001:500:9f::42",
      "2001:dc3::35",
    ],
  ]

  /// Whether an address is that of the first one.
  static func isFirst(_ address: IPAddress) -> Bool { "\(address)" == addresses[address.family]?.first }
}
