// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
package import DialtoneSites

extension SiteError {
  /// Why no connection could be made, if the system says so in one of its usual words (errno(3)).
  package var connectionReason: String? { code == .cannotConnect ? errno.flatMap { Self.reasons[$0] } : nil }

  private static let reasons: [CInt: String] = [
    ECONNREFUSED: "connection-refused", EHOSTUNREACH: "host-unreachable", ENETUNREACH: "network-unreachable",
    ETIMEDOUT: "timed-out", EACCES: "prohibited", EPERM: "prohibited",
  ]
}
