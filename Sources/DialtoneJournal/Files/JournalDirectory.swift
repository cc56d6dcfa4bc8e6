// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneCommand
internal import CDialtoneSystem
package import Dialtone

/// Where a journal lies: a folder with files by day, such as `000012-2026-11-24.jsonl`.
///
/// The number tells their order, and the day which of them a reader can leave out. A clock that is wrong changes the
/// days alone.
package struct JournalDirectory: Sendable {
  package let path: String

  package init(_ path: String) { self.path = path }

  package struct File: Equatable, Sendable {
    package let number: Int
    /// Days since 1970, of the first event by the clock that wrote it.
    package let day: Int64
    package let name: String

    package init(number: Int, day: Int64) {
      self.number = number
      self.day = day
      name = "\(UTCTimestamp.padded(number, 6))-\(WallTime.dayText(day * WallTime.day)).jsonl"
    }

    /// `nil` if it has another name than ours.
    init?(name: String) {
      let parts = name.split(separator: "-", maxSplits: 1)
      guard parts.count == 2, parts[0].utf8.allSatisfy(ASCII.isDigit), let number = Int(parts[0]),
        number < 1 << 60, parts[1].hasSuffix(".jsonl"),
        let wall = WallTime.microseconds("\(parts[1].dropLast(".jsonl".count))T00:00:00Z")
      else { return nil }
      self.init(number: number, day: wall.floorDivided(by: WallTime.day))
      if self.name != name { return nil }
    }
  }

  package func path(of file: File) -> String { "\(path)/\(file.name)" }

  /// How many bytes a file has; none if it is gone.
  func size(of file: File) -> Int { Self.status(of: path(of: file)).map { Int($0.st_size) } ?? 0 }

  static func status(of path: String) -> stat? {
    var status = stat()
    // Fills one structure; the path is only read.
    return unsafe stat(path, &status) == 0 ? status : nil
  }

  /// The files, in their order.
  package func files() throws(SystemError) -> [File] {
    // The path is read during the call. opendir(3) returns a stream that closedir(3) ends.
    guard let stream = unsafe opendir(path) else { throw SystemError(path) }
    defer { _ = unsafe closedir(stream) }
    var files: [File] = []
    while let entry = unsafe readdir(stream) {
      // readdir(3): the name ends with a NUL, and stays until the next call.
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { unsafe String(cString: $0) }
      }
      if let file = File(name: name) { files.append(file) }
    }
    return files.sorted { $0.number < $1.number }
  }

  /// Makes the folder, and those above it that are missing.
  package func make() throws(SystemError) {
    var prefix = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
      prefix += "/\(part)"
      // The path is read during the call.
      if unsafe mkdir(prefix, 0o755) != 0, csystem_errno() != EEXIST { throw SystemError(prefix) }
    }
  }

  /// Takes the lock of a recorder, which goes with the descriptor: flock(2) of the folder itself, so that it also works
  /// if nothing can be written. `nil` if another recorder has it.
  package func lock() throws(SystemError) -> OwnedDescriptor? {
    // A reader who looks whether there is a recorder has it for a moment.
    for attempt in 0..<10 {
      let folder = try open()
      if command_lock(folder.rawValue, 0) == 0 { return folder }
      if csystem_errno() != EWOULDBLOCK { throw SystemError(path) }
      if attempt < 9 { usleep(20_000) }
    }
    return nil
  }

  /// Whether a recorder is at work.
  package func isBeingWritten() throws(SystemError) -> Bool {
    let folder = try open()
    return withExtendedLifetime(folder) { command_lock($0.rawValue, 1) != 0 && csystem_errno() == EWOULDBLOCK }
  }

  private func open() throws(SystemError) -> OwnedDescriptor {
    let descriptor = unsafe csystem_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)  // The path is only read.
    if descriptor < 0 { throw SystemError(path) }
    return OwnedDescriptor(descriptor)
  }
}

extension JournalDirectory {
  /// Where the system's recorder writes.
  package static let system = "/var/lib/dialtone"

  /// Where a recorder writes if nobody says otherwise: where systemd says (systemd.exec(5), StateDirectory=), or where
  /// the system's or the user's programs keep what they know (XDG Base Directory Specification).
  package static func usual(_ variable: (String) -> String?, isRoot: Bool) -> String? {
    if let given = variable("STATE_DIRECTORY")?.split(separator: ":").first { return String(given) }
    if isRoot, variable("XDG_STATE_HOME") == nil { return system }
    return user(variable)
  }

  /// The folders in which a reader looks, the first that is there counts.
  package static func candidates(_ variable: (String) -> String?, isRoot: Bool) -> [String] {
    var found: [String] = []
    for path in [usual(variable, isRoot: isRoot), user(variable), system] {
      if let path, !found.contains(path) { found.append(path) }
    }
    return found
  }

  private static func user(_ variable: (String) -> String?) -> String? {
    // A relative path is to be ignored, says the specification.
    if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return "\(state)/dialtone" }
    return variable("HOME").map { "\($0)/.local/state/dialtone" }
  }
}
