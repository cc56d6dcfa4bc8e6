// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem

/// The configuration of name resolution as it was last read: the name servers, and whether something changed.
///
/// Its files may be on a network file system that does not answer. So a thread of its own watches and reads them. It
/// exists only meanwhile, and nobody waits for it under the engine's lock. Invariant: there is one such thread at a
/// time, and it alone uses the watcher.
final class NameConfiguration: Sendable {
  enum News: Sendable {
    /// The files were read for the first time.
    case known
    case changed
  }

  private struct State {
    var isWanted = false
    /// Whether there is something to look at that no thread has begun yet.
    var isDue = false
    var isReading = false
    var servers: [IPAddress]?
    var canBeWatched = true
    var news: News?
  }

  private let root: String
  private let readServers: @Sendable () -> [IPAddress]
  private let hasNews: @Sendable () -> Void
  private let state = Lock(State())
  private let watcher: Lock<NameConfigurationWatcher>

  /// Becomes readable when a file may have changed; then call `eventsAreReady`. `nil` if the process may have no more
  /// descriptors of its kind.
  let watched: CInt?
  /// Becomes readable when there is something for `takeNews`. `nil` if there is no descriptor left; then `want` and the
  /// others read the files themselves.
  var finished: CInt? { finishedOwner.rawValue < 0 ? nil : finishedOwner.rawValue }
  private let finishedOwner: OwnedDescriptor
  /// The identity of the watched descriptor, since somebody else may close it.
  private let watchedIdentity: FileIdentity?

  /// - Parameters:
  ///   - root: The folder that contains `etc`.
  ///   - readServers: Reads the name servers; may take any time.
  ///   - hasNews: Called when there is something for `takeNews`, for who does not await `finished`.
  init(
    root: String, readServers: @escaping @Sendable () -> [IPAddress], hasNews: @escaping @Sendable () -> Void = {}
  ) {
    self.root = root
    self.readServers = readServers
    self.hasNews = hasNews
    let watcher = NameConfigurationWatcher(root: root)
    watched = watcher.descriptor
    watchedIdentity = watcher.descriptor.flatMap { FileIdentity($0) }
    self.watcher = Lock(watcher)
    finishedOwner = OwnedDescriptor(eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK)))
  }

  /// ``watched`` and ``finished``, unless somebody else has closed them: their numbers may be other files' by now.
  var awaited: (watched: CInt?, finished: CInt?) {
    (isWatchedOpen ? watched : nil, isFinishedOpen ? finished : nil)
  }

  private var isWatchedOpen: Bool { watchedIdentity != nil && watched.flatMap { FileIdentity($0) } == watchedIdentity }
  /// The reading thread holds this object, so the descriptor is not closed while that thread writes to it.
  private var isFinishedOpen: Bool { finishedOwner.isOurs }

  /// Returns another one in its place, if this one lacks a descriptor and the system has one by now.
  func replacement() -> NameConfiguration? {
    if isWatchedOpen && isFinishedOpen { return nil }
    let new = NameConfiguration(root: root, readServers: readServers, hasNews: hasNews)
    guard new.isWatchedOpen, new.isFinishedOpen else { return nil }
    new.want(state.withLock { $0.isWanted })
    return new
  }

  /// The name servers; `nil` while they are wanted and have not been read yet.
  var servers: [IPAddress]? {
    let (isWanted, servers) = state.withLock { ($0.isWanted, $0.servers) }
    return servers ?? (isWanted ? nil : readServers())
  }

  /// Whether changes are wanted, and not all of them are announced.
  var hasToBePolled: Bool {
    let (isWanted, canBeWatched) = state.withLock { ($0.isWanted, $0.canBeWatched) }
    return isWanted && (!canBeWatched || !isWatchedOpen || !isFinishedOpen)
  }

  /// Says whether changes are to be noticed.
  func want(_ isWanted: Bool) {
    let isNew = state.withLock { state in
      defer { state.isWanted = isWanted }
      return state.isWanted != isWanted
    }
    if isNew { look(byThread: isWanted) }
  }

  /// Looks for changes, if an event says that there may be some.
  func eventsAreReady() {
    if let watched, isWatchedOpen, NameConfigurationWatcher.forgetEvents(watched) { look() }
  }

  /// Returns what was found since the last call.
  func takeNews() -> News? {
    state.withLock { state in
      defer { state.news = nil }
      return state.news
    }
  }

  /// Looks for changes, whether they were announced or not.
  func look(byThread: Bool = true) {
    let isReading = state.withLock { state in
      state.isDue = true
      defer { state.isReading = true }
      return state.isReading
    }
    // The reading thread goes on with it.
    if isReading { return }
    if byThread, isFinishedOpen, Thread.start(named: "dialtone-files", { self.read() }) { return }
    // There is no thread, or it could not announce the end. Or there is nothing to read.
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
      let (hasChanged, canBeWatched, servers) = ForkGate.atRest {
        let (hasChanged, canBeWatched) = watcher.withLock { watcher in
          let hasChanged = isWanted && !watcher.start() && watcher.hasChanged()
          if !isWanted { watcher.stop() }
          return (hasChanged, !watcher.hasToBePolled)
        }
        return (hasChanged, canBeWatched, isWanted ? readServers() : nil)
      }
      let isNew = state.withLock { state in
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
      // Each write is an event of its own, even if the one before was not read.
      if isNew, let finished, isFinishedOpen { _ = eventfd_write(finished, 1) }
      if isNew { hasNews() }
    }
  }
}

/// The name servers that getaddrinfo(3) asks, by resolv.conf(5).
package enum NameServers {
  /// How many libc takes (MAXNS, resolv.h).
  private static let limit = 3

  /// Returns the servers of `/etc/resolv.conf` below `root`. If it names none, or does not exist, this is the one on
  /// this machine. The unspecified address is this machine's, too: packets to it go there.
  static func configured(root: String = "") -> [IPAddress] {
    parse(SystemFile.text(at: root + "/etc/resolv.conf") ?? "")
  }

  package static func parse(_ text: String) -> [IPAddress] {
    var servers: [IPAddress] = []
    // A line ends with LF alone: CR is a part of the address, which libc then cannot read.
    for line in text.unicodeScalars.split(separator: "\n").map(Substring.init) {
      // The keyword begins the line (resolv.conf(5)).
      guard line.hasPrefix("nameserver"), servers.count < limit else { continue }
      let words = line.split { $0 == " " || $0 == "\t" }
      guard words.first == "nameserver", words.count > 1, let address = IPAddress.inAnyForm(words[1])?.unmapped
      else { continue }
      servers.append(address.isUnspecified ? loopback(address.family) : address)
    }
    return servers.isEmpty ? [loopback(.ipv4)] : servers
  }

  private static func loopback(_ family: IPAddress.Family) -> IPAddress {
    family == .ipv4 ? IPAddress(ipv4: 0x7F00_0001) : IPAddress(IPAddressBits(ipv6High: 0, low: 1))
  }
}
#endif
