// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneCommand
internal import CDialtoneSystem
internal import Dialtone
internal import DialtoneSites

/// What a system that has nothing left ran out of, and what to do about it.
enum Shortage {
  /// As many descriptors as the library needs at least: sockets of netlink, and what wakes its threads.
  private static let needed = 8
  /// As many threads as the library needs at least.
  private static let neededThreads = 3
  private static let noMoreThreads =
    "the system lets the user start no more threads; raise its limit (ulimit -u, ulimit -v)"

  /// What the system has run out of; `nil` if nothing. If the state of the network was refused for lack of it, it was
  /// not denied.
  ///
  /// It looks once a second at most: a state in words asks for it, and there may be many of them.
  static func now() -> String? {
    last.withLock { last in
      if let last, last.time.duration(to: .now) < .seconds(1) { return last.words }
      let words = look()
      last = (.now, words)
      return words
    }
  }

  private static let last = Lock<(time: ContinuousClock.Instant, words: String?)?>(nil)

  static func look() -> String? {
    descriptors(needed).flatMap(remedy) ?? (Thread.areAvailable(neededThreads) ? nil : noMoreThreads)
  }

  /// As many descriptors as a diagnosis or an exporter has at the same time, at least: with fewer, who cannot be asked
  /// would seem silent, and swift-nio ends a process that gets none for an event loop.
  private static let neededForMany = 64

  /// - Throws: If there is no room for what has many descriptors at the same time.
  static func proveManyDescriptors() throws(SystemError) {
    if let error = descriptors(neededForMany) { throw error }
  }

  /// What fails for want of `count` more descriptors at once; `nil` if nothing. Each is a socket of its own: a copy
  /// would share its mark with the first one, which would take it for another's, and not close it.
  static func descriptors(_ count: Int) -> SystemError? {
    if count == 0 { return nil }
    let socket = csystem_socket(NETLINK_ROUTE)
    let error = SystemError("socket")
    if socket < 0 { return remedy(for: error) == nil ? nil : error }
    return withExtendedLifetime(OwnedDescriptor(socket)) { descriptors(count - 1) }
  }

  /// Before the first task of a command: if the system is short of threads or descriptors, Swift would wait for ever,
  /// and libdispatch looks in /proc/THREAD/stat what its threads do, and ends the process if it cannot. The executables
  /// of Scripts/package have an empty file there: `__wrap_open`.
  static func proveTasks(of command: String) throws(SystemError) {
    do throws(SiteError) { try SiteResources.prove() } catch { throw SystemError(command, errno: error.errno) }
    if SystemFile.text(at: "/proc/\(getpid())/stat") == nil { throw SystemError("/proc/self/stat", errno: ENOENT) }
    try proveAddressSpace()
  }

  /// For threads that are proved one at a time, and what all of them hold: Swift ends a process that gets no memory.
  static func proveAddressSpace() throws(SystemError) {
    if command_has_address_space(128 << 20) == 0 { throw SystemError("mmap") }
  }

  /// What helps if a call failed for lack of something; `nil` if it failed otherwise.
  static func remedy(for error: SystemError) -> String? {
    switch error.errno {
    case EMFILE: "the process has no file descriptor left; raise its limit (ulimit -n)"
    case ENFILE: "the system has no open file left; close some, or raise fs.file-max (sysctl)"
    // pthread_create(3), fork(2).
    case EAGAIN: noMoreThreads
    case ENOMEM, ENOBUFS: "the system has no memory left"
    default: nil
    }
  }
}
