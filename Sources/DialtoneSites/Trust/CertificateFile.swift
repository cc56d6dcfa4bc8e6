// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
internal import Dialtone
internal import NIOSSL

/// A file of certificates in PEM. It must be a regular file of a usual size, because a pipe or a device may never end.
enum CertificateFile {
  /// Far more than all authorities there are.
  private static let limit = 16 << 20

  /// Why a file cannot be used, in words.
  struct Failure: Error {
    let words: String
  }

  static func certificates(in path: String) throws -> [NIOSSLCertificate] { try certificates(of: bytes(at: path)) }

  /// The certificates in PEM text, at least one.
  static func certificates(of bytes: [UInt8]) throws(Failure) -> [NIOSSLCertificate] {
    if bytes.isEmpty { throw Failure(words: "it is empty") }
    do {
      return try NIOSSLCertificate.fromPEMBytes(wrapped(bytes))
    } catch {
      throw Failure(words: fault(in: bytes))
    }
  }

  /// The text without byte order marks, and in lines of 64 bytes (RFC 7468, 2). The TLS library reads 253 bytes at a
  /// time, and a mark hides what follows it. Others read such texts.
  private static func wrapped(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    var column = 0
    for byte in bytes where ![0xEF, 0xBB, 0xBF].contains(byte) {
      // Spaces at the end of a line make no line of their own.
      if column >= 64, byte > 0x20 {
        text.append(UInt8(ascii: "\n"))
        column = 0
      }
      text.append(byte)
      column = byte == UInt8(ascii: "\n") ? 0 : column + 1
    }
    return text
  }

  /// Which certificate makes a text unreadable. As for openssl, one is enough.
  private static func fault(in bytes: [UInt8]) -> String {
    let broken = blocks(of: bytes).firstIndex { !isReadable($0) }
    return broken.map { "certificate number \($0 + 1) in it is broken" } ?? "there is no certificate in PEM"
  }

  /// The certificates of a text as they are written. Keys and revocation lists may stand between.
  fileprivate static func blocks(of bytes: [UInt8]) -> [[UInt8]] {
    let mark = Array("-----BEGIN ".utf8)
    var rest = bytes[...]
    var blocks: [[UInt8]] = []
    while let start = rest.firstRange(of: mark) {
      let end = rest[start.upperBound...].firstRange(of: mark)?.lowerBound ?? rest.endIndex
      let label = String(decoding: rest[start.upperBound..<end].prefix { $0 != UInt8(ascii: "-") }, as: UTF8.self)
      if ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"].contains(label) {
        blocks.append(Array(rest[start.lowerBound..<end]))
      }
      rest = rest[end...]
    }
    return blocks
  }

  fileprivate static func isReadable(_ block: [UInt8]) -> Bool {
    do {
      return try !NIOSSLCertificate.fromPEMBytes(wrapped(block)).isEmpty
    } catch {
      return false
    }
  }

  private static func bytes(at path: String) throws(Failure) -> [UInt8] {
    do throws(SystemFile.Failure) {
      return try SystemFile.bytes(at: path, limit: limit)
    } catch {
      switch error {
      case .refused(let error): throw Failure(words: SiteError.text(errno: error.errno))
      case .irregular: throw Failure(words: "it is no regular file")
      case .tooLong: throw Failure(words: "it is longer than \(limit) bytes")
      }
    }
  }
}

extension SiteTrust {
  /// The certificates of a PEM text that can be read, at least one: what Go's `AppendCertsFromPEM` takes.
  package static func readable(_ text: String) throws(SiteError) -> SiteTrust {
    let bytes = Array(text.utf8)
    do throws(CertificateFile.Failure) {
      _ = try CertificateFile.certificates(of: bytes)
      return .pem(text)
    } catch {
      let blocks = CertificateFile.blocks(of: bytes).filter(CertificateFile.isReadable)
      if blocks.isEmpty { throw SiteError(.trustUnreadable, error.words) }
      return .pem(String(decoding: blocks.joined(), as: UTF8.self))
    }
  }
}

/// A directory of certificates as openssl-rehash(1) leaves it: each under the hash of its subject and a number,
/// `5ad8a5d6.0`.
enum CertificateDirectory {
  /// The files of certificates in it; none if it does not exist.
  static func files(in path: String) -> [String] { names(in: path).filter(isHashed).map { "\(path)/\($0)" } }

  /// All certificates in it that can be read.
  static func certificates(in path: String) -> [NIOSSLCertificate] {
    files(in: path).flatMap { file in
      do {
        return try CertificateFile.certificates(in: file)
      } catch {
        // openssl skips such files, too.
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
    return parts.count == 2 && parts[0].count == 8 && parts[0].utf8.allSatisfy(ASCII.isHexDigit) && !parts[1].isEmpty
      && parts[1].utf8.allSatisfy(ASCII.isDigit)
  }
}
