// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
package import Dialtone

/// Reads a journal line by line. However long it is, it takes the memory of one chunk and one line.
package struct JournalReader {
  /// No line of ours is longer.
  private static let lineLimit = 1 << 20
  private static let chunk = 1 << 18

  package let directory: JournalDirectory
  /// Lines that are torn, too long, or not ours.
  package private(set) var skippedLines = 0
  /// The names of the files that were left out, since they cannot be read, or are no regular files.
  package private(set) var skippedFiles: [String] = []

  private let onSkip: (_ isFile: Bool) -> Void

  /// `onSkip` is called for each line that is skipped, and before a file if the one before it is missing or empty, or
  /// cannot be read.
  package init(_ directory: JournalDirectory, onSkip: @escaping (_ isFile: Bool) -> Void = { _ in }) {
    self.directory = directory
    self.onSkip = onSkip
  }

  /// Gives the events since then by the wall clock, and some before, in their order; `nil` for all. What the file
  /// before says may still hold, however old it is. `progress` is called with the bytes read so far, and those to be
  /// read.
  ///
  /// - Throws: If there are files, and none can be read.
  package mutating func read(
    since: Int64? = nil, progress: (Int, Int) -> Void = { _, _ in },
    _ take: (JournalEvent) -> Void
  ) throws(SystemError) {
    let first = since?.floorDivided(by: WallTime.day) ?? .min
    let all = try directory.files()
    let files = all.dropFirst(max(0, (all.firstIndex { $0.day >= first } ?? all.count) - 1))
    let sizes = files.map(directory.size)
    let total = sizes.reduce(0, +)
    var done = 0
    var (failure, next): (SystemError?, Int?)
    for (file, size) in zip(files, sizes) {
      if file.number != next { onSkip(true) }
      next = nil
      do throws(SystemError) {
        try read(file, progress: { progress(done + $0, total) }, take)
        if size > 0 { next = file.number + 1 }
      } catch {
        skippedFiles.append(file.name)
        failure = error
      }
      done += size
    }
    if let failure, skippedFiles.count == files.count { throw failure }
  }

  /// Gives the events of one file. A device may have no end: only regular files are read.
  package mutating func read(
    _ file: JournalDirectory.File, progress: (Int) -> Void = { _ in }, _ take: (JournalEvent) -> Void
  ) throws(SystemError) {
    let path = directory.path(of: file)
    do throws(SystemFile.Failure) {
      try readLines(of: SystemFile.open(path), progress, take)
    } catch .refused(let error) {
      // The oldest may have gone meanwhile.
      if error.errno != ENOENT { throw SystemError(path, errno: error.errno) }
    } catch {
      throw SystemError(path, errno: EINVAL)
    }
  }

  private mutating func readLines(
    of file: borrowing OwnedDescriptor, _ progress: (Int) -> Void, _ take: (JournalEvent) -> Void
  ) throws(SystemFile.Failure) {
    var buffer: [UInt8] = []
    var done = 0
    while case let chunk = try SystemFile.read(file.rawValue, atMost: Self.chunk), !chunk.isEmpty {
      done += chunk.count
      buffer += chunk
      var start = 0
      while let end = buffer[start...].firstIndex(of: 0x0A) {
        self.take(buffer[start..<end], take)
        start = end + 1
      }
      if buffer.count - start > Self.lineLimit {
        skip()
        start = buffer.count
      }
      buffer.removeSubrange(..<start)
      progress(done)
    }
    self.take(buffer[...], take)
  }

  private mutating func take(_ line: ArraySlice<UInt8>, _ take: (JournalEvent) -> Void) {
    if line.isEmpty { return }
    if let event = JournalEvent(line: line) { take(event) } else { skip() }
  }

  private mutating func skip() {
    skippedLines += 1
    onSkip(false)
  }
}
