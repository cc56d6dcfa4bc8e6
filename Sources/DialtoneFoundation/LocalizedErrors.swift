// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone
public import Foundation

extension ReachabilityError: LocalizedError {
  /// Its `message`, for `localizedDescription`. It is in English.
  public var errorDescription: String? { description }
}

extension PathGate.Unavailable: LocalizedError {
  /// Its `description`, for `localizedDescription`. It is in English.
  public var errorDescription: String? { description }
}
