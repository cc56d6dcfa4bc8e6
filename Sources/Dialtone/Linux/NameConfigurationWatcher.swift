// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem

/// Notices that the configuration of name resolution has changed: resolv.conf(5), nsswitch.conf(5), hosts(5).
///
/// What counts is their text, however it changed: the file was written in place or renamed over. Or a symbolic link (of
/// systemd-resolved or resolvconf) points elsewhere, has become a file, or leads to a file that did not exist before.
/// If a file is written again with the same text, that is no change, unless the text is long. inotify(7) says when to
/// look.
final class NameConfigurationWatcher {
  private static let names = ["resolv.conf", "nsswitch.conf", "hosts"]
  /// How many symbolic links are followed one after another; the kernel gives up at 40 (path_resolution(7)).
  private static let linkLimit = 40
  private static let events =
    UInt32(IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)
    | UInt32(IN_DELETE_SELF | IN_MOVE_SELF)

  /// `nil` if the process may have no more of its kind (inotify(7), max_user_instances). Then the files have to be
  /// polled.
  var descriptor: CInt? { owner.rawValue < 0 ? nil : owner.rawValue }
  private let owner: OwnedDescriptor
  private let folder: String
  private var isWatching = false
  private var watches: Set<CInt> = []
  private var isIncomplete = false
  private var texts: [[UInt64]?] = []

  /// - Parameter root: The folder that contains `etc`.
  init(root: String = "") {
    folder = root + "/etc"
    owner = OwnedDescriptor(inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC)))
  }

  /// Begins to watch. Returns whether it had not begun before.
  @discardableResult
  func start() -> Bool {
    if isWatching { return false }
    isWatching = true
    watch()
    texts = read()
    return true
  }

  func stop() {
    isWatching = false
    if let descriptor, owner.isOurs {
      for watch in watches { _ = inotify_rm_watch(descriptor, watch) }
    }
    watches = []
    isIncomplete = false
  }

  /// Whether changes are to be noticed, and inotify does not announce all of them.
  var hasToBePolled: Bool { isWatching && (!owner.isOurs || isIncomplete) }

  /// Returns whether any of the texts differs from the last call.
  func hasChanged() -> Bool {
    forgetEvents()
    if !isWatching { return false }
    // The watches come first, then the texts: a change in between is seen with the next event.
    watch()
    let new = read()
    defer { texts = new }
    return new != texts
  }

  private func read() -> [[UInt64]?] { Self.names.map { SystemFile.fingerprint(of: "\(folder)/\($0)") } }

  private func forgetEvents() {
    if let descriptor, owner.isOurs { _ = Self.forgetEvents(descriptor) }
  }

  /// Reads what waits on a descriptor of inotify(7). Returns whether there was anything.
  static func forgetEvents(_ descriptor: CInt) -> Bool {
    var hadEvents = false
    while true {
      let events = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
        // read(2) writes at most as many bytes as it is told there is room for, and returns how many.
        count = unsafe max(0, CDialtoneSystem.read(descriptor, buffer.baseAddress, buffer.count))
      }
      if events.isEmpty { return hadEvents }
      hadEvents = true
    }
  }

  /// Watches all that decides to which files the names lead.
  private func watch() {
    guard let descriptor, owner.isOurs else { return }
    var walk = Walk(descriptor: descriptor, events: Self.events)
    for name in Self.names { walk.follow("\(folder)/\(name)") }
    for old in watches.subtracting(walk.watches) { _ = inotify_rm_watch(descriptor, old) }
    watches = walk.watches
    isIncomplete = walk.isIncomplete
  }

  /// Follows paths as the kernel resolves them (path_resolution(7)), component by component, and has changes on the way
  /// announced.
  ///
  /// It watches the folder of each symbolic link, and a file and its folder. If something is missing, it watches the
  /// nearest folder that exists, such as `/run` while `/run/systemd/resolve` does not exist yet. Other folders on the
  /// way are not watched, since some, such as `/run`, change all the time. If one of them is renamed, or something is
  /// mounted over it, that is not noticed.
  private struct Walk {
    let descriptor: CInt
    let events: UInt32
    var watches: Set<CInt> = []
    /// Whether something could not be watched or looked at, for lack of rights or of watches (inotify(7),
    /// max_user_watches).
    var isIncomplete = false

    private enum Entry {
      case link(String), other, missing
    }

    mutating func follow(_ path: String) {
      // A folder may vanish while the next one is looked for. If that does not end, the path stays incomplete.
      for _ in 0..<8 where tryToFollow(path) { return }
      isIncomplete = true
    }

    /// Returns `false` if a folder has vanished meanwhile.
    private mutating func tryToFollow(_ path: String) -> Bool {
      var folder = path.hasPrefix("/") ? "" : "."
      // In reverse order: the next component is the last element.
      var components = Array(path.split(separator: "/").reversed())
      var linkCount = 0
      var isFolderWatched = false
      while let component = components.popLast() {
        if component == "." { continue }
        if component == ".." {
          folder = parent(of: folder)
          isFolderWatched = false
          continue
        }
        let next = "\(folder)/\(component)"
        let isLast = components.isEmpty
        let entry = entry(next)
        if !isFolderWatched {
          switch entry {
          case .other where !isLast: break
          case .link, .missing, .other:
            // Watch first, then look again, so that a change in between is seen.
            guard add(folder.isEmpty ? "/" : folder) else { return false }
            isFolderWatched = true
            components.append(component)
            continue
          }
        }
        switch entry {
        case .missing: return true
        case .other:
          // A file may be a mount of its own, whose folder tells nothing of it.
          if isLast { return add(next) }
          folder = next
        case .link(let target):
          linkCount += 1
          if linkCount > NameConfigurationWatcher.linkLimit { return true }
          if target.hasPrefix("/") { folder = "" }
          components += target.split(separator: "/").reversed()
        }
        isFolderWatched = false
      }
      return true
    }

    /// Watches a path. Returns whether it exists.
    private mutating func add(_ path: String) -> Bool {
      // The path becomes a C string for the call.
      let watch = unsafe inotify_add_watch(descriptor, path, events)
      if watch >= 0 {
        watches.insert(watch)
        return true
      }
      let error = csystem_errno()
      if error == ENOENT || error == ENOTDIR { return false }
      isIncomplete = true
      return true
    }

    private mutating func entry(_ path: String) -> Entry {
      var target = [CChar](repeating: 0, count: Int(PATH_MAX))
      // readlink(2) writes at most as many bytes as it is told there is room for, without a terminating zero.
      let count = unsafe readlink(path, &target, target.count)
      if count > 0 {
        return .link(String(decoding: target[..<count].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self))
      }
      switch csystem_errno() {
      case EINVAL: return .other  // not a symbolic link
      case ENOENT, ENOTDIR: return .missing
      default:
        isIncomplete = true
        return .missing
      }
    }

    private func parent(of folder: String) -> String {
      folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? "\(folder)/.."
    }
  }
}
#endif
