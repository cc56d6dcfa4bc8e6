// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Netlink

/// The configuration of name resolution as it was last read: which name servers there are, and that something changed.
///
/// Its files may lie where nothing answers, such as on a network file system. So a thread of its own watches and reads
/// them, which exists only meanwhile; nobody waits for it under the engine's lock. Invariant: there is one such thread
/// at a time, and it alone uses the watcher.
final class NameConfiguration: Sendable {
  enum News: Sendable {
    /// The files were read for the first time.
    case known
    case changed
  }

  private struct State {
    var isWanted = false
    /// Whether there is something to look at that was not begun yet.
    var isDue = false
    var isReading = false
    var servers: [IPAddress]?
    var canBeWatched = true
    var news: News?
  }

  private let root: String
  private let readServers: @Sendable () -> [IPAddress]
  private let state = Lock(State())
  private let watcher: Lock<NameConfigurationWatcher>

  /// Becomes readable when a file may have changed: `eventsAreReady` is to be called. `nil` where the process may have
  /// no more of its kind.
  let watched: CInt?
  /// Becomes readable when there is something for `takeNews`. `nil` where there is no descriptor left: then `want` and
  /// the others read themselves.
  var finished: CInt? { finishedOwner.rawValue < 0 ? nil : finishedOwner.rawValue }
  private let finishedOwner: OwnedDescriptor
  /// What the watched one was: somebody else may have closed it.
  private let watchedIdentity: FileIdentity?

  /// - Parameters:
  ///   - root: What stands before `/etc`.
  ///   - readServers: Reads the name servers, for as long as it takes.
  init(root: String, readServers: @escaping @Sendable () -> [IPAddress]) {
    self.root = root
    self.readServers = readServers
    let watcher = NameConfigurationWatcher(root: root)
    watched = watcher.descriptor
    watchedIdentity = watcher.descriptor.flatMap { FileIdentity($0) }
    self.watcher = Lock(watcher)
    finishedOwner = OwnedDescriptor(eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK)))
  }

  private var isWatchedOpen: Bool { watchedIdentity != nil && watched.flatMap { FileIdentity($0) } == watchedIdentity }
  /// The thread that reads holds this object, so that it writes to no descriptor that is closed with it.
  private var isFinishedOpen: Bool { finishedOwner.isOurs }

  /// Another one in its place, if this one lacks a descriptor and the system has one by now.
  func replacement() -> NameConfiguration? {
    if isWatchedOpen && isFinishedOpen { return nil }
    let new = NameConfiguration(root: root, readServers: readServers)
    guard new.isWatchedOpen, new.isFinishedOpen else { return nil }
    new.want(state.withLock { $0.isWanted })
    return new
  }

  /// The name servers; `nil` while they are wanted and have not been read yet.
  var servers: [IPAddress]? {
    let (isWanted, servers) = state.withLock { ($0.isWanted, $0.servers) }
    return servers ?? (isWanted ? nil : readServers())
  }

  /// Whether changes are wanted that nobody announces.
  var hasToBePolled: Bool {
    let (isWanted, canBeWatched) = state.withLock { ($0.isWanted, $0.canBeWatched) }
    return isWanted && (!canBeWatched || !isWatchedOpen || !isFinishedOpen)
  }

  /// Whether changes are to be noticed.
  func want(_ isWanted: Bool) {
    let isNew = state.withLock { state in
      defer { state.isWanted = isWanted }
      return state.isWanted != isWanted
    }
    if isNew { look(byThread: isWanted) }
  }

  /// Looks whether anything changed, if there is an event that says so.
  func eventsAreReady() {
    if let watched, isWatchedOpen, NameConfigurationWatcher.forgetEvents(watched) { look() }
  }

  /// Looks whether anything changed that was not announced.
  func poll() { look() }

  /// What was found since the last call.
  func takeNews() -> News? {
    state.withLock { state in
      defer { state.news = nil }
      return state.news
    }
  }

  private func look(byThread: Bool = true) {
    let isReading = state.withLock { state in
      state.isDue = true
      defer { state.isReading = true }
      return state.isReading
    }
    // The thread that reads goes on.
    if isReading { return }
    if byThread, isFinishedOpen, Thread.start(named: "dialtone-files", { self.read() }) { return }
    // No thread, or nobody could be told by it. Or there is nothing to read.
    read()
  }

  private func read() {
    while true {
      let isWanted = state.withLock { state -> Bool? in
        state.isReading = state.isDue
        state.isDue = false
        return state.isReading ? state.isWanted : nil
      }
      guard let isWanted else { return }
      let (hasChanged, canBeWatched) = watcher.withLock { watcher in
        let hasChanged = isWanted && !watcher.start() && watcher.hasChanged()
        if !isWanted { watcher.stop() }
        return (hasChanged, !watcher.hasToBePolled)
      }
      let servers = isWanted ? readServers() : nil
      let hasNews = state.withLock { state in
        let isFirst = state.servers == nil
        state.servers = servers
        state.canBeWatched = canBeWatched
        if !isWanted {
          state.news = nil
        } else if hasChanged {
          state.news = .changed
        } else if isFirst {
          state.news = .known
        }
        return state.news != nil
      }
      // Each write is an event of its own, read or not.
      if hasNews, let finished, isFinishedOpen { _ = eventfd_write(finished, 1) }
    }
  }
}

/// The name servers that getaddrinfo(3) asks, by resolv.conf(5).
package enum NameServers {
  /// As many as libc takes (MAXNS, resolv.h).
  private static let limit = 3

  /// The servers of `/etc/resolv.conf` below `root`; the one on this machine where it names none, or is not there. The
  /// unspecified address is this machine's too: packets to it go there.
  package static func configured(root: String = "") -> [IPAddress] {
    parse(SystemFile.text(at: root + "/etc/resolv.conf") ?? "")
  }

  package static func parse(_ text: String) -> [IPAddress] {
    var servers: [IPAddress] = []
    for line in text.split(whereSeparator: \.isNewline) {
      // The keyword begins the line (resolv.conf(5)).
      guard line.hasPrefix("nameserver"), servers.count < limit else { continue }
      let words = line.split { $0 == " " || $0 == "\t" }
      guard words.first == "nameserver", words.count > 1, let address = IPAddress(words[1])?.unmapped else { continue }
      servers.append(address.isUnspecified ? loopback(address.family) : address)
    }
    return servers.isEmpty ? [loopback(.ipv4)] : servers
  }

  private static func loopback(_ family: IPAddress.Family) -> IPAddress {
    switch family {
    case .ipv4: IPAddress(ipv4: 0x7F00_0001)
    case .ipv6: IPAddress(IPAddressBits(ipv6High: 0, low: 1))
    }
  }
}
#endif
