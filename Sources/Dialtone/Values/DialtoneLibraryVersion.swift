// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Not DialtoneVersion: the compiler leaves names that begin with it out of the documentation, since it takes them for
// those that Clang makes for a framework.

/// A version of this library: three numbers, as in Semantic Versioning 2.0.0.
///
/// ```swift
/// print("Dialtone \(DialtoneLibraryVersion.current)")  // "Dialtone 0.1.0"
/// if DialtoneLibraryVersion.current.major >= 1 { print("stable") }
/// ```
public struct DialtoneLibraryVersion: Hashable, Sendable, BitwiseCopyable {
  /// The version of the library that your program runs with.
  public static let current = DialtoneLibraryVersion(major: 0, minor: 1, patch: 0)

  /// Grows if an interface is removed or changed. While it is 0, a change of ``minor`` may do so, too.
  public let major: Int
  /// Grows if something is added.
  public let minor: Int
  /// Grows if something is corrected.
  public let patch: Int
}

extension DialtoneLibraryVersion: CustomStringConvertible {
  /// The numbers with full stops between them, such as "0.1.0".
  public var description: String { "\(major).\(minor).\(patch)" }
}
