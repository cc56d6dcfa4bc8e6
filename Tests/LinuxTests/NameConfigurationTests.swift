// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import NetworkLab
import TestSupport
import Testing

/// Scenario 46 of Scenarios.md: the files that configure name resolution, in a folder of the test's own.
@Suite(.timeLimit(.minutes(5)))
struct NameConfigurationTests {
  /// A watcher that watches. By default a user has 128 instances of inotify (inotify(7), max_user_instances), and each
  /// engine in another test takes one.
  private func watch(_ root: ConfigurationRoot) async throws -> NameConfigurationWatcher {
    var watcher = NameConfigurationWatcher(root: root.path)
    try await eventually(within: .patience, "there is an instance of inotify") {
      if watcher.descriptor == nil { watcher = NameConfigurationWatcher(root: root.path) }
      return watcher.descriptor != nil
    }
    watcher.start()
    return watcher
  }

  /// Returns how many changes inotify reports now: 0 or 1.
  private func changes(of watcher: NameConfigurationWatcher) throws -> Int {
    var count = 0
    while try isReadable(watcher) { count += watcher.hasChanged() ? 1 : 0 }
    return count
  }

  /// Returns whether inotify has an event: it is there when the system call that causes it returns (inotify(7)).
  private func isReadable(_ watcher: NameConfigurationWatcher) throws -> Bool {
    let poll = epoll_create1(0)
    defer { _ = close(poll) }
    var event = unsafe epoll_event()
    unsafe event.events = EPOLLIN.rawValue
    // The kernel copies the event during the call, and writes at most one into the other.
    try #require(unsafe epoll_ctl(poll, EPOLL_CTL_ADD, try #require(watcher.descriptor), &event) == 0)
    var found = unsafe epoll_event()
    return unsafe epoll_wait(poll, &found, 1, 0) == 1
  }

  @Test("46: a file is renamed over: one event")
  func renamedOver() async throws {
    let root = try ConfigurationRoot()
    try root.write("etc/resolv.conf", "nameserver 192.0.2.1\n")
    let watcher = try await watch(root)
    try root.write("etc/new", "nameserver 192.0.2.2\n")
    try root.move("etc/new", to: "etc/resolv.conf")
    #expect(try changes(of: watcher) == 1)
    #expect(try changes(of: watcher) == 0)
  }

  @Test("46: a symbolic link retargeted: one event")
  func linkRetargeted() async throws {
    let root = try ConfigurationRoot()
    try root.write("run/stub", "nameserver 127.0.0.53\n")
    try root.write("run/other", "nameserver 192.0.2.2\n")
    try root.link("etc/resolv.conf", to: "../run/stub")
    let watcher = try await watch(root)
    try root.link("etc/new", to: "../run/other")
    try root.move("etc/new", to: "etc/resolv.conf")
    #expect(try changes(of: watcher) == 1)
    // The new target of the link is watched.
    try root.write("run/other", "nameserver 192.0.2.3\n")
    #expect(try changes(of: watcher) == 1)
    // The former target does not count any more.
    try root.write("run/stub", "nameserver 127.0.0.54\n")
    #expect(try changes(of: watcher) == 0)
  }

  @Test("46: a chain of symbolic links: each of them, and the file at its end", arguments: 1...4)
  func chainOfLinks(length: Int) async throws {
    let root = try ConfigurationRoot()
    try root.write("run/file", "nameserver 127.0.0.53\n")
    try root.write("run/other", "nameserver 192.0.2.9\n")
    // etc/resolv.conf -> ../run/link1 -> link2 -> … -> file
    for number in 1...length { try root.link("run/link\(number)", to: number == length ? "file" : "link\(number + 1)") }
    try root.link("etc/resolv.conf", to: "../run/link1")
    let watcher = try await watch(root)
    try root.write("run/file", "nameserver 192.0.2.1\n")
    #expect(try changes(of: watcher) == 1)
    for number in 1...length {
      try root.link("run/new", to: "other")
      try root.move("run/new", to: "run/link\(number)")
      #expect(try changes(of: watcher) == 1, "link \(number)")
      // As it was.
      try root.link("run/new", to: number == length ? "file" : "link\(number + 1)")
      try root.move("run/new", to: "run/link\(number)")
      #expect(try changes(of: watcher) == 1, "link \(number)")
    }
    #expect(try changes(of: watcher) == 0)
  }

  @Test("46: a symbolic link becomes a file: one event")
  func linkBecomesFile() async throws {
    let root = try ConfigurationRoot()
    try root.write("run/stub", "nameserver 127.0.0.53\n")
    try root.link("etc/resolv.conf", to: "\(root.path)/run/stub")
    let watcher = try await watch(root)
    try root.write("etc/new", "nameserver 192.0.2.2\n")
    try root.move("etc/new", to: "etc/resolv.conf")
    #expect(try changes(of: watcher) == 1)
  }

  @Test("46: a file is written again with the same text: no event", arguments: [true, false])
  func writtenIdentically(byRenaming: Bool) async throws {
    let root = try ConfigurationRoot()
    try root.write("etc/resolv.conf", "nameserver 192.0.2.1\n")
    let watcher = try await watch(root)
    try root.write(byRenaming ? "etc/new" : "etc/resolv.conf", "nameserver 192.0.2.1\n")
    if byRenaming { try root.move("etc/new", to: "etc/resolv.conf") }
    #expect(try changes(of: watcher) == 0)
    try root.write("etc/resolv.conf", "nameserver 192.0.2.2\n")
    #expect(try changes(of: watcher) == 1)
  }

  @Test(
    "46: resolv.conf and its companions come, go and come back: one event each",
    arguments: ["resolv.conf", "nsswitch.conf", "hosts"])
  func comesAndGoes(name: String) async throws {
    let root = try ConfigurationRoot()
    let watcher = try await watch(root)
    for text in ["one\n", "two\n"] {
      try root.write("etc/\(name)", text)
      #expect(try changes(of: watcher) == 1)
      try root.delete("etc/\(name)")
      #expect(try changes(of: watcher) == 1)
    }
    watcher.stop()
    try root.write("etc/\(name)", "three\n")
    #expect(try changes(of: watcher) == 0)
  }

  @Test("46: a link to a file that does not exist yet: one event when it comes")
  func linkToNothing() async throws {
    let root = try ConfigurationRoot()
    try root.link("etc/resolv.conf", to: "../run/stub")
    let watcher = try await watch(root)
    try root.write("run/new", "nameserver 192.0.2.1\n")
    #expect(try changes(of: watcher) == 0)
    try root.move("run/new", to: "run/stub")
    #expect(try changes(of: watcher) == 1)
  }

  @Test("folders that a link leads into may come, go and come back, as at boot")
  func aLinkIntoMissingFoldersIsFollowed() async throws {
    let root = try ConfigurationRoot()
    try root.link("etc/resolv.conf", to: "../run/systemd/resolve/stub")
    let watcher = try await watch(root)
    for text in ["nameserver 127.0.0.53\n", "nameserver 127.0.0.54\n"] {
      try root.makeFolder("run/systemd")
      #expect(try changes(of: watcher) == 0)
      try root.makeFolder("run/systemd/resolve")
      #expect(try changes(of: watcher) == 0)
      try root.write("run/systemd/resolve/stub", text)
      #expect(try changes(of: watcher) == 1)
      // The files that exist are watched, not the folders above them.
      try root.write("run/other", "of no interest\n")
      #expect(try !isReadable(watcher))
      try root.delete("run/systemd/resolve/stub")
      try root.deleteFolder("run/systemd/resolve")
      try root.deleteFolder("run/systemd")
      #expect(try changes(of: watcher) == 1)
    }
  }

  @Test("folders that come all at once, between two looks, are followed")
  func foldersThatComeAtOnceAreFollowed() async throws {
    let root = try ConfigurationRoot()
    try root.link("etc/resolv.conf", to: "../run/systemd/../systemd/./resolve/stub")
    let watcher = try await watch(root)
    try root.makeFolder("run/systemd")
    try root.makeFolder("run/systemd/resolve")
    try root.write("run/systemd/resolve/stub", "nameserver 127.0.0.53\n")
    #expect(try changes(of: watcher) == 1)
    try root.write("run/systemd/resolve/stub", "nameserver 127.0.0.54\n")
    #expect(try changes(of: watcher) == 1)
  }

  @Test(
    "links that lead in a circle, or through a file, are nothing to wait for", arguments: ["resolv.conf", "hosts/x"])
  func aCircleOfLinksIsNotWatched(target: String) async throws {
    let root = try ConfigurationRoot()
    try root.write("etc/hosts", "127.0.0.1 localhost\n")
    try root.link("etc/resolv.conf", to: target)
    let watcher = try await watch(root)
    try root.write("etc/new", "nameserver 127.0.0.53\n")
    try root.move("etc/new", to: "etc/resolv.conf")
    #expect(try changes(of: watcher) == 1)
  }

  @Test(
    "what never ends is not read: a device in place of the file counts as none", arguments: ["/dev/zero", "/dev/tty"])
  func aDeviceIsNotRead(path: String) async throws {
    let root = try ConfigurationRoot()
    try root.link("etc/resolv.conf", to: path)
    let watcher = try await watch(root)
    #expect(NameServers.configured(root: root.path) == [try address("127.0.0.1")])
    try root.write("etc/new", "nameserver 192.0.2.1\n")
    try root.move("etc/new", to: "etc/resolv.conf")
    #expect(try changes(of: watcher) == 1)
    #expect(NameServers.configured(root: root.path) == [try address("192.0.2.1")])
  }

  @Test("a change at the end of a long file is noticed, though only its beginning is read")
  func aChangeAtTheEndOfALongFileIsNoticed() async throws {
    let root = try ConfigurationRoot()
    let text = String(repeating: "0.0.0.0 ads.example\n", count: 50_000)
    try root.write("etc/hosts", text + "192.0.2.1 a.example\n")
    let watcher = try await watch(root)
    // What tells the two apart is the time of the change, which some kernels take from a clock of a few milliseconds.
    let before = try root.modificationTime(of: "etc/hosts")
    try await eventually(within: .patience, "a file that is written now has another time") {
      try root.write("run/other", "")
      return try root.modificationTime(of: "run/other") != before
    }
    try root.write("etc/hosts", text + "192.0.2.2 a.example\n")
    #expect(try changes(of: watcher) == 1)
    #expect(try changes(of: watcher) == 0)
  }
}
#endif
