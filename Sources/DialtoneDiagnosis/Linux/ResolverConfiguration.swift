// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneSites

#if canImport(Glibc)
internal import Glibc
#endif

/// How this machine looks names up: resolv.conf(5), hosts(5) and nsswitch.conf(5). Pure, except for reading the files.
struct ResolverConfiguration: Equatable, Sendable {
  /// The name servers, in the order in which they are asked.
  var servers: [IPAddress]
  /// The domains that are appended to short names.
  var searchDomains: [String] = []
  /// A name with at least this many dots is first asked for as it is.
  var dots = 1
  /// Such as `single-request-reopen` (each question has a socket of its own, for servers that answer one of a socket)
  /// and `no-aaaa` (glibc 2.36: no IPv6 address is asked for).
  private(set) var options: Set<String> = []
  /// Whether programs ask over TCP alone: what a datagram is answered is not what they get.
  var usesTCP: Bool { options.contains("use-vc") }
  /// Whether programs begin with any server, not with the first.
  var rotates: Bool { options.contains("rotate") }
  /// What the system asks, in its order: `files`, `dns`, `mdns4_minimal` and so on.
  var sources: [String] = ["files", "dns"]
  var hosts: HostsFile
  /// Whether this user may not read resolv.conf(5), so that programs ask this machine (resolver(3)).
  private(set) var isForbidden = false

  /// Reads the files. One that cannot be read is treated as empty, and a source that is not installed is passed over,
  /// as libc does.
  init() {
    self.init(resolver: Self.text("/etc/resolv.conf"), switching: Self.text("/etc/nsswitch.conf"))
    hosts = HostsFile()
    let read = Result { () throws(SystemFile.Failure) in try SystemFile.bytes(at: "/etc/resolv.conf", limit: 1 << 20) }
    if case .failure(.refused(let error)) = read { isForbidden = error.errno == EACCES }
    sources.removeAll { !Self.isInstalled($0) }
    // The variables count more (resolv.conf(5)).
    if let domains = EnvironmentVariable["LOCALDOMAIN"] { searchDomains = Self.words(domains[...]) }
    if let options = EnvironmentVariable["RES_OPTIONS"] { setOptions(Self.words(options[...])[...]) }
  }

  private mutating func setOptions(_ options: ArraySlice<String>) {
    self.options.formUnion(options)
    for option in options where option.hasPrefix("ndots:") {
      dots = min(15, Int(option.dropFirst("ndots:".count)) ?? 1)
    }
  }

  /// Whether libc finds the module of a source; two are its own (2.34). Another libc has none at all.
  private static func isInstalled(_ source: String) -> Bool {
    #if canImport(Glibc)
    if ["files", "dns"].contains(source) { return true }
    let module = "libnss_\(source).so.2"
    // A static executable would load it into another glibc than its own, and may crash.
    guard csystem_is_static() else {
      // The call reads the name and keeps nothing of it.
      return unsafe dlopen(module, RTLD_LAZY) != nil
    }
    let folders = ["", "64", "/x86_64-linux-gnu", "/aarch64-linux-gnu"].flatMap { ["/lib\($0)", "/usr/lib\($0)"] }
    return folders.contains { SystemFile.exists("\($0)/\(module)") }
    #else
    return true
    #endif
  }

  init(resolver: String, switching: String = "", hosts: String = "") {
    servers = NameServers.parse(resolver)
    self.hosts = HostsFile(hosts)
    // What does not begin its line is no keyword, and a line ends with LF alone.
    for line in resolver.unicodeScalars.split(separator: "\n") where line.first != " " && line.first != "\t" {
      let words = Self.words(Substring(line))
      switch words.first {
      // The last of them counts (resolv.conf(5)).
      case "search", "domain": searchDomains = words.dropFirst().map { $0.last == "." ? String($0.dropLast()) : $0 }
      case "options": setOptions(words.dropFirst())
      default: break
      }
    }
    for line in switching.split(whereSeparator: \.isNewline) {
      let words = Self.words(line.prefix { $0 != "#" })
      if words.first == "hosts:" { sources = Self.sources(words.dropFirst()) }
    }
  }

  /// The sources, without those behind one of libc's own that ends the search for a name it does not have. With an
  /// action that libc cannot read it asks nobody. What programs get of the hosts file then, only its answer tells.
  private static func sources(_ words: ArraySlice<String>) -> [String] {
    var found: [String] = []
    let known = ["success", "notfound", "unavail", "tryagain"].flatMap { ["\($0)=return", "\($0)=continue"] }
    for word in words {
      let action = ASCII.folded(word.drop { $0 == "[" }.prefix { $0 != "]" })
      let ends = action == "notfound=return" || action.hasPrefix("!") && action.hasSuffix("=return")
      if found.last == "files" || found.last == "dns", ends, action != "!notfound=return" { break }
      let isKnown = known.contains(String(action.drop { $0 == "!" }))
      if !word.contains(where: { "[]=".contains($0) }) { found.append(word) } else if !isKnown { return ["files"] }
    }
    return found
  }

  private static func words(_ line: Substring) -> [String] { line.split { $0 == " " || $0 == "\t" }.map(String.init) }

  private static func text(_ path: String) -> String { SystemFile.text(at: path, limit: 1 << 20) ?? "" }

  /// The addresses that the hosts file gives a name, if it is looked at.
  func hostsAddresses(of name: String) -> [IPAddress] { sources.contains("files") ? hosts.addresses(of: name) : [] }

  /// Whether programs look into the hosts file before they ask name servers.
  var asksHostsFirst: Bool { !(sources.prefix { $0 != "files" }.contains("dns")) }

  /// How many search domains are tried: older libraries know six names (MAXDNSRCH).
  private static let searchLimit = 5

  /// The names to ask for, in their order (resolv.conf(5), search and ndots).
  func candidates(for name: String) -> [String] {
    if name.last == "." { return [String(name.dropLast())] }
    let count = name.utf8.count { $0 == UInt8(ascii: ".") }
    let searched = searchDomains.filter { !$0.isEmpty }.prefix(Self.searchLimit).map { "\(name).\($0)" }
    return count >= dots ? [name] + searched : searched + [name]
  }

  /// Whether the system asks name servers at all, directly or by a daemon.
  var asksServers: Bool { sources.contains { !["files", "myhostname"].contains($0) } }
}
#endif
