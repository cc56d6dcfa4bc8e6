// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DialtoneCLI

struct EditDistanceTests {
  /// Known distances: Damerau (1964), Levenshtein (1966) and their usual examples.
  @Test(arguments: [
    ("", "", 0), ("a", "", 1), ("kitten", "sitting", 3), ("Saturday", "Sunday", 3), ("flaw", "lawn", 2),
    ("ab", "ba", 1),
    ("eth0", "eth1", 1), ("ETH0", "eth0", 0), ("wlan0", "wlna0", 1), ("abcd", "badc", 2),
  ])
  func countsChanges(a: String, b: String, distance: Int) {
    #expect(EditDistance.between(a, b) == distance)
    #expect(EditDistance.between(b, a) == distance)
  }

  @Test(arguments: [
    ("eth1", ["lo", "eth0", "wlan0"], ["eth0"]), ("wlan", ["lo", "wlan0", "wlan1", "eth0"], ["wlan0", "wlan1"]),
    ("enp3", ["enp3s0", "lo"], ["enp3s0"]), ("tun0", ["lo", "eth0"], []), ("wlna0", ["wlan0", "wlan1"], ["wlan0"]),
    ("e", ["eth0"], []), ("eth", ["eth0", "eth1", "eth2", "eth3"], ["eth0", "eth1", "eth2"]),
  ])
  func findsTheNamesThatMayBeMeant(word: String, names: [String], near: [String]) {
    #expect(EditDistance.nearest(to: word, among: names) == near)
  }
}
