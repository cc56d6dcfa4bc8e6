// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CBenchmark

/// Random numbers that a seed repeats (SplitMix64).
struct Numbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}

/// The network, and what happens to it. IPv4 alone: a socket then finds what a state says at the same moment.
struct World {
  let seed: UInt64
  var numbers: Numbers
  private let socket: CInt
  private let link: UInt32
  private let peer: UInt32
  /// How many changes were tried, and how many of them the kernel refused, such as a second deletion.
  private(set) var count = 0
  private(set) var failures = 0

  init(seed: UInt64) throws {
    self.seed = seed
    numbers = Numbers(seed: seed)
    socket = bench_open()
    (link, peer) = unsafe (bench_interface("v0"), bench_interface("v1"))
    guard socket >= 0, link > 0, peer > 0 else { throw Failure("not in the namespace that the script makes") }
  }

  private mutating func note(_ result: CInt) {
    count += 1
    if result != 0 { failures += 1 }
  }

  mutating func setDefaultRoute(isAdded: Bool) throws {
    // What the network may lack by now.
    note(bench_set_up(socket, link, 1))
    note(bench_set_up(socket, peer, 1))
    note(bench_set_address(socket, 1, link, 0x0A00_0001, 24))
    note(route(0, 0, isAdded: isAdded))
  }

  private func route(_ prefix: UInt32, _ length: UInt32, isAdded: Bool, metric: UInt32 = 0) -> CInt {
    var route = bench_route()
    (route.prefix, route.length, route.metric) = (prefix, length, metric)
    route.gateway = 0x0A00_0002
    route.interface = link
    return unsafe bench_set_route(socket, isAdded ? 1 : 0, &route)
  }

  /// Makes one change, or one storm.
  mutating func step() throws {
    let isAdded = Bool.random(using: &numbers)
    // Without a link that is up and has an address, the kernel refuses most of the rest.
    let isKept = Int.random(in: 0..<4, using: &numbers) > 0
    switch Int.random(in: 0..<100, using: &numbers) {
    case 0..<40: note(route(0, 0, isAdded: isAdded))
    case 40..<50: note(route(0, 0, isAdded: isAdded, metric: 600))
    case 50..<60: note(route(0xC000_0200, 24, isAdded: isAdded))
    case 60..<70: note(bench_set_up(socket, link, isKept ? 1 : 0))
    case 70..<78: note(bench_set_up(socket, peer, isKept ? 1 : 0))
    case 78..<86: note(bench_set_address(socket, isKept ? 1 : 0, link, 0x0A00_0001, 24))
    case 86..<90: note(bench_set_queue_length(socket, link, UInt32.random(in: 1...1000, using: &numbers)))
    case 90..<96:
      let name = "d\(Int.random(in: 0..<8, using: &numbers))"
      // A link of this name is there, or it is not.
      let index = unsafe bench_interface(name)
      note(unsafe index == 0 ? bench_add_link(socket, name) : bench_delete_link(socket, index))
    case 96..<98: storm(Int.random(in: 100...2_000, using: &numbers))
    // More than a socket's buffer holds, if all routes are announced.
    case 98: storm(20_000)
    default: if bench_fork() != 0 { throw Failure("a forked child did not end well") }
    }
  }

  /// Adds routes that concern nobody, and deletes them.
  private mutating func storm(_ size: Int) {
    var first = bench_route()
    (first.prefix, first.length) = (0x6440_0000, 32)
    first.interface = link
    for isAdded: CInt in [1, 0] { note(unsafe bench_set_routes(socket, isAdded, &first, UInt32(size))) }
  }
}
