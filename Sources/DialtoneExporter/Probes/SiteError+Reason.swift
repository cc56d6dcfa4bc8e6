// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
package import DialtoneSites

extension SiteError {
  /// Why no connection could be made, if the system says so in one of its usual words (errno(3)).
  package var connectionReason: String? {
    guard code == .cannotConnect else { return nil }
    switch errno {
    case ECONNREFUSED: return "connection-refused"
    case EHOSTUNREACH: return "host-unreachable"
    case ENETUNREACH: return "network-unreachable"
    case ETIMEDOUT: return "timed-out"
    case EACCES, EPERM: return "prohibited"
    default: return nil
    }
  }
}
