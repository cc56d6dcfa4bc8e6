// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CNetlink
internal import Netlink

/// Notices that the configuration of name resolution has changed: resolv.conf(5), nsswitch.conf(5), hosts(5).
///
/// What counts is their text, however it came to change: written in place, renamed over, a symbolic link (of systemd-resolved or
/// resolvconf) that points elsewhere or has become a file. Written again with the same text is no change. inotify(7) says when
/// to look.
package final class NameConfigurationWatcher {
  private static let names = ["resolv.conf", "nsswitch.conf", "hosts"]
  /// Symbolic links that are followed one after another; the kernel gives up at 40 (path_resolution(7)).
  private static let linkLimit = 40
  private static let events =
    UInt32(IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)
    | UInt32(IN_DELETE_SELF | IN_MOVE_SELF)

  /// `nil` where the process may have no more of its kind (inotify(7), max_user_instances); then somebody has to look from time
  /// to time.
  package let descriptor: CInt?
  /// Of the file that the descriptor stands for, until somebody else closes it.
  private let identity: FileIdentity?
  private let folder: String
  private var isWatching = false
  private var watches: Set<CInt> = []
  /// What stands for the texts.
  private var texts: [[UInt64]?] = []

  /// - Parameter root: What stands before `/etc`.
  package init(root: String = "") {
    folder = root + "/etc"
    let descriptor = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
    self.descriptor = descriptor < 0 ? nil : descriptor
    identity = FileIdentity(descriptor)
  }

  deinit { if let descriptor, isOpen { _ = close(descriptor) } }

  private var isOpen: Bool { identity != nil && descriptor.flatMap { FileIdentity($0) } == identity }

  package func start() {
    if isWatching { return }
    isWatching = true
    watch()
    texts = read()
  }

  package func stop() {
    isWatching = false
    if let descriptor {
      for watch in watches { _ = inotify_rm_watch(descriptor, watch) }
    }
    watches = []
  }

  /// Whether changes are to be noticed, and inotify says nothing of them.
  package var hasToBePolled: Bool { isWatching && !isOpen }

  /// Whether any of the texts is another than at the last call.
  package func hasChanged() -> Bool {
    forgetEvents()
    if !isWatching { return false }
    // First the watches, then the texts: a change in between is seen with the next event.
    watch()
    let new = read()
    defer { texts = new }
    return new != texts
  }

  private func read() -> [[UInt64]?] { Self.names.map { SystemFile.fingerprint(of: "\(folder)/\($0)") } }

  private func forgetEvents() {
    guard let descriptor, isOpen else { return }
    while true {
      let events = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
        // read(2) writes at most as many bytes as it is told there is room for, and answers how many.
        count = unsafe max(0, CNetlink.read(descriptor, buffer.baseAddress, buffer.count))
      }
      if events.isEmpty { return }
    }
  }

  /// Watches the folder, every folder that a symbolic link of the files leads through, and the files themselves, which may
  /// be mounts of their own.
  private func watch() {
    guard let descriptor else { return }
    var new: Set<CInt> = []
    func add(_ path: String) {
      // The path becomes a C string for the call.
      let watch = unsafe inotify_add_watch(descriptor, path, Self.events)
      // A path that does not exist (yet) is watched by its folder.
      if watch >= 0 { new.insert(watch) }
    }
    add(folder)
    for name in Self.names {
      var path = "\(folder)/\(name)"
      for _ in 0..<Self.linkLimit {
        add(Self.parent(of: path))
        guard let target = Self.linkTarget(of: path) else { break }
        path = target.hasPrefix("/") ? target : "\(Self.parent(of: path))/\(target)"
      }
      add(path)
    }
    for old in watches.subtracting(new) { _ = inotify_rm_watch(descriptor, old) }
    watches = new
  }

  private static func parent(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }

  private static func linkTarget(of path: String) -> String? {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    // readlink(2) writes at most as many bytes as it is told there is room for, without a terminating zero.
    let count = unsafe readlink(path, &target, target.count)
    return count <= 0 ? nil : String(decoding: target[..<count].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
#endif
