// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What was wrong with an argument, why a wait ended, or that the path was lost.
public struct ReachabilityError: Error, Hashable, Sendable {
  /// What kind of error it is. More may come: a `switch` over them needs a `default`.
  public struct Code: Hashable, Sendable {
    /// A short text that never changes, for files and other programs, such as `timed-out`.
    public let identifier: String
    fileprivate let words: String

    private init(_ identifier: String, _ words: String) { (self.identifier, self.words) = (identifier, words) }

    /// The text is neither a host name, nor an IP address, nor a URL with a host.
    public static let invalidHost = Code("invalid-host", "invalid host")
    /// The text looks like an IP address but is none, or the address lacks a zone, or cannot have the one given.
    public static let invalidAddress = Code("invalid-address", "invalid address")
    /// The timeout passed before the wait was over.
    public static let timedOut = Code("timed-out", "timed out")
    /// The system denies access to the network's state, so that a wait might never end. A state says the same with the
    /// reason ``Reachability/Reason-swift.struct/denied``.
    public static let denied = Code("denied", "denied")
    /// The work failed, and the path to its target was lost; ``ReachabilityError/underlyingError`` is what the work
    /// threw.
    public static let pathLost = Code("path-lost", "path lost")

    static let all: [Code] = [invalidHost, invalidAddress, timedOut, denied, pathLost]

    /// The code with this ``identifier``, or `nil` if there is none.
    public init?(identifier: some StringProtocol) {
      guard let code = Self.all.first(where: { $0.identifier == identifier }) else { return nil }
      self = code
    }
  }

  /// What kind of error it is.
  public let code: Code

  /// What is wrong and what to do about it, for a person.
  public let message: String

  /// What the work threw when the path was lost; `nil` in all other errors.
  public let underlyingError: (any Error)?

  /// Creates an error, for tests and for functions of your own that wait as Dialtone's do.
  ///
  /// - Parameters:
  ///   - code: What kind of error it is.
  ///   - message: What is wrong and what to do about it, for a person.
  ///   - underlyingError: What the work threw; kept only with the code `pathLost`.
  public init(_ code: Code, _ message: String, underlyingError: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.underlyingError = code == .pathLost ? underlyingError : nil
  }

  /// Returns whether the codes are the same. The words and the underlying error do not count.
  public static func == (a: ReachabilityError, b: ReachabilityError) -> Bool { a.code == b.code }

  /// Feeds the code.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension ReachabilityError.Code: CustomStringConvertible {
  /// The code in words, such as "timed out".
  public var description: String { words }
}

extension ReachabilityError: CustomStringConvertible {
  /// The ``message``.
  public var description: String { message }
}
