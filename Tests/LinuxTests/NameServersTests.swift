// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
@testable import Dialtone
import Testing

/// The name servers in resolv.conf(5).
struct NameServersTests {
  @Test(arguments: [
    ("nameserver 192.0.2.1\n", ["192.0.2.1"]),
    ("nameserver\t192.0.2.1", ["192.0.2.1"]),
    ("nameserver   192.0.2.1   # the router\n", ["192.0.2.1"]),
    ("nameserver 2001:db8::1\nnameserver 192.0.2.1\n", ["2001:db8::1", "192.0.2.1"]),
    ("nameserver fe80::1%eth0\n", ["fe80::1%eth0"]),
    ("nameserver ::ffff:192.0.2.1\n", ["192.0.2.1"]),
    // Packets to the unspecified address go to this machine.
    ("nameserver 0.0.0.0\nnameserver ::\n", ["127.0.0.1", "::1"]),
    // inet_aton(3), by which libc reads them, as a filter that counts packets shows.
    ("nameserver 192.168.1\nnameserver 127.1\n", ["192.168.0.1", "127.0.0.1"]),
    // libc uses three.
    (
      "nameserver 10.0.0.1\nnameserver 10.0.0.2\nnameserver 10.0.0.3\nnameserver 10.0.0.4\n",
      ["10.0.0.1", "10.0.0.2", "10.0.0.3"]
    ),
    // Lines that cannot be read do not count.
    ("nameserver x\nnameserver\nnameserver 192.0.2.1\n", ["192.0.2.1"]),
    ("search example.com\r\noptions edns0\nnameserver 192.0.2.1\n", ["192.0.2.1"]),
  ])
  func readsServersInOrder(text: String, expected: [String]) {
    #expect(NameServers.parse(text).map(\.description) == expected)
  }

  @Test(
    "without a server, it is the one on this machine",
    arguments: [
      "", "\n", "# nameserver 192.0.2.1\n", "; nameserver 192.0.2.1\n", " nameserver 192.0.2.1\n",
      "nameservers 192.0.2.1\n", "nameserver\n", "nameserver 192.0.2.\n", "search example.com\n",
      "nameserver 192.0.2.1\r\n",
    ])
  func withoutAServerThisMachineIsAsked(text: String) {
    #expect(NameServers.parse(text).map(\.description) == ["127.0.0.1"])
  }
}
#endif
