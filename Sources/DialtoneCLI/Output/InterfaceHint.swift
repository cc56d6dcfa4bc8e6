// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone

/// What standard error says at once about an interface that does not exist, or that is given in place of a host.
enum InterfaceHint {
  /// How many names are listed at most.
  private static let limit = 8

  /// Says that there is no such interface, with the names that may have been meant. Says nothing if there is one.
  static func write(interface: String?, targets: [WatchedTarget], isQuiet: Bool) {
    if isQuiet { return }
    if let interface, !exists(interface) {
      // The C library looks up no names longer than an interface's own.
      let names = interfaces()?.flatMap { [$0.interface.name] + $0.alternativeNames } ?? []
      if !names.contains(interface) {
        Output.note("dialtone: --interface: \(missing(interface, among: names, isAwaited: true))")
      }
    }
    for target in targets where target.isPlainName && target.typed.utf8.count <= InlineName.capacity {
      if exists(target.typed) { Output.note("dialtone: \(misplaced(target.typed))") }
    }
  }

  /// The words for an interface that does not exist.
  static func missing(_ name: String, among names: [String], isAwaited: Bool = false) -> String {
    let shown = TerminalText.visible(name)
    let near = EditDistance.nearest(to: name, among: names).map { TerminalText.visible($0) }
    let end =
      if !near.isEmpty {
        "did you mean \(near.joined(separator: " or "))?"
      } else if names.isEmpty || names.count > limit {
        "dialtone interfaces lists them"
      } else {
        "there \(names.count == 1 ? "is" : "are") \(names.map { TerminalText.visible($0) }.joined(separator: ", "))"
      }
    return "there is no interface \"\(shown)\"\(isAwaited ? " yet" : ""); \(end)"
  }

  /// The words for an interface that is given in place of a host.
  static func misplaced(_ name: String) -> String {
    let shown = TerminalText.visible(name)
    return
      "\"\(shown)\" is taken for a host name; for the interface of that name, write: --interface "
      + ShellWord.quoted(shown)
  }

  private static func exists(_ name: String) -> Bool {
    // if_nametoindex(3) reads the name during the call. It knows alternative names, too.
    if unsafe if_nametoindex(name) != 0 { return true }
    // if_indextoname(3) writes at most IF_NAMESIZE bytes. An interface can be given by its index.
    guard let index = UInt32(name) else { return false }
    var buffer = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
    return unsafe if_indextoname(index, &buffer) != nil
  }

  /// The interfaces there are; `nil` if the system denies it. It is not said here: states say it, and a shell that
  /// completes has no place for it.
  static func interfaces() -> [InterfaceStatus]? {
    do {
      return try currentInterfaces()
    } catch {
      return nil
    }
  }
}
