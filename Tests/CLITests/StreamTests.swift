// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Dialtone
import Foundation
import TestSupport
import Testing

@testable import DialtoneCLI

/// What is written, kept until it can be, and run.
struct StreamTests {
  private func stream(_ pipe: Pipe) -> StandardStream {
    StandardStream(descriptor: pipe.fileHandleForWriting.fileDescriptor)
  }

  // MARK: Streams

  @Test func writesAllOfIt() throws {
    let pipe = Pipe()
    try stream(pipe).write("one\n")
    try stream(pipe).write("")
    stream(pipe).writeIgnoringErrors("two é\n")
    try pipe.fileHandleForWriting.close()
    #expect(try pipe.fileHandleForReading.readToEnd() == Data("one\ntwo é\n".utf8))
  }

  /// A pipe is no terminal, and has no columns: 80 are assumed.
  @Test func knowsATerminal() {
    let pipe = Pipe()
    #expect(!stream(pipe).isTerminal && stream(pipe).columns == 80)
    withExtendedLifetime(pipe) {}
  }

  @Test func saysWhatCannotBeWritten() throws {
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let stream = StandardStream(descriptor: full.fileDescriptor)
    do throws(SystemError) {
      try stream.write("a")
      Issue.record("/dev/full takes nothing (full(4))")
    } catch {
      #expect(error.errno == ENOSPC && error.call == "standard output")
    }
    stream.writeIgnoringErrors("a")
    withExtendedLifetime(full) {}
  }

  /// A pipe that can be written to takes 4,096 bytes at once (pipe(7), PIPE_BUF); no more is offered.
  @Test(arguments: [0, 1, 4095, 4096, 4097, 9000])
  func offersWhatAPipeTakes(count: Int) throws {
    let pipe = Pipe()
    stream(pipe).offer(String(repeating: "a", count: count))
    try pipe.fileHandleForWriting.close()
    let taken = try pipe.fileHandleForReading.readToEnd() ?? Data()
    #expect(taken.count == min(count, 4096))
  }

  /// A full pipe takes nothing, and nobody waits.
  @Test func offersNothingToAFullPipe() async throws {
    let pipe = Pipe()
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    let flags = fcntl(descriptor, F_GETFL)
    #expect(fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0)
    let zeros = [UInt8](repeating: 0, count: 4096)
    var count = 0
    // Reads as many bytes as it is told, which the array has.
    while unsafe CDialtoneSystem.write(descriptor, zeros, zeros.count) > 0 { count += zeros.count }
    #expect(fcntl(descriptor, F_SETFL, flags) == 0)
    let isDone = Box(false)
    Foundation.Thread.detachNewThread {
      StandardStream(descriptor: descriptor).offer("a")
      isDone.value = true
    }
    try await eventually("it has returned") { isDone.value }
    try pipe.fileHandleForWriting.close()
    #expect(try pipe.fileHandleForReading.readToEnd()?.count == count)
  }

  /// Somebody else has made it non-blocking: the rest is written once there is room.
  @Test func waitsForRoomInANonBlockingPipe() async throws {
    let pipe = Pipe()
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    #expect(fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0)
    let text = (0..<60_000).map { "\($0)\n" }.joined()
    let read: Data? = try await withCheckedThrowingContinuation { continuation in
      Foundation.Thread.detachNewThread {
        continuation.resume(with: Result { try pipe.fileHandleForReading.readToEnd() })
      }
      Foundation.Thread.detachNewThread {
        StandardStream(descriptor: descriptor).writeIgnoringErrors(text)
        pipe.fileHandleForWriting.closeFile()
      }
    }
    #expect(read == Data(text.utf8))
  }

  // MARK: Lines that wait

  private func all(_ queue: inout LineQueue) -> [String] {
    var lines: [String] = []
    while let line = queue.next() { lines.append(line) }
    return lines
  }

  /// 1,024 lines are kept, no matter which targets they are about. Beyond, the newest of a target makes room for its
  /// next one.
  @Test func keepsAThousandLines() {
    var queue = LineQueue()
    for number in 1...1024 { queue.append("\(number)", of: 0) }
    #expect(all(&queue) == (1...1024).map { "\($0)" })
    // The gaps are closed on the way.
    for number in 1...5000 { queue.append("\(number)", of: 0) }
    #expect(all(&queue) == (1...1023).map { "\($0)" } + ["5000"])
    // A target whose newest line was taken, or that has none, loses none.
    for number in 1...1024 { queue.append("\(number)", of: number) }
    #expect(queue.next() == "1")
    queue.append("a", of: 2000)
    queue.append("b", of: 1)
    queue.append("c", of: 3)
    #expect(all(&queue) == ["2"] + (4...1024).map { "\($0)" } + ["a", "b", "c"])
  }

  @Test func knowsWhetherAnythingIsLeft() {
    var queue = LineQueue()
    queue.append("a", of: 0)
    queue.append("b", of: 0)
    #expect(!queue.isEmpty)
    #expect(queue.next() == "a" && !queue.isEmpty)
    #expect(queue.next() == "b" && queue.isEmpty)
    #expect(queue.next() == nil && queue.isEmpty)
  }

  // MARK: Programs

  /// A regular file that can be executed, by its path or in PATH.
  @Test(arguments: [
    ("/bin/sh", true), ("sh", true), ("/bin", false), ("/etc/passwd", false), ("/nonexistent/sh", false),
    ("no-such-program-anywhere", false), ("passwd/", false), ("./no-such-program", false),
  ])
  func findsPrograms(program: String, exists: Bool) {
    #expect(Hook(program: program, arguments: [], timeout: .seconds(1)).exists == exists)
  }
}
