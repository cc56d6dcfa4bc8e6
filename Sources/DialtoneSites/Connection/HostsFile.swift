// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

package import Dialtone

/// The names of hosts(5), which programs get before, or in the place of, what name servers say.
package struct HostsFile: Equatable, Sendable {
  private let text: String

  /// Reads the system's file, which filters of advertising make long. One that cannot be read is treated as empty.
  package init() {
    do throws(SystemFile.Failure) {
      self.init(String(decoding: try SystemFile.bytes(at: "/etc/hosts", limit: 16 << 20), as: UTF8.self))
    } catch {
      self.init("")
    }
  }

  package init(_ text: String) { self.text = text }

  package func has(_ name: String) -> Bool {
    // Mostly it is not even in the text.
    ASCII.folded(text).firstRange(of: ASCII.folded(name)) != nil && !addresses(of: name).isEmpty
  }

  /// Returns the addresses that it gives a name, dots and all, in their order.
  package func addresses(of name: String) -> [IPAddress] {
    let wanted = ASCII.folded(name)
    var addresses: [IPAddress] = []
    for line in text.split(whereSeparator: \.isNewline) {
      let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
      guard words.dropFirst().contains(where: { ASCII.folded($0) == wanted }), let address = IPAddress(words[0]) else {
        continue
      }
      if !addresses.contains(address) { addresses.append(address) }
    }
    return addresses
  }
}
