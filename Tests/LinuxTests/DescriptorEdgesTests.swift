// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import TestSupport
import Testing

/// Descriptors at the edges: nothing that waits, timers, numbers that are others' by now, and what cannot be watched.
@Suite(.timeLimit(.minutes(5)))
struct DescriptorEdgesTests {
  // MARK: What waits

  /// epoll_wait(2): how many events there are. Each is told once, since all are edge-triggered.
  @Test(.disabled(if: isSanitized, "a sanitizer has descriptors of its own")) func aNewPollHasNothingThatWaits() async {
    await #expect(processExitsWith: .success) {
      // Others' polls come before.
      try await openRuntimeDescriptors()
      let others = EventPoll.pollDescriptors(upTo: 255)
      let poll = try EventPoll()
      let own = EventPoll.pollDescriptors(upTo: 255).subtracting(others)
      let number = try #require(own.count == 1 ? own.first : nil)
      func count(within milliseconds: CInt = 0) -> CInt {
        var events = unsafe [epoll_event](repeating: epoll_event(), count: 8)
        // The call writes at most as many as there are.
        return unsafe epoll_wait(number, &events, 8, milliseconds)
      }
      #expect(count() == 0)
      for _ in 1...2 {
        #expect(poll.wake() && count() == 1 && count() == 0)
        poll.setDeadline(1)
        #expect(count(within: 60_000) == 1 && count() == 0)
      }
      // Somebody closes it (EBADF): from then on nothing is told, and the others are left alone.
      _ = close(number)
      #expect(!poll.wait() && !poll.wait() && !poll.wake())
    }
  }

  /// timerfd_gettime(2): a timer that is disarmed has no time left. Setting the clock ends only one that is armed.
  @Test func theWallClockIsWatchedAtOnceAndAfterEachLook() throws {
    let suspended = Box<Int64>(0)
    let detector = try #require(SuspensionDetector { suspended.value })
    func isArmed() -> Bool {
      var value = itimerspec()
      // The call writes into the structure.
      return unsafe timerfd_gettime(detector.descriptor, &value) == 0 && value.it_value.tv_sec > 0
    }
    #expect(isArmed())
    var never = itimerspec()
    try #require(unsafe timerfd_settime(detector.descriptor, 0, &never, nil) == 0)
    #expect(!isArmed() && !detector.hasResumed() && isArmed() && detector.isOpen)
    // Somebody closes it, and the number is another file's.
    let stranger = try Stranger(detector.descriptor)
    suspended.value = 3_600_000_000_000
    #expect(!detector.isOpen && !detector.hasResumed() && stranger.isUntouched())
  }

  // MARK: The configuration of names

  /// A counter of somebody else's, with the number of a descriptor that he has closed (eventfd(2)).
  private struct Stranger {
    private let number: CInt

    init(_ number: CInt) throws {
      let file = eventfd(7, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
      try #require(file >= 0 && dup2(file, number) == number)
      _ = close(file)
      self.number = number
    }

    /// Whether it was neither read nor written nor closed. It stays open: a thread may use the number once more.
    func isUntouched() -> Bool {
      var value: eventfd_t = 0
      // The call writes the one number.
      return unsafe eventfd_read(number, &value) == 0 && value == 7
    }
  }

  /// By default a user has 128 instances of inotify (inotify(7), max_user_instances), of which other tests take some.
  private func withInotify<Value>(_ make: () -> Value?) async throws -> Value {
    var value: Value?
    try await eventually("there is an instance of inotify") {
      value = make()
      return value != nil
    }
    return try #require(value)
  }

  @Test("files are read without a descriptor that somebody has closed, and it is replaced", arguments: [true, false])
  func aDescriptorOfTheConfigurationIsReplaced(isWatched: Bool) async throws {
    let root = try ConfigurationRoot()
    try root.write("etc/resolv.conf", "nameserver 192.0.2.1\n")
    let (path, told) = (root.path, Box<[String]>([]))
    let names = try await withInotify {
      let new = NameConfiguration(root: path) {
        let servers = NameServers.configured(root: path)
        told.update { $0.append(servers.map(\.description).joined()) }
        return servers
      }
      return new.watched == nil ? nil : new
    }
    func isTold(_ last: Int, _ names: NameConfiguration) -> Bool {
      told.value.last == "192.0.2.\(last)" && names.takeNews() != nil
    }
    names.want(true)
    try await eventually("they are read") { isTold(1, names) }
    #expect(!names.hasToBePolled && names.replacement() == nil)
    let stranger = try Stranger(try #require(isWatched ? names.watched : names.finished))
    let awaited = names.awaited
    #expect(names.hasToBePolled && (awaited.watched == nil) == isWatched && (awaited.finished == nil) == !isWatched)
    try root.write("etc/new", "nameserver 192.0.2.2\n")
    try root.move("etc/new", to: "etc/resolv.conf")
    if isWatched { names.eventsAreReady() }
    #expect(told.value == ["192.0.2.1"], "nobody has looked")
    names.look()
    try await eventually("the change is read") { isTold(2, names) }
    let replacement = try await withInotify { names.replacement() }
    try await eventually("it reads by itself") { replacement.takeNews() != nil }
    #expect(!replacement.hasToBePolled && replacement.awaited.watched != nil && replacement.awaited.finished != nil)
    for configuration in [names, replacement] { configuration.want(false) }
    #expect(!names.hasToBePolled && stranger.isUntouched())
  }

  /// Watches what these links lead to; `run/` and `last/` are folders.
  private func watch(
    _ links: [(String, String)], _ body: (NameConfigurationWatcher, FileTree) throws -> Void
  ) async throws {
    let files = try FileTree(folders: ["etc", "run", "last"], files: [("last/end", "nameserver 192.0.2.1\n")])
    for (name, target) in links { try #require(unsafe symlink(target, "\(files.path)/\(name)") == 0) }
    defer { for name in links.map(\.0) { _ = unsafe unlink("\(files.path)/\(name)") } }
    let watcher = try await withInotify {
      let new = NameConfigurationWatcher(root: files.path)
      return new.descriptor == nil ? nil : new
    }
    #expect(watcher.start() && !watcher.start() && !watcher.hasChanged())
    try body(watcher, files)
    watcher.stop()
    #expect(!watcher.hasToBePolled && !watcher.hasChanged())
  }

  /// Watches are numbered from 1 in each instance (inotify_add_watch(2)): to end one's own by a number that is somebody
  /// else's by now would end his. In a process of its own: no other test opens or closes descriptors meanwhile.
  @Test func aStrangersWatchesStay() async {
    await #expect(processExitsWith: .success) {
      try await DescriptorEdgesTests().watch([("etc/resolv.conf", "../last/end")]) { watcher, files in
        let number = try #require(watcher.descriptor)
        let stranger = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
        try #require(stranger >= 0 && dup2(stranger, number) == number)
        defer { for descriptor in [stranger, number] { _ = close(descriptor) } }
        try #require(unsafe inotify_add_watch(stranger, "\(files.path)/last", UInt32(IN_CLOSE_WRITE)) == 1)
        #expect(!watcher.hasChanged())
        watcher.stop()
        try files.write("last/end", "nameserver 192.0.2.2\n")
        #expect(NameConfigurationWatcher.forgetEvents(stranger))
      }
    }
  }

  /// path_resolution(7): the kernel follows 40 symbolic links. Only the last one leads into the folder of the file.
  @Test func asManyLinksAreFollowedAsTheKernelFollows() async throws {
    let targets = ["../run/1"] + (2...39).map { "\($0)" } + ["../last/end"]
    try await watch(Array(zip(["etc/resolv.conf"] + (1...39).map { "run/\($0)" }, targets))) { watcher, files in
      let descriptor = try #require(watcher.descriptor)
      #expect(!watcher.hasToBePolled && !NameConfigurationWatcher.forgetEvents(descriptor))
      try files.write("last/end", "nameserver 192.0.2.2\n")
      #expect(NameConfigurationWatcher.forgetEvents(descriptor) && !NameConfigurationWatcher.forgetEvents(descriptor))
      #expect(watcher.hasChanged() && !watcher.hasChanged())
    }
  }

  /// path_resolution(7): a name has 255 bytes at most (ENAMETOOLONG), so what is there cannot be told.
  @Test func whatCannotBeLookedAtIsPolledUntilTheLinkLeadsElsewhere() async throws {
    let long = "../run/" + String(repeating: "x", count: 256)
    try await watch([("etc/resolv.conf", long), ("etc/a", long), ("etc/b", "../last/end")]) { watcher, files in
      func move(_ name: String) throws {
        try #require(unsafe rename("\(files.path)/etc/\(name)", "\(files.path)/etc/resolv.conf") == 0)
      }
      #expect(watcher.hasToBePolled && !watcher.hasChanged())
      try move("b")
      #expect(watcher.hasChanged() && !watcher.hasToBePolled)
      try move("a")
      #expect(watcher.hasChanged() && watcher.hasToBePolled)
    }
  }
}
#endif
