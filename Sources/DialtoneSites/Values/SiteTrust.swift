// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Who may vouch for a site's certificate.
///
/// The first check reads the files, each of at most 16 MiB, and later checks read them again if they have changed. Only
/// regular files are read: a pipe or a device is an error (``SiteError`` with the code `trustUnreadable`). The time for
/// it is part of the check's.
public struct SiteTrust: Hashable, Sendable {
  package enum Storage: Hashable, Sendable {
    case system
    case file(String)
    case pem(String)
  }

  package let storage: Storage

  private init(_ storage: Storage) { self.storage = storage }

  /// The system's certificate authorities. If the environment names a file in `SSL_CERT_FILE` or directories in
  /// `SSL_CERT_DIR` (separated by colons, hashed as openssl-rehash(1) does), those count instead.
  public static let system = SiteTrust(.system)

  /// The certificates in the PEM file at this path, and no others.
  public static func file(_ path: String) -> SiteTrust { SiteTrust(.file(path)) }

  /// The certificates in this PEM text, and no others.
  public static func pem(_ text: String) -> SiteTrust { SiteTrust(.pem(text)) }
}
