// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

extension SiteGroup {
  /// What is known of all sites of a group.
  public struct Summary: Hashable, Sendable {
    /// The newest verdict on each site, in the order they were given; `undetermined` if none has been found.
    public let verdicts: [SiteVerdict]

    /// How many sites have to be available.
    public let quorum: Int

    /// Makes a summary, for your own tests.
    ///
    /// - Parameters:
    ///   - verdicts: The verdict on each site.
    ///   - quorum: How many sites have to be available. A number that a group could not have becomes the nearest one
    ///     that it could have: from 1 to the number of sites.
    public init(_ verdicts: [SiteVerdict], quorum: Int) {
      self.verdicts = verdicts
      self.quorum = max(1, min(quorum, verdicts.count))
    }

    /// How many sites are available.
    public var availableCount: Int { verdicts.count { $0.isAvailable } }

    /// Whether enough sites are available.
    public var isOnline: Bool { availableCount >= quorum }

    /// Whether the answer is known: the sites of which nothing is known yet could not change it.
    public var isDetermined: Bool { isOnline || availableCount + verdicts.count { $0.kind == .undetermined } < quorum }
  }
}

extension SiteGroup.Summary: CustomStringConvertible {
  /// Such as "online: 2 of 3 sites are available, and 2 are enough".
  public var description: String {
    let word = isOnline ? "online" : isDetermined ? "offline" : "undetermined"
    return "\(word): \(availableCount) of \(verdicts.count) sites are available, and \(quorum) are enough"
  }
}

extension SiteGroup.Summary: MonitoredState {
  package var isKnown: Bool { isDetermined }

  /// Returns whether a receiver that got one of the two summaries does not get the other one after it: the quorum is
  /// equal, and the verdicts are the same state.
  ///
  /// - Parameter other: The summary to compare with.
  /// - Returns: Whether what it compares is equal.
  public func isSameState(as other: Self) -> Bool {
    quorum == other.quorum && verdicts.elementsEqual(other.verdicts) { $0.isSameState(as: $1) }
  }

  package func isIdentical(to other: Self) -> Bool {
    quorum == other.quorum && verdicts.elementsEqual(other.verdicts) { $0.isIdentical(to: $1) }
  }
}

extension SiteGroup.Summary: DeterminableState {}
