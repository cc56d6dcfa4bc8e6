// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A version of this library: three numbers, as in Semantic Versioning 2.0.0.
///
/// ```swift
/// print("Dialtone \(DialtoneVersion.current)")  // "Dialtone 0.1.0"
/// if DialtoneVersion.current >= DialtoneVersion(major: 1, minor: 0) { … }
/// ```
public struct DialtoneVersion: Hashable, Sendable, BitwiseCopyable {
  /// The version of the library that your program runs with.
  public static let current = DialtoneVersion(major: 0, minor: 1, patch: 0)

  /// Grows if an interface is removed or changed. While it is 0, a change of ``minor`` may do so, too.
  public let major: Int
  /// Grows if something is added.
  public let minor: Int
  /// Grows if something is corrected.
  public let patch: Int

  /// Creates a version from its numbers.
  public init(major: Int, minor: Int = 0, patch: Int = 0) {
    self.major = major
    self.minor = minor
    self.patch = patch
  }
}

extension DialtoneVersion: Comparable {
  /// Returns whether `a` came before `b`: by ``major``, then ``minor``, then ``patch``.
  public static func < (a: DialtoneVersion, b: DialtoneVersion) -> Bool {
    (a.major, a.minor, a.patch) < (b.major, b.minor, b.patch)
  }
}

extension DialtoneVersion: CustomStringConvertible {
  /// The numbers with full stops between them, such as "0.1.0".
  public var description: String { "\(major).\(minor).\(patch)" }
}
