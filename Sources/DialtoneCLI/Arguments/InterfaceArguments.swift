// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone

/// The name of a network interface as it is typed. It need not exist.
enum InterfaceName {
  /// Takes what the kernel would (dev_valid_name, net/core/dev.c): no `/`, no `:`, no white space, and neither `.` nor
  /// `..`. Control characters are allowed there. An interface's own name has up to 15 bytes, an alternative one up to
  /// 127.
  static func parse(_ text: String) throws -> String {
    if text.isEmpty { throw ValidationError("the name is empty; give one such as eth0") }
    if text.utf8.count > LinkName.capacity {
      throw ValidationError(
        "the name has \(text.utf8.count) bytes, and \(LinkName.capacity) is the most; see dialtone interfaces")
    }
    // 0xA0 is white space to the kernel, which takes each byte for a character of ISO 8859-1 (lib/ctype.c).
    let isMalformed = text.utf8.contains {
      [0, 0x20, 0xA0].contains($0) || (0x09...0x0D).contains($0) || "/:".utf8.contains($0)
    }
    if isMalformed || text == "." || text == ".." {
      throw ValidationError("no interface can have that name; see dialtone interfaces")
    }
    return text
  }

  /// The names of the interfaces there are, for a shell to complete, if it takes them as they are. bash(1) expands the
  /// words for compgen, and quotes no `$` and no backquote in what it inserts: a command in a name would run.
  static func completions() -> [String] {
    let names = InterfaceHint.interfaces()?.map(\.interface.name) ?? []
    return names.filter { $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || "-._@+".contains($0) } }
  }
}

/// An address of this machine as it is typed.
enum SourceAddress {
  static func parse(_ text: String) throws -> IPAddress {
    guard let address = IPAddress(text) else {
      throw ValidationError("that is not an IP address; give one of this machine's own, see dialtone interfaces")
    }
    if address.isUnspecified || address.isMulticast {
      throw ValidationError("nothing can be sent from that address; give one of this machine's own")
    }
    if address.family == .ipv6, address.isLinkLocal, address.zone == nil {
      throw ValidationError("that is link-local and needs its interface as a zone; write \(address)%eth0")
    }
    return address
  }
}
