// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Who may vouch for a site's certificate.
///
/// Files are read by the first check and again once they have changed, each of 16 MiB at most. Only regular files are:
/// a pipe or a device is an error (``SiteError`` with the code `trustUnreadable`). The time that it takes is a part of
/// the check's.
public struct SiteTrust: Hashable, Sendable {
  package enum Storage: Hashable, Sendable {
    case system
    case file(String)
    case pem(String)
  }

  package let storage: Storage

  private init(_ storage: Storage) { self.storage = storage }

  /// The system's certificate authorities; or those in the file `SSL_CERT_FILE` and the directories `SSL_CERT_DIR`
  /// (parted by colons, hashed as openssl-rehash(1) does) where the environment names any.
  public static let system = SiteTrust(.system)

  /// The certificates in the PEM file at this path, and no others.
  public static func file(_ path: String) -> SiteTrust { SiteTrust(.file(path)) }

  /// The certificates in this PEM text, and no others.
  public static func pem(_ text: String) -> SiteTrust { SiteTrust(.pem(text)) }
}
