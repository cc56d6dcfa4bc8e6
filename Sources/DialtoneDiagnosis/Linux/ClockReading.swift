// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone

extension SiteFinding.Clock {
  /// Files that a running system changes often: the last time is one at which the clock was looked at.
  private static let files = [
    "/var/lib/systemd/timesync/clock", "/var/lib/NetworkManager/timestamps", "/var/log/wtmp", "/var/log/lastlog",
    "/var/lib/dpkg/status", "/var/lib/rpm", "/etc/ld.so.cache", "/etc/resolv.conf", "/etc/hosts", "/etc/passwd",
  ]

  /// What is known now.
  static func read(_ time: TimeSource = .system) -> SiteFinding.Clock {
    // A path becomes a C string for the call.
    let changes = files.map { unsafe Int64(csystem_changed($0)) }
    let kept = csystem_clock_is_kept()
    let last = changes.max() ?? 0
    return SiteFinding.Clock(
      now: time.realtime() / 1_000_000_000, isKept: kept < 0 ? nil : kept == 1, lastChange: last > 0 ? last : nil)
  }
}
#endif
