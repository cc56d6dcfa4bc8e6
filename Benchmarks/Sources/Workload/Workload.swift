// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CBenchmark
import Dialtone
import Glibc

/// `Workload NAME COUNT`: does one thing COUNT times, for callgrind to count its instructions. In the namespace that
/// the script `instructions` makes: `v0` with an address and a default route over it.
@main
struct Workload {
  static func main() throws {
    let arguments = CommandLine.arguments
    if arguments.dropFirst().first == "serve" {
      // At once, although nobody may be looking: another program waits for the port.
      let error = bench_serve {
        print($0)
        fflush(nil)
      }
      return try check(error)
    }
    guard arguments.count == 3, let count = Int(arguments[2]) else {
      throw Failure(description: "usage: Workload event|changes|link|current|now|nothing COUNT, or Workload serve")
    }
    switch arguments[1] {
    case "event": try event(count, isWatched: true)
    case "changes": try event(count, isWatched: false)
    case "link": try link(count)
    case "current":
      try watched { monitor in
        for _ in 0..<count { try require(monitor.current.isReachable) }
      }
    case "now":
      try watched { _ in
        let target = ReachabilityTarget.address(IPAddress(ipv4: 0x0A00_0001))
        for _ in 0..<count { try require(Reachability.now(target).isReachable) }
      }
    case "nothing": try watched { _ in }
    case let name: throw Failure(description: "no such workload: \(name)")
    }
  }

  /// Adds and deletes the default route in turn. With `isWatched`, a monitor of the Internet tells a closure each time.
  private static func event(_ count: Int, isWatched: Bool) throws {
    let socket = bench_open()
    let gate = Gate()
    let monitor = isWatched ? ReachabilityMonitor(.internet) : nil
    let token = monitor?.observe { _ in gate.open() }
    if isWatched { try gate.wait() }
    for position in 0..<count {
      try setDefaultRoute(socket, isAdded: position % 2 == 1)
      if isWatched { try gate.wait() }
    }
    withExtendedLifetime(token) {}
  }

  /// Has the kernel announce a link, and waits until the announcement was read: a question reads what waits.
  private static func link(_ count: Int) throws {
    let socket = bench_open()
    let index = unsafe bench_interface("v1")
    try watched { _ in
      for position in 0..<count {
        try check(bench_set_queue_length(socket, index, UInt32(100 + position % 2)))
        try require(Reachability.now(.address(IPAddress(ipv4: 0x0A00_0001))).isReachable)
      }
    }
  }

  private static func watched(_ body: (ReachabilityMonitor) throws -> Void) throws {
    let gate = Gate()
    let monitor = ReachabilityMonitor(.internet)
    let token = monitor.observe { _ in gate.open() }
    try gate.wait()
    try body(monitor)
    withExtendedLifetime(token) {}
  }

  private static func setDefaultRoute(_ socket: CInt, isAdded: Bool) throws {
    var route = bench_route()
    route.gateway = 0x0A00_0002
    route.interface = unsafe bench_interface("v0")
    try check(unsafe bench_set_route(socket, isAdded ? 1 : 0, &route))
  }

  private static func check(_ result: CInt) throws {
    if result != 0 { throw Failure(description: unsafe String(cString: strerror(-result))) }
  }

  private static func require(_ isTrue: Bool) throws {
    if !isTrue { throw Failure(description: "a wrong answer, which measures nothing") }
  }
}

struct Failure: Error, CustomStringConvertible {
  let description: String
}
