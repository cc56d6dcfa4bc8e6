// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// What the rules come to.
enum Conclusion: Hashable, Sendable {
  /// What was asked for succeeded, and nothing contradicts.
  case works(Success)
  /// This is the nearest cause.
  case wrong(Charge, Ground)
  /// No cause was found.
  case unknown(Unknown)

  /// Why a cause is the nearest.
  struct Ground: Hashable, Sendable {
    /// The reading that names it.
    let reading: Reading
    /// A family that does not work beside one that does; `nil` if that is not the matter.
    var brokenFamily: IPAddress.Family?
    /// The reading of a family that does not work either.
    var beside: Reading?
    /// What was asked for, if it succeeded in spite of it.
    var success: Success?
  }

  /// Why no cause was found.
  enum Unknown: Hashable, Sendable {
    case nothingFound
    case timeIsUp(DiagnosisStep.Kind)
    /// Nobody beyond the router was asked, or nobody answered, and that alone tells nothing.
    case beyondUnknown(wasAsked: Bool)
    /// Something is odd, and no cause follows from it.
    case doubt(Reading)
    /// Nothing is wrong on the way, and what was asked for was not tried.
    case untried
  }
}
