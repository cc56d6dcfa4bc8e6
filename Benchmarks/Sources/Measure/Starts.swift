// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CBenchmark
import Glibc

/// Programs that answer once, and end.
struct Starts {
  private let programs: [Program]

  init(_ programs: [Program]) { self.programs = programs }

  /// Prints how long each takes, its processor time, and its peak of resident memory in KiB.
  func measure(rounds: Int) throws {
    var times = [[Int64]](repeating: [], count: programs.count)
    var costs = [[Int64]](repeating: [], count: programs.count)
    var peaks = [[Int64]](repeating: [], count: programs.count)
    for round in 0...rounds {
      for (number, program) in programs.enumerated() {
        let begin = bench_now()
        let (process, output) = try program.start()
        // What it prints is of no interest here.
        var byte: UInt8 = 0
        // One byte into one byte; the pipe ends with the program.
        while unsafe read(output, &byte, 1) > 0 {}
        close(output)
        var peak = 0
        var cpu: Int64 = 0
        let status = unsafe bench_await(process, &peak, &cpu)
        guard status == 0 else { throw Failure("\(program.name) ended with status \(status)") }
        if round == 0 { continue }
        times[number].append(bench_now() - begin)
        costs[number].append(cpu)
        peaks[number].append(Int64(peak))
      }
    }
    for (number, program) in programs.enumerated() {
      row(
        program.name,
        [
          ("median", times[number].quantile(0.5) / 1000), ("p99", times[number].quantile(0.99) / 1000),
          ("cpu", costs[number].quantile(0.5) / 1000), ("KiB", peaks[number].quantile(0.5)),
        ])
    }
  }

  /// Prints how long each says that its first answer took.
  func measureFirst(rounds: Int) throws {
    var times = [[Int64]](repeating: [], count: programs.count)
    for round in 0...rounds {
      for (number, program) in programs.enumerated() {
        let (process, output) = try program.start()
        defer { close(output) }
        var time: Int64 = 0
        guard unsafe bench_read(output, &time) == 0 else { throw Failure("\(program.name) tells nothing") }
        var peak = 0
        var cpu: Int64 = 0
        let status = unsafe bench_await(process, &peak, &cpu)
        guard status == 0 else { throw Failure("\(program.name) ended with status \(status)") }
        if round > 0 { times[number].append(time) }
      }
    }
    for (number, program) in programs.enumerated() {
      row(
        program.name,
        [("median", times[number].quantile(0.5) / 1000), ("p99", times[number].quantile(0.99) / 1000)])
    }
  }
}

/// What a program is measured beside.
enum Surroundings {
  /// Routes to /30 networks from 100.64.0.0 on, over `v0`.
  static func routes(_ count: Int, _ body: () throws -> Void) throws {
    let socket = bench_open()
    try check(socket, "open a socket")
    var route = bench_route()
    (route.prefix, route.length) = (0x6440_0000, 30)
    route.interface = unsafe bench_interface("v0")
    try check(unsafe bench_set_routes(socket, 1, &route, UInt32(count)), "add routes")
    try body()
  }

  /// Links that lead nowhere.
  static func links(_ count: Int, _ body: () throws -> Void) throws {
    let socket = bench_open()
    try check(socket, "open a socket")
    for number in 0..<count { try check(unsafe bench_add_link(socket, "d\(number)"), "add a link") }
    try body()
  }

  /// Addresses of 172.16/12 on `v0`.
  static func addresses(_ count: Int, _ body: () throws -> Void) throws {
    let socket = bench_open()
    try check(socket, "open a socket")
    for number in 0..<count {
      try check(
        bench_set_address(socket, 1, unsafe bench_interface("v0"), 0xAC10_0001 + UInt32(number), 32), "add an address")
    }
    try body()
  }
}
