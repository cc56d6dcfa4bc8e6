// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneCommand
internal import CDialtoneSystem
internal import Dialtone

/// Whom a static executable asks for addresses. A static glibc would load the modules that nsswitch.conf(5) names from
/// the machine's own glibc, and crash if that is of another version. So it asks only what is part of itself.
enum BuiltInNameSources {
  /// Call it before any name is looked up. Later changes of the file are not taken over.
  static func choose() {
    guard csystem_is_static() else { return }
    let text = SystemFile.text(at: "/etc/nsswitch.conf", limit: 1 << 20) ?? ""
    // The text is read during the call, and nothing is kept of it.
    unsafe command_choose_name_sources(hosts(in: text))
  }

  /// `files` and `dns` of the last line "hosts:", in its order, each with its actions such as `[NOTFOUND=return]`. DNS
  /// takes the place of systemd-resolved alone, which asks it. Both, if there is no such line that can be read, or if
  /// it has neither.
  static func hosts(in text: String) -> String {
    var chosen: [Substring] = []
    for line in text.split(whereSeparator: \.isNewline) {
      var rest = line.prefix { $0 != "#" }.drop(while: \.isWhitespace)
      guard rest.hasPrefix("hosts:") else { continue }
      rest = rest.dropFirst("hosts:".count)
      chosen = []
      let hasDNS = rest.split { $0.isWhitespace || "[]".contains($0) }.contains("dns")
      var isBuiltIn = false
      while let first = rest.drop(while: \.isWhitespace).first {
        rest = rest.drop(while: \.isWhitespace)
        let word: Substring
        if first == "[" {
          guard let end = rest.firstIndex(of: "]") else { return "files dns" }
          word = rest[...end]
        } else {
          word = rest.prefix { !$0.isWhitespace && $0 != "[" }
          isBuiltIn = word == "files" || word == "dns"
          if word == "resolve", !hasDNS { chosen.append("dns") }
        }
        if isBuiltIn { chosen.append(word) }
        rest = rest.dropFirst(word.count)
      }
    }
    return chosen.contains { !$0.hasPrefix("[") } ? chosen.joined(separator: " ") : "files dns"
  }
}
