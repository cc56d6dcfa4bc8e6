// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The text of a file of this package, by its path in the repository. For tests that compare code with documentation.
package func sourceText(_ path: String) throws -> String {
  // This file is Tests/TestSupport/sourceText.swift.
  let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
  guard let stream = unsafe fopen("\(root)/\(path)", "r") else { throw DidNotHappen("\(path) cannot be read") }
  defer { unsafe fclose(stream) }
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 65536)
  while case let count = unsafe fread(&buffer, 1, buffer.count, stream), count > 0 { bytes += buffer[..<count] }
  return String(decoding: bytes, as: UTF8.self)
}

/// How many constants of their own type a type declares, such as `static let timedOut = Code("timed-out", …)`.
package func constantCount(of type: String, in path: String) throws -> Int {
  try sourceText(path).split(separator: "\n").count { line in
    line.contains("public static let ") && (line.contains(" = \(type)(\"") || line.hasSuffix(" = \(type)("))
  }
}
