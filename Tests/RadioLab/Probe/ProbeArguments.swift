// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// The program's arguments, in the words of `dialtone watch`.
struct ProbeArguments {
  struct Unknown: Error {
    let argument: String
  }

  var configuration = ReachabilityConfiguration()
  var isWaiting = false
  var watchesPath = false
  var asksForPath = false
  var targets: [(text: String, value: ReachabilityTarget)] = []

  init(_ arguments: ArraySlice<String>) throws {
    var rest = arguments
    func value(of option: String) throws -> String {
      guard let value = rest.popFirst() else { throw Unknown(argument: option) }
      return value
    }
    while let argument = rest.popFirst() {
      switch argument {
      case "-4": configuration.family = .ipv4
      case "-6": configuration.family = .ipv6
      case "--interface": configuration.interface = try value(of: argument)
      case "--mark": configuration.mark = try Self.number(value(of: argument))
      case "--settling": configuration.settling = .seconds(try Self.number(value(of: argument)))
      case "--no-nat64": configuration.usesNAT64 = false
      case "--not-cellular": isWaiting = true
      case "path": watchesPath = true
      case "--path": asksForPath = true
      default: targets.append((argument, try Self.target(argument)))
      }
    }
  }

  private static func number(_ text: String) throws -> UInt32 {
    guard let number = UInt32(text) else { throw Unknown(argument: text) }
    return number
  }

  private static func target(_ text: String) throws -> ReachabilityTarget {
    switch text {
    case "internet": .internet
    case "local-network": .localNetwork
    default: try .host(text)
    }
  }
}
