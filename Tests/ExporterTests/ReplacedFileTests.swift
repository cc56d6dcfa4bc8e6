// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneExporter
import Foundation
import TestSupport
import Testing

/// A file that takes the place of another: what is in it, its mode, and what is no file.
struct ReplacedFileTests {
  private let folder = try? TemporaryFolder()

  private func path(_ name: String) throws -> String { try #require(folder).path + "/" + name }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test(arguments: ["", "x", "é", "two", String(repeating: "line\n", count: 50_000)])
  func writesATextOfAnyLength(_ text: String) throws {
    let path = try path("a")
    defer { Program.removeItem(URL(fileURLWithPath: path)) }
    for _ in 0..<2 {
      try ReplacedFile.write(text, to: path)
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(text.utf8))
    }
  }

  /// A new file is for everybody to read, or as it is said; a former one stays as it was.
  @Test(arguments: [0o600, 0o644, 0o711, 0o755, 0o444])
  func keepsTheMode(_ mode: Int) throws {
    let (new, former) = (try path("new"), try path("former"))
    defer { for path in [new, former] { Program.removeItem(URL(fileURLWithPath: path)) } }
    try ReplacedFile.write("x", to: new, newMode: UInt32(mode))
    #expect(try self.mode(new) == mode)
    try ReplacedFile.write("x", to: former)
    #expect(try self.mode(former) == 0o644)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: former)
    try ReplacedFile.write("y", to: former, newMode: 0o640)
    #expect(try self.mode(former) == mode && Data(contentsOf: URL(fileURLWithPath: former)) == Data("y".utf8))
  }

  /// A link leads to the new file, which stands where the former one stood; nothing else is left.
  @Test func aLinkStays() throws {
    let (link, file) = (try path("link"), try path("file"))
    defer { for path in [link, file] { Program.removeItem(URL(fileURLWithPath: path)) } }
    try "former".write(toFile: file, atomically: false, encoding: .utf8)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "file")
    try ReplacedFile.write("new", to: link)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "file")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "new")
    let names = try FileManager.default.contentsOfDirectory(atPath: try #require(folder).path)
    #expect(names.sorted() == ["file", "link"])
  }

  /// NAME_MAX (limits.h).
  @Test func aNameMayBeAsLongAsAnyFiles() throws {
    let long = try path(String(repeating: "n", count: 255))
    defer { Program.removeItem(URL(fileURLWithPath: long)) }
    for text in ["new", "newer"] {
      try ReplacedFile.write(text, to: long)
      #expect(try String(contentsOfFile: long, encoding: .utf8) == text)
    }
  }

  /// What is no file is written to, and stays what it is: here a pipe with a name (fifo(7)).
  @Test func aPipeIsWrittenTo() throws {
    let path = try path("pipe")
    try #require(unsafe mkfifo(path, 0o600) == 0)
    defer { Program.removeItem(URL(fileURLWithPath: path)) }
    let reader = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    try #require(reader >= 0)
    defer { close(reader) }
    try ReplacedFile.write("text", to: path)
    var bytes = [UInt8](repeating: 0, count: 16)
    // It writes as many bytes as it is told at most.
    #expect(unsafe read(reader, &bytes, bytes.count) == 4)
    #expect(bytes.prefix(4).elementsEqual("text".utf8))
    let type = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    #expect(type != .typeRegular)
  }

  /// proc_pid_fd(5), fd(4): what somebody has opened for this process is written to, as by echo(1), even if it has no
  /// name any more.
  @Test func aDescriptorIsWrittenTo() throws {
    let (path, link) = (try path("opened"), try path("link"))
    defer { for path in [path, link] { Program.removeItem(URL(fileURLWithPath: path)) } }
    let file = unsafe open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    try #require(file >= 0)
    defer { close(file) }
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/proc/self/fd/\(file)")
    let places = ["/dev/fd/\(file)", "/proc/\(getpid())/fd/\(file)", link]
    for place in places { try ReplacedFile.write("a", to: place) }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("aaa".utf8))
    try FileManager.default.removeItem(atPath: path)
    for place in places { try ReplacedFile.write("b", to: place) }
    var bytes = [UInt8](repeating: 0, count: 16)
    // It writes as many bytes as it is told at most.
    #expect(unsafe pread(file, &bytes, bytes.count, 0) == 6 && bytes.prefix(6).elementsEqual("aaabbb".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: try #require(folder).path) == ["link"])
  }

  @Test func saysWhatCannotBeWritten() throws {
    let folder = try #require(folder).path
    for (path, errno) in [(folder, EISDIR), (folder + "/nosuch/a", ENOENT), ("/proc/self/stat/a", ENOTDIR)] {
      let error = #expect(throws: SystemError.self) { try ReplacedFile.write("x", to: path) }
      #expect(error?.errno == errno && error.map { "\($0)".contains(path) } == true, "\(path)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
  }
}
