// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import CDialtoneSystem
import Testing

/// The text of a file of this package, by its path in the repository. For tests that compare code with documentation.
func sourceText(_ path: String, file: StaticString = #filePath) throws -> String {
  // This file is Tests/DialtoneTests/Support/sourceText.swift.
  let root = "\(file)".split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
  let stream = try unsafe #require(fopen("\(root)/\(path)", "r"), "\(path) cannot be read")
  defer { unsafe fclose(stream) }
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 65536)
  while case let count = unsafe fread(&buffer, 1, buffer.count, stream), count > 0 { bytes += buffer[..<count] }
  return String(decoding: bytes, as: UTF8.self)
}
