// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

extension SiteVerdict: DeterminableState {
  /// Whether a check has come to it, or there is no path to check over.
  public var isDetermined: Bool { kind != .undetermined }
}

extension SiteGroup.Summary: DeterminableState {}
