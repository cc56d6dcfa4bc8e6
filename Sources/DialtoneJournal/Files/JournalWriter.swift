// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneCommand
internal import CDialtoneSystem
package import Dialtone

/// Appends events to a journal, each with one write(2).
///
/// - What cannot be written waits, in its order, and is tried again with the next event. Nothing that was written is
///   touched, except a torn line at the end, which is taken back.
/// - A file begins each day, and when one is too long. Then the oldest go, until all are within the limit.
/// - A file is begun anew if somebody removes it, cuts it or moves it away, and its folder is made anew.
package struct JournalWriter: ~Copyable {
  private struct Line {
    let bytes: [UInt8]
    let wall: Int64
    /// Whether it is to be on the disk before anything else happens.
    let isDurable: Bool
    /// Whether a file can begin with it.
    var isHeader = false
  }

  private struct Identity: Equatable {
    let device: dev_t
    let inode: ino_t

    init(_ status: stat) { (device, inode) = (status.st_dev, status.st_ino) }

    init?(at path: String) {
      guard let status = JournalDirectory.status(of: path) else { return nil }
      self.init(status)
    }
  }

  /// As many lines wait at most; beyond, the oldest are lost.
  static let waitingLimit = 10_000

  private let directory: JournalDirectory
  private let sizeLimit: Int
  private var file: JournalDirectory.File?
  private var owner: OwnedDescriptor?
  /// The number of the owner's descriptor; negative if there is none.
  private var descriptor: CInt = -1
  private var size = 0
  private var isTorn = false
  private var isFolderGone = false
  /// The folder in which the file was opened.
  private var folder: Identity?
  /// What keeps other recorders out of the folder.
  private var lock: OwnedDescriptor?
  private var waiting: [Line] = []
  /// The failure that was told last.
  private var failure: String?
  package private(set) var counts = Counts()

  package struct Counts: Equatable, Sendable {
    package var written = 0
    package var failures = 0
    package var lost = 0
    package var waiting = 0
  }

  /// `sizeLimit` is how many bytes all files have at most, about; `lock` is what the folder has given.
  package init(_ directory: JournalDirectory, sizeLimit: Int, lock: consuming OwnedDescriptor? = nil) {
    self.directory = directory
    self.lock = lock
    self.sizeLimit = max(sizeLimit, 1 << 12)
  }

  /// Writes an event, or has it wait. Returns what is to be said about it; `nil` if all is as before.
  /// `header` makes the first event of a file that is begun, unless the event is one.
  package mutating func write(_ event: JournalEvent, header: () -> JournalEvent?) -> String? {
    let isDurable =
      switch event.kind {
      case .begin, .cause, .end, .start, .stop: true
      default: false
      }
    let isHeader = if case .start = event.kind { true } else { false }
    waiting.append(Line(bytes: event.line, wall: event.at.wall, isDurable: isDurable, isHeader: isHeader))
    if waiting.count > Self.waitingLimit {
      waiting.removeFirst()
      counts.lost += 1
    }
    return writeWaiting(header: header)
  }

  /// Tries again what waits.
  package mutating func writeWaiting(header: () -> JournalEvent?) -> String? {
    let count = waiting.count
    do throws(SystemError) {
      while let line = waiting.first {
        if try isOpened(for: line.wall), !line.isHeader, let header = header() {
          // It is for this file, also if it was made on a later day.
          waiting.insert(Line(bytes: header.line, wall: line.wall, isDurable: false, isHeader: true), at: 0)
          continue
        }
        try append(line)
        waiting.removeFirst()
        counts.written += 1
      }
    } catch {
      counts.failures += 1
      counts.waiting = waiting.count
      defer { failure = error.description }
      return failure == error.description ? nil : "\(error); what happens is kept, and written once that is possible"
    }
    counts.waiting = 0
    defer { failure = nil }
    let lost = counts.lost > 0 ? "; \(counts.lost) \(counts.lost == 1 ? "was" : "were") lost" : ""
    return failure == nil ? nil : "\(directory.path): written again, with \(count) that had waited\(lost)"
  }

  /// Has a file open for that time. Returns whether it is a new one.
  private mutating func isOpened(for wall: Int64) throws(SystemError) -> Bool {
    let day = wall.floorDivided(by: WallTime.day)
    // An eighth, so that what goes with the oldest file is no large part.
    if let file, file.day == day, size < sizeLimit / 8, isStillThere() { return false }
    let files = try files()
    let newest = files.last
    if file == nil, let newest, newest.day == day {
      try open(newest)
      return false
    }
    // A number that is missing tells readers that a file is.
    let next = JournalDirectory.File(number: max(newest?.number ?? 0, file?.number ?? 0) + 1, day: day)
    try open(next)
    prune(files + [next])
    return true
  }

  /// The files. If the folder in which it has written is gone, that is a failure, which is said; then it is made anew.
  private mutating func files() throws(SystemError) -> [JournalDirectory.File] {
    do throws(SystemError) {
      if !isFolderGone {
        let files = try directory.files()
        // Another one may be in its place, which nobody has locked.
        if folder == nil || folder == Identity(at: directory.path) { return files }
      }
    } catch {
      isFolderGone = error.errno == ENOENT && file != nil
      throw error
    }
    try directory.make()
    // The lock of a folder that is gone keeps nobody out. If it is back, that lock is in the way.
    lock = nil
    lock = try directory.lock()
    if lock == nil { throw SystemError(directory.path, errno: EBUSY) }
    isFolderGone = false
    return try directory.files()
  }

  private mutating func open(_ file: JournalDirectory.File) throws(SystemError) {
    let path = directory.path(of: file)
    let number = unsafe command_open_to_append(path)  // The path is only read.
    if number < 0 { throw SystemError(path) }
    owner = OwnedDescriptor(number)
    descriptor = number
    self.file = file
    size = status().map { Int($0.st_size) } ?? 0
    folder = Identity(at: directory.path)
    isTorn = size > 0 && !endsWithLine(path)
  }

  private func endsWithLine(_ path: String) -> Bool {
    let number = unsafe csystem_open(path, O_RDONLY | O_CLOEXEC)  // The path is only read.
    if number < 0 { return false }
    return withExtendedLifetime(OwnedDescriptor(number)) {
      var last: UInt8 = 0
      // Writes one byte.
      return unsafe pread(number, &last, MemoryLayout<UInt8>.size, off_t(size - 1)) == 1 && last == 0x0A
    }
  }

  /// Whether nobody has removed the file or a part of it, or moved it or its folder away.
  private func isStillThere() -> Bool {
    guard let file, let status = status(), status.st_nlink > 0, status.st_size >= size else { return false }
    if let there = Identity(at: directory.path(of: file)) { return there == Identity(status) }
    // Who may not look there any more may still write.
    return csystem_errno() != ENOENT && csystem_errno() != ENOTDIR
  }

  private func status() -> stat? {
    if descriptor < 0 { return nil }
    var status = stat()
    // Fills one structure.
    return unsafe fstat(descriptor, &status) == 0 ? status : nil
  }

  private mutating func append(_ line: borrowing Line) throws(SystemError) {
    guard let file else { throw SystemError(directory.path, errno: EBADF) }
    // A line that somebody else has torn stays, and is counted among those that cannot be read.
    let bytes = isTorn ? [0x0A] + line.bytes : line.bytes
    var written = 0
    while written < bytes.count {
      // Reads as many bytes as there are. What has room is written at once; if it is a part, the rest says why.
      let count = unsafe bytes[written...].withUnsafeBytes {
        unsafe CDialtoneSystem.write(descriptor, $0.baseAddress, $0.count)
      }
      if count >= 0 {
        written += count
        continue
      }
      let error = SystemError(directory.path(of: file))
      if error.errno == EINTR { continue }
      if written > 0 { isTorn = ftruncate(descriptor, off_t(size)) != 0 || isTorn }
      throw error
    }
    size += written
    isTorn = false
    // What the disk says is said with the next event at the latest.
    if line.isDurable { _ = fdatasync(descriptor) }
  }

  /// Removes the oldest files beyond the limit, never the last.
  private func prune(_ files: [JournalDirectory.File]) {
    let sizes = files.map(directory.size)
    // The file that begins has room, too.
    var total = sizes.reduce(sizeLimit / 8, +)
    for (file, size) in zip(files, sizes).dropLast() where total > sizeLimit {
      // The path is only read. What cannot be removed is tried again with the next file.
      if unsafe unlink(directory.path(of: file)) == 0 { total -= size }
    }
  }
}
