// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone

/// Lines as the scenarios read them.
enum Line {
  /// `STATUS FLAGS INTERFACE/KIND [via GATEWAY] [because REASON]`
  static func text(_ state: Reachability) -> String {
    var words = [state.status.identifier, state.flags.description]
    words.append(state.interface.map { "\($0.name)/\($0.kind.identifier)" } ?? "-")
    if let gateway = state.gateway { words += ["via", gateway.description] }
    if let reason = state.reason { words += ["because", reason.identifier] }
    return words.joined(separator: " ")
  }

  /// `STATUS [expensive] INTERFACE/KIND[/expensive]… [because REASON]`, and after each interface, if asked for, `from
  /// ADDRESS… via GATEWAY…`
  static func text(_ path: NetworkPath, withAddresses: Bool = false) -> String {
    var words = ["\(path.status)"]
    if path.isExpensive { words.append("expensive") }
    for interface in path.interfaces {
      words.append("\(interface.name)/\(interface.kind.identifier)\(interface.isExpensive ? "/expensive" : "")")
      if withAddresses {
        words += ["from"] + interface.addresses.map(\.description) + ["via"] + interface.gateways.map(\.description)
      }
    }
    if let reason = path.reason { words += ["because", reason.identifier] }
    return words.joined(separator: " ")
  }

  /// Writes a line at once and whole, from any thread: it is shorter than PIPE_BUF, so it is not mixed with others
  /// (write(2), pipe(7)).
  static func write(_ line: String, to descriptor: CInt) {
    let bytes = Array((line + "\n").utf8)
    // write(2) reads that many bytes of the array, which lives until it returns.
    let count = unsafe bytes.withUnsafeBytes { unsafe CDialtoneSystem.write(descriptor, $0.baseAddress, $0.count) }
    // The reader of the lines is gone, or has no room: later output would be incomplete.
    if count != bytes.count { exit(1) }
  }
}
