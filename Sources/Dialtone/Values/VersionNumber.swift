// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The version of this library, such as "0.1.0"; `Dialtone.version` where a name of your own is in the way.
///
/// Versions are those of Semantic Versioning 2.0.0. To compare, take ``versionNumber``.
public let version = versionNumber.description

/// The version of this library as a value that can be compared.
public let versionNumber = VersionNumber(major: 0, minor: 1, patch: 0)

/// A version of this library: three numbers, as in Semantic Versioning 2.0.0.
///
/// ```swift
/// if Dialtone.versionNumber >= VersionNumber(major: 1, minor: 0) { … }
/// ```
public struct VersionNumber: Hashable, Sendable, BitwiseCopyable {
  /// Changes where an interface is taken away or altered; while it is 0, ``minor`` may do so, too.
  public let major: Int
  /// Changes where something is added.
  public let minor: Int
  /// Changes where something is mended.
  public let patch: Int

  /// The version of these numbers.
  public init(major: Int, minor: Int = 0, patch: Int = 0) {
    self.major = major
    self.minor = minor
    self.patch = patch
  }
}

extension VersionNumber: Comparable {
  /// Whether `a` came before `b`: by ``major``, then ``minor``, then ``patch``.
  public static func < (a: VersionNumber, b: VersionNumber) -> Bool {
    (a.major, a.minor, a.patch) < (b.major, b.minor, b.patch)
  }
}

extension VersionNumber: CustomStringConvertible {
  /// The version as it is written: "0.1.0".
  public var description: String { "\(major).\(minor).\(patch)" }
}
