// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import NIOSSL

/// A directory of certificates as openssl-rehash(1) leaves it: each under the hash of its subject and a number, `5ad8a5d6.0`.
enum CertificateDirectory {
  /// The files of certificates in it; none where it is not there.
  static func files(in path: String) -> [String] { names(in: path).filter(isHashed).map { "\(path)/\($0)" } }

  /// All certificates in it that can be read.
  static func certificates(in path: String) -> [NIOSSLCertificate] {
    files(in: path).flatMap { file in
      do {
        return try CertificateFile.certificates(in: file)
      } catch {
        // openssl passes over such files, too.
        return []
      }
    }
  }

  private static func names(in path: String) -> [String] {
    // The directory is open until it is closed below; an entry is valid until the next is read, and its name is copied.
    guard let directory = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      names.append(name)
    }
    return names.sorted()
  }

  private static func isHashed(_ name: String) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 2 && parts[0].count == 8 && parts[0].allSatisfy(\.isHexDigit) && !parts[1].isEmpty
      && parts[1].utf8.allSatisfy { (0x30...0x39).contains($0) }
  }
}
