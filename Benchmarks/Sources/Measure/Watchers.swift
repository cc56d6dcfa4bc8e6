// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CBenchmark
import Glibc

/// Programs that watch, and tell of each change.
struct Watchers {
  private let programs: [Program]

  init(_ programs: [Program]) { self.programs = programs }

  enum Route {
    /// The default route.
    case internet
    /// 192.0.2.0/24.
    case documentation

    var value: bench_route {
      var route = bench_route()
      route.gateway = 0x0A00_0002
      // Another gateway than the default route's, or the state would be the same without it.
      if self == .documentation { (route.prefix, route.length, route.gateway) = (0xC000_0200, 24, 0x0A00_0003) }
      route.interface = unsafe bench_interface("v0")
      return route
    }
  }

  /// Deletes and adds the route in turn, and prints how long after the system call begins each program tells. With a
  /// link, an event of that link comes just before, which the program has to deal with, too.
  func latency(rounds: Int, changes: Int, route: Route, afterEventOf link: String? = nil) throws {
    let socket = bench_open()
    try check(socket, "open a socket")
    let index = link.map { unsafe bench_interface($0) }
    var route = route.value
    var times = [[Int64]](repeating: [], count: programs.count)
    var costs = [[Int64]](repeating: [], count: programs.count)
    var memory: [Int] = [Int](repeating: 0, count: programs.count)
    // The first round warms up.
    for round in 0...rounds {
      for (number, program) in programs.enumerated() {
        try check(unsafe bench_set_route(socket, 1, &route), "add a route")
        let (process, output) = try program.start()
        defer { close(output) }
        // It is there as soon as it tells of the present.
        var told: Int64 = 0
        guard unsafe bench_read(output, &told) == 0 else { throw Failure("\(program.name) tells nothing") }
        settle(process)
        var cpu = bench_cpu_of(process)
        for change in 0..<(round == 0 ? 20 : changes + 20) {
          if change == 20 { cpu = bench_cpu_of(process) }
          if let index { try check(bench_set_up(socket, index, CInt(change / 2 % 2)), "set up a link") }
          // What a program tells twice is left over from the change before.
          let begin = bench_now()
          try check(unsafe bench_set_route(socket, CInt(change % 2), &route), "change a route")
          repeat {
            guard unsafe bench_read(output, &told) == 0 else { throw Failure("\(program.name) missed a change") }
          } while told < begin
          if change >= 20 { times[number].append(told - begin) }
        }
        if round > 0 { costs[number].append((bench_cpu_of(process) - cpu) / Int64(changes)) }
        memory[number] = bench_memory_of(process)
        bench_stop(process)
      }
    }
    for (number, program) in programs.enumerated() {
      row(
        program.name,
        [
          ("median", times[number].quantile(0.5) / 1000), ("p99", times[number].quantile(0.99) / 1000),
          ("cpu", costs[number].quantile(0.5) / 1000), ("KiB", Double(memory[number])),
        ])
    }
  }

  /// Awaits the end of a program's start: it has taken no processor time for a while. It may have much to tidy up.
  private func settle(_ process: pid_t) {
    var cpu: Int64 = -1
    while cpu != bench_cpu_of(process) {
      cpu = bench_cpu_of(process)
      usleep(300_000)
    }
  }

  /// Changes nothing, and prints how often the threads of each program sleep anew, and its processor time, in a second.
  func idle(seconds: Int) throws {
    for program in programs {
      let (process, output) = try program.start()
      defer { close(output) }
      var told: Int64 = 0
      guard unsafe bench_read(output, &told) == 0 else { throw Failure("\(program.name) tells nothing") }
      settle(process)
      let sleeps = bench_sleeps_of(process)
      let cpu = bench_cpu_of(process)
      usleep(UInt32(seconds) * 1_000_000)
      let used = Double(bench_cpu_of(process) - cpu) / Double(seconds)
      let wakeups = Double(bench_sleeps_of(process) - sleeps) / Double(seconds)
      bench_stop(process)
      row(program.name, [("wakeups", wakeups), ("cpu", used / 1000)])
    }
  }

  /// Adds and deletes routes that concern nobody, at a rate, and prints the processor time that each program takes for
  /// one such change.
  func foreign(seconds: Int, rate: Int) throws {
    let socket = bench_open()
    try check(socket, "open a socket")
    for program in programs {
      var home = Route.internet.value
      try check(unsafe bench_set_route(socket, 1, &home), "add a route")
      let (process, output) = try program.start()
      defer { close(output) }
      var told: Int64 = 0
      guard unsafe bench_read(output, &told) == 0 else { throw Failure("\(program.name) tells nothing") }
      let cpu = bench_cpu_of(process)
      let begin = bench_now()
      var route = Route.documentation.value
      (route.prefix, route.length) = (0xC633_6400, 32)
      for change in 0..<seconds * rate {
        // By the clock, so that a slow change does not lower the rate.
        let due = begin + Int64(change) * 1_000_000_000 / Int64(rate)
        let wait = due - bench_now()
        if wait > 0 { usleep(UInt32(wait / 1000)) }
        try check(unsafe bench_set_route(socket, CInt(1 - change % 2), &route), "change a route")
      }
      let changes = Double(seconds * rate)
      let elapsed = Double(bench_now() - begin)
      let used = Double(bench_cpu_of(process) - cpu)
      bench_stop(process)
      row(program.name, [("cpu", used / changes / 1000), ("rate", changes / elapsed * 1e9)])
    }
  }
}
