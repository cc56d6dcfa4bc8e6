// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import TestSupport
import Testing

@testable import Dialtone

/// Files up to their limits, errors in words, waiters and threads.
struct SystemTests {
  // MARK: ASCII

  @Test(arguments: [
    ("http", true), ("h2+x-y.z", true), ("A", true), ("a1", true), ("", false), ("1a", false), ("+a", false),
    (".a", false), ("a_b", false), ("a b", false), ("a:", false), ("a/", false), ("ä", false), ("a,", false),
  ])
  func aSchemeIsALetterAndWhatMayFollowIt(text: String, expected: Bool) {
    #expect(ASCII.isScheme(text.utf8) == expected)
  }

  @Test(arguments: [
    ("", "", true), ("a", "A", true), ("Host", "hOST", true), ("a", "b", false), ("a", "ab", false), ("ab", "a", false),
    ("[", "{", false), ("@", "`", false), ("Ä", "ä", false), ("k", "\u{212A}", false), ("a", "", false),
  ])
  func textsAreTheSameButForTheCaseOfLetters(one: String, other: String, areSame: Bool) {
    #expect(ASCII.areSame(one, other) == areSame)
    #expect((ASCII.folded(one) == ASCII.folded(other)) == areSame)
  }

  @Test func onlyLettersOfASCIIAreFolded() {
    #expect(ASCII.folded("ABC xyz ÄÖ [\\]^_") == "abc xyz ÄÖ [\\]^_" && ASCII.folded("plain") == "plain")
  }

  // MARK: Time

  @Test(arguments: [
    (Int64(1), Int64(2), Int64(3)), (.max, 0, .max), (.max, 1, .max), (.min, 0, .min), (.min, -1, .min),
    (.max, .min, -1),
  ])
  func aSumIsTheNearestNumber(a: Int64, b: Int64, sum: Int64) { #expect(a.addingClamped(b) == sum) }

  @Test(arguments: [
    (Int64(3), Int64(4), Int64(12)), (.max, 2, .max), (.max, -2, .min), (.min, 2, .min), (.min, -2, .max), (0, .max, 0),
    (.max, 1, .max), (2, .min, .min), (-2, .min, .max),
  ])
  func aProductIsTheNearestNumber(a: Int64, b: Int64, product: Int64) { #expect(a.multipliedClamped(by: b) == product) }

  @Test func theClocksOfTheSystemAreReadInNanoseconds() {
    // CLOCK_REALTIME, which clock_gettime(2) is asked for here, too.
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    let before = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    let now = TimeSource.system.realtime()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    #expect(now >= before && now <= Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    let first = TimeSource.system.now()
    #expect(TimeSource.system.now() >= first && first > 0 && TimeSource.system.passes)
    // The system cannot have been suspended for longer than it is up.
    #expect(TimeSource.suspended() < TimeSource.system.now())
  }

  @Test func aLockThatIsHeldIsNotAvailable() {
    let lock = Lock(1)
    let isAvailable = lock.withLock { _ in lock.withLockIfAvailable { _ in true } ?? false }
    #expect(!isAvailable)
    let next = lock.withLockIfAvailable { value in
      value += 1
      return value
    }
    #expect(next == 2 && lock.withLock { $0 } == 2, "it was given back")
  }

  // MARK: Waiters

  @Test func aWaiterThatWasWokenDoesNotWait() {
    let waiter = SemaphoreWaiter(TimeSource(passes: false) { 0 })
    #expect(waiter.wake() && waiter.wake())
    #expect(waiter.wait())
    // An earlier deadline wakes a thread, which learns of it by that.
    waiter.setDeadline(10)
    #expect(waiter.wait())
    waiter.setDeadline(9)
    #expect(waiter.wait())
  }

  @Test(arguments: [Int64(5), 6, .max])
  func aDeadlineThatHasComeEndsAWait(now: Int64) {
    let waiter = SemaphoreWaiter(TimeSource(passes: true) { now })
    waiter.setDeadline(5)
    // One wait ends by the deadline, and one by the signal that a thread has to learn of it.
    #expect(waiter.wait() && waiter.wait())
  }

  // MARK: Lookups

  /// Numbers are not looked up anywhere (getaddrinfo(3)).
  @Test(arguments: [
    ("192.0.2.1", nil, NameLookupResult.addresses([ip("192.0.2.1")])),
    ("192.0.2.1", IPAddress.Family.ipv4, .addresses([ip("192.0.2.1")])), ("192.0.2.1", .ipv6, .noAddress),
    ("2001:db8::1", nil, .addresses([ip("2001:db8::1")])), ("2001:db8::1", .ipv6, .addresses([ip("2001:db8::1")])),
    ("2001:db8::1", .ipv4, .noAddress),
  ])
  func theSystemReadsNumbersByItself(name: String, family: IPAddress.Family?, result: NameLookupResult) {
    #expect(systemNameLookup(name, family) == result)
  }

  // MARK: Errors

  @Test func anErrorSaysWhatFailedAndWhy() {
    #expect(SystemError("connect", errno: ECONNREFUSED).description == "connect: Connection refused")
    #expect(SystemError("open", errno: ENOENT).errno == ENOENT && SystemError("open", errno: ENOENT).call == "open")
    #expect(SystemError.text(of: EACCES) == "Permission denied")
  }

  @Test func anEnvironmentVariableThatIsNotSetOrEmptyIsNone() {
    #expect(EnvironmentVariable["DIALTONE_NO_SUCH_VARIABLE"] == nil)
    #expect(EnvironmentVariable["PATH"]?.contains("/") == true)
  }

  #if os(Linux)
  // MARK: Files

  /// A file of these bytes, as long as `body` runs.
  private func withFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/file"
    let descriptor = unsafe creat(path, 0o600)
    try #require(descriptor >= 0)
    defer {
      close(descriptor)
      _ = unsafe unlink(path)
      withExtendedLifetime(folder) {}
    }
    let written = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    try #require(written == bytes.count)
    try body(path)
  }

  private func length(_ path: String, limit: Int) -> Int? {
    do throws(SystemFile.Failure) {
      return try SystemFile.bytes(at: path, limit: limit).count
    } catch {
      guard case .tooLong = error else { return nil }
      return -1
    }
  }

  @Test(arguments: [0, 1, 16_383, 16_384, 16_385, 40_000])
  func aFileIsReadUpToTheLimitAndNotBeyond(count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 % 251) }
    try withFile(bytes) { path in
      let read = try SystemFile.bytes(at: path, limit: count)
      #expect(read == bytes)
      #expect(length(path, limit: count + 1) == count)
      if count > 0 { #expect(length(path, limit: count - 1) == -1) }
    }
  }

  /// More than any file of sysfs has: 64 KiB.
  @Test(arguments: [(65_535, 65_535), (65_536, 65_536), (65_537, 65_536), (200_000, 65_536)])
  func ofALongFileTheBeginningIsRead(count: Int, read: Int) throws {
    try withFile(Array(repeating: UInt8(ascii: "x"), count: count)) { path in
      #expect(SystemFile.text(at: path)?.utf8.count == read)
      #expect(SystemFile.exists(path))
    }
    #expect(SystemFile.text(at: "/nowhere") == nil && !SystemFile.exists("/nowhere"))
  }

  /// The 64-bit values of FNV-1a for these texts, from the tests of its authors (draft-eastlake-fnv).
  @Test(arguments: [
    ("", UInt64(0xCBF2_9CE4_8422_2325)), ("a", 0xAF63_DC4C_8601_EC8C), ("foobar", 0x8594_4171_F739_67E8),
  ])
  func aFingerprintIsAHashAndALength(text: String, hash: UInt64) throws {
    try withFile(Array(text.utf8)) { path in
      #expect(SystemFile.fingerprint(of: path) == [hash, UInt64(text.utf8.count)])
    }
    #expect(SystemFile.fingerprint(of: "/nowhere") == nil)
  }

  /// From 256 KiB on, the time and the identity count as well.
  @Test(arguments: [(262_143, 2), (262_144, 6), (300_000, 6)])
  func ofALongFileTheTimeCountsToo(count: Int, numbers: Int) throws {
    try withFile(Array(repeating: 7, count: count)) { path in
      let fingerprint = try #require(SystemFile.fingerprint(of: path))
      #expect(fingerprint.count == numbers && fingerprint[1] == UInt64(count))
    }
  }

  /// The handlers of the program run on its own threads. Signals that a fault of the thread raises are not blocked:
  /// the program would end without its crash handler.
  @Test func aThreadBlocksAllSignalsExceptThoseOfItsFaults() async {
    let faults = [SIGILL, SIGTRAP, SIGFPE, SIGBUS, SIGSEGV, SIGSYS, SIGABRT]
    let blocked: Set<CInt> = await withCheckedContinuation { continuation in
      let isStarted = Thread.start(named: "signals") { continuation.resume(returning: Self.blockedSignals()) }
      if !isStarted { continuation.resume(returning: []) }
    }
    #expect(blocked.isSuperset(of: [SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGCHLD, SIGPIPE]))
    #expect(blocked.isDisjoint(with: faults))
  }

  @Test func startingAThreadLeavesTheSignalsOfTheCaller() {
    let before = Self.blockedSignals()
    #expect(Thread.start(named: "nothing", stackSize: 1 << 18) {})
    #expect(Self.blockedSignals() == before)
    // Less than a thread needs (PTHREAD_STACK_MIN).
    #expect(!Thread.start(named: "nothing", stackSize: 1) {})
  }

  private static func blockedSignals() -> Set<CInt> {
    var set = sigset_t()
    // The call fills the set, which sigismember(3) only reads.
    unsafe pthread_sigmask(SIG_BLOCK, nil, &set)
    return Set((1...31).filter { unsafe sigismember(&set, $0) == 1 })
  }

  @Test func threadsThatAreThereAreCounted() {
    for count in 0...2 { #expect(Thread.areAvailable(count)) }
  }
  #endif
}
