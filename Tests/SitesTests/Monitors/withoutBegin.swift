// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

@testable import DialtoneSites

extension [SiteMonitorStateMachine.Action] {
  /// The same, without the time at which a site began to fail.
  var withoutBegin: Self {
    map { action in
      guard case .report(var verdict) = action else { return action }
      verdict.failingSince = nil
      return .report(verdict)
    }
  }
}
